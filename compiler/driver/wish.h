// A wish about a plan, as `sailc explain PLAN --why-not WISH` reads it:
//
//   wish := term ("and" term)*
//   term := "pool" NAME ("used" | "not" "used" | (">=" | "<=") COUNT ["node" | "nodes"])
//         | ("tensor" | "pipeline" | "micro") "=" NUMBER                        of every stage, of every pipeline
//         | ("recompute" | "optimizer_sharding") "=" WORD                       the same
//
// Words are separated by blanks; a name with blanks stands in double quotes.
#pragma once

#include "absl/status/statusor.h"
#include "compiler/ir/problem.h"
#include "planner/planner.h"

namespace sail::driver {

// The problem whose plans are those of the first one that fulfil the wish.
struct WishedProblem {
  ir::Problem problem;
  planner::PlannerOptions options{.bound_work = 0};
};

// InvalidArgument with the words that are not understood, or the candidates when the job has no such one.
absl::StatusOr<WishedProblem> ApplyWish(absl::string_view wish, const ir::Problem& problem);

}  // namespace sail::driver
