#include "simulator/outline.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "compiler/base/check.h"
#include "compiler/base/status_macros.h"
#include "simulator/spot_model.h"

namespace sail::sim {
namespace {

// Nodes of a pool are given out one after the other.
class Layout {
 public:
  explicit Layout(const ir::Problem& problem)
      : cluster_(problem.cluster), next_node_(problem.cluster.pools.size(), 0) {}

  absl::Status Add(const PipelineClass& of, const std::string& where, ir::Plan& plan) {
    if (of.count < 1 || of.stages.empty()) return Fault(where, " is empty");
    const size_t first_pipeline = plan.pipelines.size();
    ir::Pipeline pipeline{.micro_batch = of.micro_batch, .micro_batches = of.micro_batches, .stages = {}};
    for (const StageOutline& stage : of.stages) {
      pipeline.stages.push_back({.first_layer = stage.first_layer,
                                 .last_layer = stage.last_layer,
                                 .group = {},
                                 .recompute = stage.recompute});
    }
    plan.pipelines.resize(first_pipeline + of.count, pipeline);
    const int depth = static_cast<int>(of.stages.size());
    if (of.stages[depth - 1].next_on_node) return Fault(where, ": no stage follows the last");
    for (int first = 0; first < depth;) {
      const int last = GroupEnd(of, first);
      SAIL_RETURN_IF_ERROR(AddGroup(of, first, last, where, plan, first_pipeline));
      first = last + 1;
    }
    return absl::OkStatus();
  }

 private:
  template <class... Parts>
  static absl::Status Fault(const Parts&... parts) {
    return absl::InvalidArgumentError(absl::StrCat(parts...));
  }

  absl::Status AddGroup(const PipelineClass& of, int first, int last, const std::string& where, ir::Plan& plan,
                        size_t first_pipeline) {
    const StageOutline& leader = of.stages[first];
    if (leader.pool.index() < 0 || leader.pool.index() >= static_cast<int>(next_node_.size())) {
      return Fault(where, " names pool ", leader.pool.index(), ", the cluster has ", next_node_.size());
    }
    int width = 0;  // GPUs of one replica
    for (int s = first; s <= last; ++s) {
      const StageOutline& stage = of.stages[s];
      const bool is_alike = stage.pool == leader.pool && stage.replicas_per_node == leader.replicas_per_node;
      if (!is_alike || stage.tensor < 1 || stage.replicas_per_node < 1)
        return Fault(where, " stage ", s, " is malformed");
      width += stage.tensor;
    }
    const ir::Pool& pool = cluster_.pool(leader.pool);
    const int on_node = std::min(leader.replicas_per_node, of.count);
    if (width * on_node > cluster_.machine(leader.pool).gpus_per_node) {
      return Fault(where, " needs ", width * on_node, " GPUs of a node of pool ", pool.name);
    }
    const int first_node = next_node_[leader.pool.index()];
    next_node_[leader.pool.index()] += NodesOf(of, leader);
    if (next_node_[leader.pool.index()] > pool.quota) {
      return Fault("pool ", pool.name, " has ", pool.quota, " nodes, ", where, " needs more");
    }
    for (int replica = 0; replica < of.count; ++replica) {
      int gpu = replica % leader.replicas_per_node * width;
      for (int s = first; s <= last; ++s) {
        ir::TensorGroup& group = plan.pipelines[first_pipeline + replica].stages[s].group;
        group.pool = leader.pool;
        group.node = first_node + replica / leader.replicas_per_node;
        for (int t = 0; t < of.stages[s].tensor; ++t) group.gpus.push_back(gpu++);
      }
    }
    return absl::OkStatus();
  }

  const ir::Cluster& cluster_;
  std::vector<int> next_node_;  // by pool
};

}  // namespace

absl::StatusOr<ir::Plan> Expand(const PlanOutline& outline, const ir::Problem& problem) {
  ir::Plan plan{.optimizer_sharding = outline.sharding, .pipelines = {}};
  Layout layout(problem);
  for (size_t c = 0; c < outline.classes.size(); ++c) {
    SAIL_RETURN_IF_ERROR(layout.Add(outline.classes[c], absl::StrCat("class ", c), plan));
  }
  return plan;
}

void AddNodes(const PlanOutline& outline, const ir::Cluster& cluster, Estimate& estimate) {
  for (const PipelineClass& of : outline.classes) {
    const int depth = static_cast<int>(of.stages.size());
    for (const StageOutline& stage : of.stages) estimate.gpus += of.count * stage.tensor;
    for (int s = 0; s < depth; s = GroupEnd(of, s) + 1) {
      const ir::PoolId pool = of.stages[s].pool;
      auto it = std::find_if(estimate.pools.begin(), estimate.pools.end(),
                             [&](const PoolNodes& used) { return used.pool >= pool; });
      if (it == estimate.pools.end() || it->pool != pool) it = estimate.pools.insert(it, {.pool = pool});
      it->nodes += NodesOf(of, of.stages[s]);
      estimate.nodes += NodesOf(of, of.stages[s]);
    }
  }
  for (const PoolNodes& used : estimate.pools) {
    estimate.cost_rate += cluster.pool(used.pool).price.value() * used.nodes;
  }
}

void AddProgress(const PlanOutline& outline, const ir::Problem& problem, Estimate& estimate) {
  double failures = 0;  // per second
  for (const PoolNodes& used : estimate.pools) {
    failures += FailuresPerSecond(problem.cluster.pool(used.pool), used.nodes);
  }
  if (failures == 0) return;
  double fullest = 0;
  for (const PipelineClass& pipelines : outline.classes) {
    double node = 0;
    for (const StageOutline& stage : pipelines.stages) {
      node += CheckpointBytes(problem, stage.first_layer, stage.last_layer, stage.tensor);
      fullest = std::max(fullest, node);
      if (!stage.next_on_node) node = 0;
    }
  }
  estimate.progress = Forecast(failures, fullest).goodput;
}

void AddCost(const ir::Cluster& cluster, const std::vector<double>& traffic, Estimate& estimate) {
  estimate.cost_per_iteration = estimate.cost_rate * estimate.iteration;
  const size_t zones = cluster.zones.size();
  for (size_t from = 0; from < zones; ++from) {
    for (size_t to = 0; to < zones; ++to) {
      const double price = cluster.links[from][to].egress.value();
      if (price == 0) continue;
      const auto bytes = static_cast<double>(std::llround(traffic[from * zones + to]));
      estimate.cost_per_iteration += price * bytes;
      estimate.egress_bytes += bytes;
    }
  }
}

double Value(const Estimate& estimate, const ir::Problem& problem, ir::Metric metric) {
  const double samples_per_second = static_cast<double>(problem.job.global_batch) / estimate.iteration;
  switch (metric) {
    case ir::Metric::kThroughput:
      return 1 / estimate.iteration;
    case ir::Metric::kIterTime:
      return estimate.iteration;
    case ir::Metric::kSampleRate:
      return samples_per_second;
    case ir::Metric::kTokenRate:
      return samples_per_second * static_cast<double>(problem.model.seq_len);
    case ir::Metric::kCostPerIter:
      return estimate.cost_per_iteration;
    case ir::Metric::kCostRate:
      return estimate.cost_rate;
    case ir::Metric::kEgressPerIter:
      return estimate.egress_bytes;
    case ir::Metric::kPeakMemory:
      return estimate.peak_memory;
    case ir::Metric::kNodes:
      return estimate.nodes;
    case ir::Metric::kGpus:
      return estimate.gpus;
    case ir::Metric::kTotalCost:
      return estimate.cost_per_iteration * static_cast<double>(problem.job.steps);
    case ir::Metric::kJobTime:
      return estimate.iteration * static_cast<double>(problem.job.steps);
    case ir::Metric::kTokensPerUsd:
      return static_cast<double>(problem.job.global_batch * problem.model.seq_len) / estimate.cost_per_iteration;
    case ir::Metric::kGoodput:
      return estimate.progress / estimate.iteration;
    case ir::Metric::kEgressCost:
      return estimate.cost_per_iteration - estimate.cost_rate * estimate.iteration;
  }
  SAIL_CHECK(false) << "metric " << static_cast<int>(metric);
}

}  // namespace sail::sim
