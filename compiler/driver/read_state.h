// Reading the state of a running job, as `sailc replan PLAN --now STATE.json` takes it:
//
//   {
//     "format": "1.0",
//     "kind": "sailstate",
//     "pools": {"fast": {"nodes": 7, "lost": [5]}},
//     "next_change_s": 3600
//   }
//
//   pools          by the names of the plan's pools; those left out are as they were
//   nodes          that the pool has now, new ones included; default: those before less the lost ones
//   lost           numbers, as the plan names its nodes, of those that are gone; default: none
//   next_change_s  when nodes are expected to change again, where no spot pool says it; optional
#pragma once

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "compiler/base/file_system.h"
#include "compiler/base/units.h"
#include "compiler/ir/cluster.h"
#include "planner/membership.h"

namespace sail::driver {

struct RunState {
  planner::Membership membership;
  std::optional<Seconds> next_change;
};

inline constexpr int kMaxPoolNodes = 1'000'000;

// InvalidArgument naming the field: anything else than the above, a pool that the plan does not have, more than
// kMaxPoolNodes nodes, a time below a millisecond or above 1e9 s.
absl::StatusOr<RunState> ReadState(const std::string& path, const FileSystem& files, const ir::Cluster& cluster);

}  // namespace sail::driver
