#include "compiler/driver/answer.h"

#include <algorithm>

#include "compiler/base/status_macros.h"
#include "simulator/sail_cost_model.h"
#include "simulator/simulate.h"

namespace sail::driver {

bool Holds(const ir::Report& report) {
  return std::all_of(report.constraints.begin(), report.constraints.end(),
                     [](const ir::ConstraintReport& constraint) { return constraint.holds; });
}

absl::StatusOr<Answer> FindAnswer(const ir::Problem& problem, const planner::PlannerOptions& options) {
  Answer answer;
  SAIL_ASSIGN_OR_RETURN(answer.outcome, planner::FindPlan(problem, *sim::MakeSailCostModel(problem), options));
  const auto* found = std::get_if<planner::Feasible>(&answer.outcome);
  if (found == nullptr) return answer;
  SAIL_ASSIGN_OR_RETURN(answer.timeline, sim::Simulate(problem, found->plan));
  if (Holds(answer.timeline)) return answer;
  planner::PlannerOptions by_timeline = options;
  by_timeline.work_budget = std::min(options.work_budget, kTimelineWork);
  SAIL_ASSIGN_OR_RETURN(answer.outcome, planner::FindPlan(problem, *sim::MakeTimelineCostModel(problem), by_timeline));
  found = std::get_if<planner::Feasible>(&answer.outcome);
  if (found != nullptr) answer.timeline = found->report;
  return answer;
}

}  // namespace sail::driver
