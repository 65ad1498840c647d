// The search. Deterministic: the budget counts work, never seconds.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/problem.h"
#include "planner/plan_outcome.h"
#include "simulator/cost_model.h"

namespace sail::planner {

struct PlannerOptions {
  // GPUs judged in one search: judging a plan costs as many as it uses. Beside them so many teams of drafts (draft.h).
  int64_t work_budget = 150'000;
  // Of the certificate (bound.h); 0: none is made.
  int64_t bound_work = 15'000'000;
  // Nodes that the plan must use at least, by pool; empty: none. A wish (wish.h), not a limit of the job.
  std::vector<int> least_nodes;
};

// The best plan found in the plan space (docs/planner.md) under `costs`. Every plan has passed ir::VerifyPlan; a search
// result that does not is a bug of ours (SAIL_CHECK). Errors only for a broken problem.
absl::StatusOr<PlanOutcome> FindPlan(const ir::Problem& problem, const sim::CostModel& costs,
                                     const PlannerOptions& options);

}  // namespace sail::planner
