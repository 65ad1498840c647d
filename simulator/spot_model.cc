#include "simulator/spot_model.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "simulator/memory_model.h"

namespace sail::sim {

Seconds CheckpointInterval(Seconds checkpoint, Seconds mtbf) {
  return Seconds(std::sqrt(2 * checkpoint.value() * mtbf.value()));
}

double Goodput(Seconds interval, Seconds checkpoint, Seconds restart, Seconds mtbf) {
  return interval / mtbf / (std::exp(restart / mtbf) * std::expm1((interval + checkpoint) / mtbf));
}

double CheckpointBytes(const ir::Problem& problem, int first_layer, int last_layer, int tensor) {
  const int64_t state = std::max(ir::BytesPerElement(problem.job.precision), 4);
  const int64_t parameters = tensor * ParametersOfStage(problem.model, first_layer, last_layer, tensor, tensor);
  return static_cast<double>(parameters * 3 * state);
}

double FailuresPerSecond(const ir::Pool& pool, int nodes) {
  return pool.market == ir::Market::kSpot && pool.mean_lifetime ? nodes / pool.mean_lifetime->value() : 0;
}

ir::SpotForecast Forecast(double failures_per_second, double fullest_node) {
  ir::SpotForecast spot;
  spot.mean_time_between_failures = Seconds(1 / failures_per_second);
  spot.checkpoint = Seconds(fullest_node / kCheckpointBandwidth.value());
  spot.checkpoint_interval = CheckpointInterval(spot.checkpoint, spot.mean_time_between_failures);
  spot.goodput = Goodput(spot.checkpoint_interval, spot.checkpoint, kReconfiguration, spot.mean_time_between_failures);
  return spot;
}

void AddSpot(const ir::Problem& problem, const ir::Plan& plan, ir::Report& report) {
  double failures = 0;  // per second
  for (const ir::PoolCost& used : report.pools) {
    failures += FailuresPerSecond(problem.cluster.pool(used.pool), used.nodes);
  }
  if (failures == 0) return;
  double fullest = 0;
  for (const ir::Pipeline& pipeline : plan.pipelines) {
    std::map<std::pair<ir::PoolId, int>, double> bytes;  // by node: its stages write one after the other
    for (const ir::Stage& stage : pipeline.stages) {
      double& node = bytes[{stage.group.pool, stage.group.node}];
      node += CheckpointBytes(problem, stage.first_layer, stage.last_layer, stage.group.degree());
      fullest = std::max(fullest, node);
    }
  }
  report.spot = Forecast(failures, fullest);
  report.spot->cost_per_iteration = report.cost_per_iteration / report.spot->goodput;
}

}  // namespace sail::sim
