#include "simulator/simulate.h"

#include "compiler/base/status_macros.h"
#include "simulator/gradient_sync.h"
#include "simulator/plan_costs.h"
#include "simulator/timeline.h"

namespace sail::sim {

absl::StatusOr<ir::Report> Simulate(const ir::Problem& problem, const ir::Plan& plan, Recording* recording) {
  const StageCosts stage_costs(problem);
  SAIL_RETURN_IF_ERROR(stage_costs.CheckProfile(plan));
  const PlanCosts costs(stage_costs, plan);
  const GradientSync sync = ComputeGradientSync(problem, plan, costs.placement, costs.network);
  Traffic traffic = BoundaryTraffic(costs, plan);
  for (const OwnerSet& set : sync.sets) AddAllReduceTraffic(costs.network, set.shape, set.bytes, traffic);
  const PlanTimes times = PlayTimeline({plan, costs, problem.job.trainer, sync, recording});
  return MakeReport(stage_costs, plan, costs, times, traffic);
}

}  // namespace sail::sim
