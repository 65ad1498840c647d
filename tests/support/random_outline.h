// Random outlines over a problem, for properties. Same seed, same outline.
#pragma once

#include <algorithm>
#include <set>
#include <vector>

#include "compiler/base/rng.h"
#include "compiler/ir/problem.h"
#include "simulator/outline.h"

namespace sail::test {

// One to three classes of up to `most_replicas` pipelines of candidates of the job, whose global batch is set to what
// they hold; quotas are raised to what they need.
inline sim::PlanOutline RandomOutline(ir::Problem& problem, int most_replicas, Rng& rng) {
  const auto pick = [&](const auto& values) { return values[rng.Below(static_cast<int64_t>(values.size()))]; };
  ir::Cluster& cluster = problem.cluster;
  const int layers = problem.model.layer_count();
  sim::PlanOutline outline;
  outline.sharding = rng.Below(2) == 0 ? ir::OptimizerSharding::kZero1 : ir::OptimizerSharding::kNone;
  outline.classes.resize(1 + rng.Below(3));
  problem.job.global_batch = 0;
  for (sim::PipelineClass& of : outline.classes) {
    of.count = 1 + static_cast<int>(rng.Below(most_replicas));
    of.micro_batch = pick(problem.job.micro_batches);
    of.micro_batches = 1 + static_cast<int>(rng.Below(rng.Below(4) == 0 ? 60 : 6));
    problem.job.global_batch += static_cast<int64_t>(of.count) * of.micro_batch * of.micro_batches;
    std::set<int> ends = {layers};
    const int depth = std::min(pick(problem.job.pipeline_depths), layers);
    while (static_cast<int>(ends.size()) < depth) ends.insert(1 + static_cast<int>(rng.Below(layers - 1)));
    int first = 0;
    int width = 0;  // GPUs of the group so far
    size_t group = 0;
    for (const int end : ends) {
      const bool joins = !of.stages.empty() && of.stages.back().next_on_node;
      sim::StageOutline stage{.first_layer = first, .last_layer = end - 1};
      first = end;
      if (!joins) {
        group = of.stages.size();
        width = 0;
      }
      stage.pool = joins ? of.stages.back().pool : ir::PoolId(static_cast<int>(rng.Below(cluster.pools.size())));
      const int gpus = cluster.machine(stage.pool).gpus_per_node;
      stage.tensor = pick(problem.job.tensor_degrees);
      while (stage.tensor > gpus - width) stage.tensor /= 2;
      width += stage.tensor;
      stage.recompute = static_cast<ir::Recompute>(rng.Below(3));
      stage.next_on_node = end < layers && width + problem.job.tensor_degrees.front() <= gpus && rng.Below(2) == 0;
      of.stages.push_back(stage);
      if (stage.next_on_node) continue;
      const int on_node = 1 + static_cast<int>(rng.Below(gpus / width));
      for (size_t s = group; s < of.stages.size(); ++s) of.stages[s].replicas_per_node = on_node;
    }
  }
  for (ir::Pool& pool : cluster.pools) pool.quota = std::max(pool.quota, 200);
  return outline;
}

}  // namespace sail::test
