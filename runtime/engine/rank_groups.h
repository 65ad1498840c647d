// The communicators of one rank.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/placement.h"
#include "runtime/comm/communicator.h"
#include "simulator/schedule.h"

namespace sail::rt {

class RankGroups {
 public:
  // Connects every group that `rank` belongs to: all ranks, its tensor group, the owners of its buckets. Equal sets of
  // ranks are one group. All ranks connect in the order of the member lists, so none waits in a circle.
  static absl::StatusOr<RankGroups> Connect(const ir::Placement& placement, const std::vector<sim::Bucket>& buckets,
                                            ir::Rank rank, const ConnectGroup& connect);

  // The group of exactly these ranks, among them this one; null for one rank alone.
  Communicator* Find(const std::vector<ir::Rank>& members) const;
  Communicator* all() const { return Find(all_); }

 private:
  std::vector<ir::Rank> all_;
  std::map<std::vector<ir::Rank>, std::unique_ptr<Communicator>> groups_;
};

}  // namespace sail::rt
