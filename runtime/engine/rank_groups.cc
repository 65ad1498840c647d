#include "runtime/engine/rank_groups.h"

#include <algorithm>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/base/status_macros.h"

namespace sail::rt {

absl::StatusOr<RankGroups> RankGroups::Connect(const ir::Placement& placement, const std::vector<sim::Bucket>& buckets,
                                               ir::Rank rank, const ConnectGroup& connect) {
  RankGroups result;
  const auto add = [&](const std::vector<ir::Rank>& members) {
    if (members.size() > 1 && std::binary_search(members.begin(), members.end(), rank)) result.groups_[members];
  };
  for (int i = 0; i < placement.rank_count(); ++i) result.all_.push_back(ir::Rank(i));
  add(result.all_);
  const ir::RankPlace& place = placement.place(rank);
  add(placement.tensor_group(place.pipeline, place.stage));
  for (const sim::Bucket& bucket : buckets) add(bucket.owners);

  for (auto& [members, group] : result.groups_) {
    SAIL_ASSIGN_OR_RETURN(group, connect(members, rank));
  }
  return result;
}

Communicator* RankGroups::Find(const std::vector<ir::Rank>& members) const {
  if (members.size() == 1) return nullptr;
  const auto it = groups_.find(members);
  SAIL_CHECK(it != groups_.end()) << "no group of " << RankList(members);
  return it->second.get();
}

}  // namespace sail::rt
