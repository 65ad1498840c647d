#include "planner/planner.h"

#include "compiler/base/check.h"
#include "compiler/base/status_macros.h"
#include "compiler/ir/verify_plan.h"
#include "planner/bound.h"
#include "planner/infeasible.h"
#include "planner/search.h"

namespace sail::planner {

absl::StatusOr<PlanOutcome> FindPlan(const ir::Problem& problem, const sim::CostModel& costs,
                                     const PlannerOptions& options) {
  SearchScope scope = ScopeOf(problem);
  scope.least_nodes = options.least_nodes;
  SAIL_ASSIGN_OR_RETURN(SearchResult result, Search(problem, costs, scope, options.work_budget));
  if (!result.best || result.best->violation > 0) {
    SAIL_ASSIGN_OR_RETURN(Infeasible infeasible,
                          ExplainInfeasible(problem, costs, scope, options.work_budget, result.candidates));
    return PlanOutcome(std::move(infeasible));
  }
  const absl::Status verified = ir::VerifyPlan(problem, result.best->plan, result.best->report);
  SAIL_CHECK(verified.ok()) << verified.ToString();
  std::vector<RunnerUp> runners_up = result.good.Others(result.best->plan, problem.job.objective);
  std::optional<Certificate> certificate;
  if (options.bound_work > 0) certificate = Bound(problem, costs, scope, result.best->report, options.bound_work);
  return PlanOutcome(Feasible{.plan = std::move(result.best->plan),
                              .report = std::move(result.best->report),
                              .candidates = result.candidates,
                              .runners_up = std::move(runners_up),
                              .certificate = certificate});
}

}  // namespace sail::planner
