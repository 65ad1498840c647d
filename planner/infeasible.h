// Why there is no plan: which limits are in conflict, and how close each comes.
//
// Deletion filter (Chinneck & Dravnieks 1991): limits are dropped one after the other, those for good without which the
// problem is still infeasible; what remains is a conflict in which every limit takes part. Order: quotas, memory,
// `keep`, then constraints as written, so that what the user can change most easily is named. A dropped constraint or
// `keep` is absent, dropped memory is unlimited, dropped quotas are kQuotaFactor times as many nodes.
// For each constraint of the conflict the best value with the others of the conflict kept is one more search, and the
// best with every limit of the job kept another.
#pragma once

#include "absl/status/statusor.h"
#include "planner/judge.h"
#include "planner/plan_outcome.h"

namespace sail::planner {

inline constexpr int kQuotaFactor = 4;

// Whether some plan keeps every limit of the job. The search ends at the first that does; its budget is that of
// PlannerOptions.
absl::StatusOr<bool> HasPlan(const ir::Problem& problem, const sim::CostModel& costs);

// `candidates` were judged before. `work` is the budget of each search.
absl::StatusOr<Infeasible> ExplainInfeasible(const ir::Problem& problem, const sim::CostModel& costs,
                                             const SearchScope& scope, int64_t work, int64_t candidates);

}  // namespace sail::planner
