#include <algorithm>
#include <set>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "compiler/base/status_macros.h"
#include "compiler/ir/names.h"
#include "simulator/profiles.h"
#include "tests/bench/accuracy/measured_model.h"
#include "tests/bench/accuracy/sailor_runs.h"

namespace sail::bench {
namespace {

constexpr char kZone[] = "us-central1-a";  // the only one with figures of all these GPUs

template <class... Parts>
absl::Status Fault(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

using Node = sim::PublicPlan::Group;  // its kind

// Puts the groups of the run on nodes: in order of stages and replicas, each node takes groups of one kind while it has
// GPUs left. Fills result.plan and returns the nodes; a node is a pool.
absl::StatusOr<std::vector<Node>> PlaceGroups(const sim::PublicPlan& run, ir::Plan& plan) {
  SAIL_ASSIGN_OR_RETURN(const int micro_batches, sim::MicroBatchesOf(run, run.global_batch));
  plan.pipelines.assign(run.replicas(), {.micro_batch = run.micro_batch, .micro_batches = micro_batches});
  std::vector<Node> nodes;
  std::map<std::tuple<std::string, int, int>, std::pair<int, int>> open;  // kind → node, GPUs taken
  for (const sim::PublicPlan::Stage& stage : run.stages) {
    for (int d = 0; d < run.replicas(); ++d) {
      Node node = stage.replicas[d];
      if (node.gpus_per_node == 0) node.gpus_per_node = node.tensor;
      if (node.tensor > node.gpus_per_node) {
        return Fault("tensor degree ", node.tensor, " on nodes of ", node.gpus_per_node, " GPUs");
      }
      auto [it, is_new] = open.insert({{node.gpu, node.gpus_per_node, node.tensor}, {0, 0}});
      auto& [index, taken] = it->second;
      if (is_new || taken + node.tensor > node.gpus_per_node) {
        index = static_cast<int>(nodes.size());
        taken = 0;
        nodes.push_back(node);
      }
      ir::Stage& placed = plan.pipelines[d].stages.emplace_back();
      placed.first_layer = stage.first_layer;
      placed.last_layer = stage.last_layer;
      placed.group.pool = ir::PoolId(index);
      for (int t = 0; t < node.tensor; ++t) placed.group.gpus.push_back(taken + t);
      taken += node.tensor;
    }
  }
  return nodes;
}

// Between the cards of two nodes: a card of one GPU where each has its own, else one for the node. Some pairs were
// measured in one direction only.
absl::StatusOr<BytesPerSecond> CardRate(const SailorData& data, const Node& from, const Node& to, bool per_gpu) {
  const sim::LinkEnd a{from.gpu, kZone, per_gpu ? 1 : from.gpus_per_node};
  const sim::LinkEnd b{to.gpu, kZone, per_gpu ? 1 : to.gpus_per_node};
  const sim::LinkCurve* curve = data.network.Between(a, b);
  if (curve == nullptr) curve = data.network.Between(b, a);
  if (curve != nullptr) return curve->largest;
  return Fault("no bandwidth from ", a.gpus, " ", a.gpu, " to ", b.gpus, " ", b.gpu);
}

absl::StatusOr<ir::GpuId> AddGpu(const std::string& name, const Calibration& calibration, ir::Cluster& cluster) {
  for (size_t i = 0; i < cluster.gpus.size(); ++i) {
    if (cluster.gpus[i].name == sim::PublicName(name)) return ir::GpuId(static_cast<int>(i));
  }
  const auto sheet = calibration.gpus.find(name);
  if (sheet == calibration.gpus.end()) return Fault("no datasheet of gpu ", name);
  ir::Gpu gpu{.name = sim::PublicName(name),
              .memory = Bytes(static_cast<int64_t>(sheet->second.memory_bytes)),
              .memory_bandwidth = BytesPerSecond(sheet->second.memory_bytes_per_s)};
  const auto framework = calibration.constants.find(absl::StrCat("sailor.framework.", name));
  if (framework != calibration.constants.end()) {
    gpu.framework_memory = Bytes(static_cast<int64_t>(framework->second.value));
  }
  cluster.gpus.push_back(std::move(gpu));
  return ir::GpuId(static_cast<int>(cluster.gpus.size()) - 1);
}

// Pairs of nodes that send to each other: neighbours in a pipeline, and in the ring of a stage's replicas.
std::set<std::pair<int, int>> Neighbours(const ir::Plan& plan) {
  std::set<std::pair<int, int>> pairs;
  const auto add = [&](const ir::Stage& a, const ir::Stage& b) {
    const int x = a.group.pool.index();
    const int y = b.group.pool.index();
    if (x != y) pairs.insert({std::min(x, y), std::max(x, y)});
  };
  for (size_t d = 0; d < plan.pipelines.size(); ++d) {
    const ir::Pipeline& pipeline = plan.pipelines[d];
    const ir::Pipeline& next = plan.pipelines[(d + 1) % plan.pipelines.size()];
    for (size_t s = 0; s < pipeline.stages.size(); ++s) {
      add(pipeline.stages[s], next.stages[s]);
      if (s > 0) add(pipeline.stages[s - 1], pipeline.stages[s]);
    }
  }
  return pairs;
}

// Links between all nodes; a card is as fast as it gets with one of its node's neighbours.
absl::Status AddLinks(const SailorData& data, bool per_gpu, const std::vector<Node>& nodes, const ir::Plan& plan,
                      ir::Cluster& cluster) {
  const std::set<std::pair<int, int>> neighbours = Neighbours(plan);
  std::vector<double> card(nodes.size(), 0.0);
  cluster.links.assign(nodes.size(), std::vector<ir::Link>(nodes.size()));
  for (int i = 0; i < static_cast<int>(nodes.size()); ++i) {
    for (int j = 0; j < static_cast<int>(nodes.size()); ++j) {
      if (i == j) continue;
      const bool is_used = neighbours.contains({std::min(i, j), std::max(i, j)});
      const absl::StatusOr<BytesPerSecond> rate = CardRate(data, nodes[i], nodes[j], per_gpu);
      if (!rate.ok() && is_used) return rate.status();
      if (!rate.ok()) continue;
      cluster.links[i][j] = {.bandwidth = *rate, .share = per_gpu ? ir::LinkShare::kPerFlow : ir::LinkShare::kPerNode};
      if (is_used) card[i] = std::max(card[i], rate->value());
    }
    const int cards = per_gpu ? nodes[i].gpus_per_node : 1;
    if (card[i] > 0) cluster.machines[i].nic = BytesPerSecond(card[i] * cards);
  }
  return absl::OkStatus();
}

absl::StatusOr<ir::Cluster> ClusterOf(const SailorRun& run, const SailorData& data, const Calibration& calibration,
                                      const std::vector<Node>& nodes, const ir::Plan& plan) {
  ir::Cluster cluster;
  cluster.name = run.cluster;
  cluster.regions = {"r"};
  for (size_t i = 0; i < nodes.size(); ++i) {
    SAIL_ASSIGN_OR_RETURN(const ir::GpuId gpu, AddGpu(nodes[i].gpu, calibration, cluster));
    ir::Machine machine{.name = absl::StrCat("machine", i), .gpu = gpu, .gpus_per_node = nodes[i].gpus_per_node};
    if (nodes[i].tensor > 1) {
      const sim::LinkCurve* inside = data.network.Inside(nodes[i].gpu, nodes[i].tensor);
      if (inside == nullptr) return Fault("no bandwidth inside nodes for ", nodes[i].tensor, " ", nodes[i].gpu);
      machine.intra_node = inside->largest;
    }
    cluster.machines.push_back(machine);
    cluster.zones.push_back({.name = absl::StrCat("zone", i), .region = ir::RegionId(0)});
    cluster.pools.push_back({.name = absl::StrCat("node", i),
                             .zone = ir::ZoneId(static_cast<int>(i)),
                             .machine = ir::MachineId(static_cast<int>(i)),
                             .quota = 1});
  }
  SAIL_RETURN_IF_ERROR(AddLinks(data, calibration.card_per_gpu.contains(run.cluster), nodes, plan, cluster));
  return cluster;
}

// Keeps of `measured` what the plan asks for, interpolated where needed.
absl::Status CompleteCase(const ir::Profile& measured, Case& result) {
  for (const ir::Pipeline& pipeline : result.plan.pipelines) {
    for (const ir::Stage& stage : pipeline.stages) {
      for (const auto& [kind, name] : ir::kLayerKinds) {
        const ir::ProfileKey key{.kind = kind,
                                 .gpu = result.problem.cluster.gpu_id(stage.group.pool),
                                 .tensor = stage.group.degree(),
                                 .micro_batch = pipeline.micro_batch};
        if (result.problem.profile.Find(key) != nullptr) continue;
        SAIL_ASSIGN_OR_RETURN(const ir::LayerTime time, sim::MeasuredTime(measured, key, result.problem.cluster));
        result.problem.profile.Set(key, time);
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Case> BuildSailorCase(const SailorRun& run, const SailorData& data, const Calibration& calibration) {
  const auto model = data.models.find(run.model);
  if (model == data.models.end()) return Fault("no measured layers of model ", run.model);
  Case result;
  SAIL_ASSIGN_OR_RETURN(const std::vector<Node> nodes, PlaceGroups(run.plan, result.plan));
  ir::Problem& problem = result.problem;
  SAIL_ASSIGN_OR_RETURN(problem.cluster, ClusterOf(run, data, calibration, nodes, result.plan));
  std::set<int> degrees;
  for (const Node& node : nodes) degrees.insert(node.tensor);
  SAIL_ASSIGN_OR_RETURN(problem.model, ModelOf(model->second, *degrees.rbegin()));
  problem.job.name = "run";
  problem.job.global_batch = run.plan.global_batch;
  problem.job.micro_batches = {run.plan.micro_batch};
  problem.job.tensor_degrees = {degrees.begin(), degrees.end()};
  problem.job.pipeline_depths = {static_cast<int>(run.plan.stages.size())};
  problem.job.trainer = {.flat_gradients = true, .whole_boundaries = true, .paired_sends = true};
  SAIL_RETURN_IF_ERROR(
      CompleteCase(ProfileOf(model->second, problem.cluster, calibration("sailor.step_traffic")), result));
  return result;
}

}  // namespace sail::bench
