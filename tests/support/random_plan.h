// Random sound plans over a problem, for properties. Same seed, same plan.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "compiler/base/rng.h"
#include "compiler/ir/plan.h"
#include "compiler/ir/problem.h"

namespace sail::test {

// Draws one to four pipelines of candidates of the job, as long as GPUs are left, and sets the job's global batch to
// what they hold. Tensor groups lie anywhere; a node may serve several stages.
inline ir::Plan RandomPlan(ir::Problem& problem, Rng& rng) {
  struct Node {
    int pool;
    int node;
    std::vector<int> free;
  };
  std::vector<Node> nodes;
  const ir::Cluster& cluster = problem.cluster;
  for (int p = 0; p < static_cast<int>(cluster.pools.size()); ++p) {
    for (int n = 0; n < cluster.pools[p].quota; ++n) {
      Node node{.pool = p, .node = n, .free = {}};
      for (int g = 0; g < cluster.machine(ir::PoolId(p)).gpus_per_node; ++g) node.free.push_back(g);
      nodes.push_back(node);
    }
  }
  const auto pick = [&](const std::vector<int>& candidates) {
    return candidates[rng.Below(static_cast<int64_t>(candidates.size()))];
  };
  // A random node with `degree` free GPUs gives them; degree 1 is the last resort, then nothing.
  const auto take = [&](int degree) {
    for (; degree >= 1; degree /= 2) {
      std::vector<int> fitting;
      for (int n = 0; n < static_cast<int>(nodes.size()); ++n) {
        if (static_cast<int>(nodes[n].free.size()) >= degree) fitting.push_back(n);
      }
      if (fitting.empty()) continue;
      Node& node = nodes[pick(fitting)];
      ir::TensorGroup group{.pool = ir::PoolId(node.pool), .node = node.node, .gpus = {}};
      group.gpus.assign(node.free.begin(), node.free.begin() + degree);
      node.free.erase(node.free.begin(), node.free.begin() + degree);
      return group;
    }
    return ir::TensorGroup{};
  };

  ir::Plan plan;
  const int layers = problem.model.layer_count();
  const int wanted = static_cast<int>(rng.Below(4)) + 1;
  problem.job.global_batch = 0;
  for (int p = 0; p < wanted; ++p) {
    const int depth = std::min(pick(problem.job.pipeline_depths), layers);
    std::vector<int> cuts;  // first layers of the stages but the first
    while (static_cast<int>(cuts.size()) < depth - 1) {
      const int cut = 1 + static_cast<int>(rng.Below(layers - 1));
      if (std::find(cuts.begin(), cuts.end(), cut) == cuts.end()) cuts.push_back(cut);
    }
    std::sort(cuts.begin(), cuts.end());
    cuts.push_back(layers);
    ir::Pipeline pipeline{.micro_batch = pick(problem.job.micro_batches),
                          .micro_batches = 1 + static_cast<int>(rng.Below(6)),
                          .stages = {}};
    int first = 0;
    bool is_placed = true;
    for (const int end : cuts) {
      ir::TensorGroup group = take(pick(problem.job.tensor_degrees));
      is_placed = is_placed && group.degree() > 0;
      pipeline.stages.push_back({.first_layer = first, .last_layer = end - 1, .group = std::move(group)});
      first = end;
    }
    if (!is_placed) break;
    problem.job.global_batch += pipeline.samples();
    plan.pipelines.push_back(std::move(pipeline));
  }
  ir::Canonicalize(plan);
  return plan;
}

}  // namespace sail::test
