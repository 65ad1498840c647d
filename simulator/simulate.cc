#include "simulator/simulate.h"

#include <algorithm>

#include "compiler/base/status_macros.h"
#include "simulator/gradient_sync.h"
#include "simulator/plan_costs.h"
#include "simulator/timeline.h"

namespace sail::sim {

absl::StatusOr<ir::Report> Simulate(const ir::Problem& problem, const ir::Plan& plan, Recording* recording) {
  const StageCosts stage_costs(problem);
  SAIL_RETURN_IF_ERROR(stage_costs.CheckProfile(plan));
  const PlanCosts costs(stage_costs, plan);
  std::vector<Bucket> buckets =
      GradientBuckets(problem.model, ReducedBytesPerElement(problem.job, plan.optimizer_sharding),
                      ir::GradientGroups(problem.model, plan, costs.placement));
  if (problem.job.trainer.overlap_gradients) std::reverse(buckets.begin(), buckets.end());
  std::vector<AllReduce> reductions;
  Traffic traffic = BoundaryTraffic(costs, plan);
  for (const Bucket& bucket : buckets) {
    reductions.push_back(AllReduceOver(costs.network, bucket.owners));
    AddAllReduceTraffic(costs.network, reductions.back(), static_cast<double>(bucket.bytes.value()), traffic);
  }
  const PlanTimes times = PlayTimeline({plan, costs, problem.job.trainer, buckets, reductions, recording});
  return MakeReport(stage_costs, plan, costs, times, traffic);
}

}  // namespace sail::sim
