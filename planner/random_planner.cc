#include "planner/random_planner.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace sail::planner {
namespace {

template <class T>
const T& Pick(const std::vector<T>& values, Rng& rng) {
  return values[rng.Below(static_cast<int64_t>(values.size()))];
}

// Leaves the generator alone where there is nothing to choose.
template <class T>
T PickIfSeveral(const std::vector<T>& values, Rng& rng) {
  return values.size() > 1 ? Pick(values, rng) : values.front();
}

class PlanDrawer {
 public:
  PlanDrawer(const ir::Problem& problem, Rng& rng) : problem_(problem), rng_(rng) {
    // A plan has one backend: that of a pool drawn.
    const auto& pools = problem.cluster.pools;
    const auto drawn = static_cast<int>(rng.Below(static_cast<int64_t>(pools.size())));
    const ir::Backend backend = problem.cluster.gpu(ir::PoolId(drawn)).backend;
    for (int p = 0; p < static_cast<int>(pools.size()); ++p) {
      if (problem.cluster.gpu(ir::PoolId(p)).backend != backend) continue;
      for (int node = 0; node < pools[p].quota; ++node) nodes_.push_back({ir::PoolId(p), node, 0});
    }
  }

  std::optional<ir::Plan> Draw() {
    ir::Plan plan{.optimizer_sharding = PickIfSeveral(problem_.job.optimizer_shardings, rng_), .pipelines = {}};
    const int64_t wanted = 1 + rng_.Below(4);
    for (int64_t i = 0; i < wanted; ++i) {
      std::optional<ir::Pipeline> pipeline = DrawPipeline();
      if (pipeline) plan.pipelines.push_back(*std::move(pipeline));
    }
    if (!DrawShares(plan)) return std::nullopt;
    ir::Canonicalize(plan);
    return plan;
  }

 private:
  struct Node {
    ir::PoolId pool;
    int index;
    int used;  // GPUs
  };

  std::optional<ir::Pipeline> DrawPipeline() {
    const int layers = problem_.model.layer_count();
    const int depth = Pick(problem_.job.pipeline_depths, rng_);
    if (depth > layers) return std::nullopt;
    std::vector<int> ends;  // last layers: a random subset of 0..layers-2, and the last
    for (int layer = 0; layer + 1 < layers; ++layer) {
      const int left = layers - 1 - layer;
      if (rng_.Below(left) < depth - 1 - static_cast<int64_t>(ends.size())) ends.push_back(layer);
    }
    ends.push_back(layers - 1);
    ir::Pipeline pipeline{.micro_batch = Pick(problem_.job.micro_batches, rng_), .stages = {}};
    int first = 0;
    for (const int end : ends) {
      std::optional<ir::TensorGroup> group = DrawGroup();
      if (!group) return std::nullopt;
      pipeline.stages.push_back({.first_layer = first,
                                 .last_layer = end,
                                 .group = *std::move(group),
                                 .recompute = PickIfSeveral(problem_.job.recomputes, rng_)});
      first = end + 1;
    }
    return pipeline;
  }

  std::optional<ir::TensorGroup> DrawGroup() {
    const int tensor = Pick(problem_.job.tensor_degrees, rng_);
    if (!ir::CanDivide(problem_.model, tensor)) return std::nullopt;
    std::vector<Node*> fitting;
    for (Node& node : nodes_) {
      if (node.used + tensor <= problem_.cluster.machine(node.pool).gpus_per_node) fitting.push_back(&node);
    }
    if (fitting.empty()) return std::nullopt;
    Node& node = *Pick(fitting, rng_);
    ir::TensorGroup group{.pool = node.pool, .node = node.index, .gpus = {}};
    for (int i = 0; i < tensor; ++i) group.gpus.push_back(node.used++);
    return group;
  }

  // One micro-batch each, then more at random while they fit; the last ones by whichever size divides the rest.
  bool DrawShares(ir::Plan& plan) {
    int64_t left = problem_.job.global_batch;
    for (ir::Pipeline& pipeline : plan.pipelines) {
      pipeline.micro_batches = 1;
      left -= pipeline.micro_batch;
    }
    while (left > 0) {
      std::vector<ir::Pipeline*> fitting;
      for (ir::Pipeline& pipeline : plan.pipelines) {
        if (pipeline.micro_batch <= left) fitting.push_back(&pipeline);
      }
      if (fitting.empty()) return false;
      ir::Pipeline& pipeline = *Pick(fitting, rng_);
      ++pipeline.micro_batches;
      left -= pipeline.micro_batch;
    }
    return left == 0 && !plan.pipelines.empty();
  }

  const ir::Problem& problem_;
  Rng& rng_;
  std::vector<Node> nodes_;
};

}  // namespace

std::optional<ir::Plan> DrawPlan(const ir::Problem& problem, Rng& rng, int attempts) {
  for (int attempt = 0; attempt < attempts; ++attempt) {
    std::optional<ir::Plan> plan = PlanDrawer(problem, rng).Draw();
    if (plan) return plan;
  }
  return std::nullopt;
}

}  // namespace sail::planner
