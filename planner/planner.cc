#include "planner/planner.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/base/status_macros.h"
#include "compiler/base/tolerance.h"
#include "compiler/ir/verify_plan.h"
#include "planner/bound.h"
#include "planner/canonical_order.h"
#include "planner/infeasible.h"
#include "planner/search.h"

namespace sail::planner {
namespace {

absl::StatusOr<PlanOutcome> FindInOrder(const ir::Problem& problem, const sim::CostModel& costs,
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

// But for rounding.
bool IsAsGood(const ir::Job& job, const ir::Report& a, const ir::Report& b) {
  return std::all_of(job.objective.begin(), job.objective.end(), [&](const ir::ObjectiveTerm& term) {
    const double x = ir::Value(a, term.metric), y = ir::Value(b, term.metric);
    return x == y || std::abs(x - y) <= kPredictionRelativeTolerance * std::abs(y);
  });
}

}  // namespace

absl::StatusOr<PlanOutcome> FindPlan(const ir::Problem& problem, const sim::CostModel& costs,
                                     const PlannerOptions& options) {
  const CanonicalOrder canonical(problem, costs, options.least_nodes);
  PlannerOptions in_order = options;
  in_order.least_nodes = canonical.least_nodes();
  SAIL_ASSIGN_OR_RETURN(PlanOutcome outcome, FindInOrder(canonical.problem(), canonical.costs(), in_order));
  auto* found = std::get_if<Feasible>(&outcome);
  if (canonical.is_given() || found == nullptr) return outcome;
  found->plan = canonical.Restore(std::move(found->plan));
  for (RunnerUp& other : found->runners_up) other.plan = canonical.Restore(std::move(other.plan));
  absl::StatusOr<ir::Report> report = costs.Evaluate(found->plan);
  const bool is_sound = report.ok() && IsAsGood(problem.job, *report, found->report) &&
                        ir::VerifyPlan(problem, found->plan, *report).ok();
  // The order given means something to the cost model.
  if (!is_sound) return FindInOrder(problem, costs, options);
  found->report = *std::move(report);
  return outcome;
}

}  // namespace sail::planner
