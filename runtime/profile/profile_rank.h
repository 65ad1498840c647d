// `sailrun profile-rank`: one of the processes that `sailrun profile` measures with. Prints samples (measurements.h,
// simulator/link_fit.h) on stdout, and at most one error (elastic/events.h) at the end.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "compiler/ir/problem.h"
#include "runtime/profile/layer_profiler.h"

namespace sail::rt {

struct ProfilePlan {
  ir::Problem problem;
  int ranks = 1;  // of the plan
};
// FailedPrecondition for a plan that is corrupt or unsound; InvalidArgument for a model that sailrun does not train.
absl::StatusOr<ProfilePlan> ReadProfilePlan(const std::string& path);

struct ProfileRankOptions {
  ProfileRank self;
  std::string plan;  // empty: the link is measured
  std::string gpus;
};
// Returns the exit code: 0, or 7 after an error.
int RunProfileRank(const ProfileRankOptions& options);

}  // namespace sail::rt
