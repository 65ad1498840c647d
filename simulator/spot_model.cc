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

namespace {

// Weights and moments of the stages of one pipeline, written side by side by its nodes; the stages of a node share it.
Seconds CheckpointTime(const ir::Problem& problem, const ir::Plan& plan) {
  const int64_t state = std::max(ir::BytesPerElement(problem.job.precision), 4);
  std::map<std::pair<ir::PoolId, int>, double> bytes;  // by node
  for (const ir::Stage& stage : plan.pipelines.front().stages) {
    const int degree = stage.group.degree();
    const int64_t parameters =
        degree * ParametersOfStage(problem.model, stage.first_layer, stage.last_layer, degree, degree);
    bytes[{stage.group.pool, stage.group.node}] += static_cast<double>(parameters * 3 * state);
  }
  double most = 0;
  for (const auto& [node, written] : bytes) most = std::max(most, written);
  return Seconds(most / kCheckpointBandwidth.value());
}

}  // namespace

void AddSpot(const ir::Problem& problem, const ir::Plan& plan, ir::Report& report) {
  double failures_per_second = 0;
  for (const ir::PoolCost& used : report.pools) {
    const ir::Pool& pool = problem.cluster.pool(used.pool);
    if (pool.market == ir::Market::kSpot && pool.mean_lifetime) {
      failures_per_second += used.nodes / pool.mean_lifetime->value();
    }
  }
  if (failures_per_second == 0) return;
  ir::SpotForecast spot;
  spot.mean_time_between_failures = Seconds(1 / failures_per_second);
  spot.checkpoint = CheckpointTime(problem, plan);
  spot.checkpoint_interval = CheckpointInterval(spot.checkpoint, spot.mean_time_between_failures);
  spot.goodput = Goodput(spot.checkpoint_interval, spot.checkpoint, kReconfiguration, spot.mean_time_between_failures);
  spot.cost_per_iteration = report.cost_per_iteration / spot.goodput;
  report.spot = spot;
}

}  // namespace sail::sim
