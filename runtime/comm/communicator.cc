#include "runtime/comm/communicator.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/check.h"
#include "compiler/base/status_macros.h"

namespace sail::rt {

Communicator::Communicator(std::vector<ir::Rank> members, ir::Rank self) : members_(std::move(members)) {
  SAIL_CHECK(std::is_sorted(members_.begin(), members_.end())) << RankList(members_);
  index_ = IndexOf(self);
}

int Communicator::IndexOf(ir::Rank rank) const {
  const auto it = std::lower_bound(members_.begin(), members_.end(), rank);
  SAIL_CHECK(it != members_.end() && *it == rank) << "rank " << rank.index() << " is not among " << RankList(members_);
  return static_cast<int>(it - members_.begin());
}

absl::Status Communicator::AllGather(absl::Span<const at::Tensor> parts) {
  SAIL_CHECK(parts.size() == members_.size()) << parts.size() << " parts for " << RankList(members_);
  // Broadcasts, because the parts may differ in size; a member's bytes travel no further than in an all-gather.
  for (int i = 0; i < size(); ++i) SAIL_RETURN_IF_ERROR(Broadcast(parts[i], i));
  return absl::OkStatus();
}

const absl::Status& Communicator::Keep(absl::Status status) {
  if (status_.ok()) status_ = std::move(status);
  return status_;
}

std::string RankList(absl::Span<const ir::Rank> ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (size_t i = 0; i < ranks.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : i + 1 == ranks.size() ? " and " : ", ", ranks[i].index());
  }
  return text;
}

}  // namespace sail::rt
