// A cost model of hand-picked numbers: time and memory by layer and pool, nothing shared, nothing synchronised.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "compiler/base/check.h"
#include "simulator/cost_model.h"
#include "simulator/outline.h"
#include "tests/support/builders.h"

namespace sail::test {

// Judges outlines by expanding them, in a cluster that never lacks a node.
class ExpandingEstimator : public sim::OutlineEstimator {
 public:
  ExpandingEstimator(const ir::Problem& problem, const sim::CostModel& costs) : problem_(problem), costs_(costs) {
    for (ir::Pool& pool : problem_.cluster.pools) pool.quota = 1000;
  }

  sim::Estimate JudgeWithin(const sim::PlanOutline& outline, double /*most_seconds*/) override {
    const absl::StatusOr<ir::Plan> plan = sim::Expand(outline, problem_);
    SAIL_CHECK(plan.ok()) << plan.status().ToString();
    const absl::StatusOr<ir::Report> report = costs_.Evaluate(*plan);
    SAIL_CHECK(report.ok()) << report.status().ToString();
    sim::Estimate estimate{.iteration = report->iteration.value(),
                           .peak_memory = report->peak_memory,
                           .nodes = report->nodes,
                           .gpus = report->gpus,
                           .cost_rate = ir::Value(*report, ir::Metric::kCostRate),
                           .cost_per_iteration = report->cost_per_iteration.value()};
    for (const ir::StageReport& stage : report->stages) {
      const auto limit = static_cast<double>(stage.memory_limit.value());
      estimate.memory_excess += std::max(0.0, static_cast<double>(stage.memory_total.value()) / limit - 1);
    }
    for (const ir::PoolCost& pool : report->pools) estimate.pools.push_back({.pool = pool.pool, .nodes = pool.nodes});
    return estimate;
  }
  double SyncAtLeast(const sim::StageShape& /*stage*/, int /*replicas*/) override { return 0; }

 private:
  ir::Problem problem_;
  const sim::CostModel& costs_;
};

// One layer on pool p takes seconds[p] · micro-batch / tensor; a stage needs
// layers · (1 + in flight · micro-batch) / tensor bytes of limit[p]; a boundary costs `crossing`, nothing inside a
// node. Full recomputation doubles the time and leaves nothing in flight; the 1 is divided by the optimizer's shards.
// An iteration ends with its slowest pipeline (classic form).
class FakeCostModel : public sim::CostModel {
 public:
  FakeCostModel(const ir::Problem& problem, std::vector<double> seconds, std::vector<int64_t> limit, double crossing)
      : problem_(problem), seconds_(std::move(seconds)), limit_(std::move(limit)), crossing_(crossing) {}

  Seconds StageTime(const sim::StageShape& stage) const override {
    const int layers = stage.last_layer - stage.first_layer + 1;
    const int passes = stage.recompute == ir::Recompute::kFull ? 2 : 1;
    return Seconds(passes * layers * seconds_[stage.pool.index()] * stage.micro_batch / stage.tensor);
  }
  Bytes StageMemory(const sim::StageShape& stage, int in_flight) const override {
    const int layers = stage.last_layer - stage.first_layer + 1;
    const int stashed = stage.recompute == ir::Recompute::kFull ? 0 : in_flight * stage.micro_batch;
    return Bytes((layers / stage.optimizer_shards + layers * stashed) / stage.tensor);
  }
  Bytes MemoryLimit(ir::PoolId pool) const override { return Bytes(limit_[pool.index()]); }
  Seconds BoundaryTime(ir::PoolId, ir::PoolId, int, int, int, bool same_node) const override {
    return Seconds(same_node ? 0 : crossing_);
  }
  Seconds OptimizerTime(const sim::StageShape&) const override { return Seconds(0); }
  sim::PipelineForm form() const override { return sim::PipelineForm::kClassic; }
  Seconds ForwardTime(const sim::StageShape&) const override { return Seconds(0); }
  Seconds SendTime(ir::PoolId, ir::PoolId, int, int, int) const override { return Seconds(0); }
  std::unique_ptr<sim::OutlineEstimator> MakeEstimator() const override {
    return std::make_unique<ExpandingEstimator>(problem_, *this);
  }
  std::unique_ptr<sim::CostModel> Reordered(const ir::Problem& problem,
                                            const std::vector<ir::PoolId>& pools) const override {
    std::vector<double> seconds;
    std::vector<int64_t> limit;
    for (const ir::PoolId pool : pools) {
      seconds.push_back(seconds_[pool.index()]);
      limit.push_back(limit_[pool.index()]);
    }
    return std::make_unique<FakeCostModel>(problem, std::move(seconds), std::move(limit), crossing_);
  }

  absl::StatusOr<ir::Report> Evaluate(const ir::Plan& plan) const override {
    const bool is_sharded = plan.optimizer_sharding == ir::OptimizerSharding::kZero1;
    const int shards = is_sharded ? static_cast<int>(plan.pipelines.size()) : 1;
    ir::Report report;
    std::vector<std::pair<ir::PoolId, int>> nodes;
    for (int p = 0; p < static_cast<int>(plan.pipelines.size()); ++p) {
      const ir::Pipeline& pipeline = plan.pipelines[p];
      const int depth = static_cast<int>(pipeline.stages.size());
      double sum = 0, bottleneck = 0;
      for (int s = 0; s < depth; ++s) {
        const ir::TensorGroup& group = pipeline.stages[s].group;
        const sim::StageShape shape{.first_layer = pipeline.stages[s].first_layer,
                                    .last_layer = pipeline.stages[s].last_layer,
                                    .pool = group.pool,
                                    .tensor = group.degree(),
                                    .micro_batch = pipeline.micro_batch,
                                    .recompute = pipeline.stages[s].recompute,
                                    .optimizer_shards = shards};
        double period = StageTime(shape).value();
        if (s + 1 < depth) {
          const ir::TensorGroup& next = pipeline.stages[s + 1].group;
          period += next.pool == group.pool && next.node == group.node ? 0 : crossing_;
        }
        sum += period;
        bottleneck = std::max(bottleneck, period);
        const Bytes memory = StageMemory(shape, std::min(pipeline.micro_batches, depth - s));
        report.stages.push_back({.pipeline = p,
                                 .stage = s,
                                 .memory = {{.what = "all", .bytes = memory}},
                                 .memory_total = memory,
                                 .memory_limit = MemoryLimit(group.pool)});
        report.gpus += group.degree();
        nodes.push_back({group.pool, group.node});
        const ir::Gpu& gpu = problem_.cluster.gpu(group.pool);
        report.peak_memory =
            std::max(report.peak_memory, static_cast<double>(memory.value()) / static_cast<double>(gpu.memory.value()));
      }
      report.iteration = std::max(report.iteration, Seconds(sum + (pipeline.micro_batches - 1) * bottleneck));
    }
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    report.nodes = static_cast<int>(nodes.size());
    for (const auto& [pool, node] : nodes) {
      if (report.pools.empty() || report.pools.back().pool != pool) report.pools.push_back({.pool = pool});
      ++report.pools.back().nodes;
      const Usd cost = problem_.cluster.pool(pool).price * report.iteration;
      report.pools.back().per_iteration += cost;
      report.cost_per_iteration += cost;
    }
    report.samples_per_second = static_cast<double>(problem_.job.global_batch) / report.iteration.value();
    for (const ir::Constraint& constraint : problem_.job.constraints) {
      report.constraints.push_back(
          {.name = constraint.name, .value = ir::Value(report, constraint.metric), .limit = constraint.limit});
    }
    return report;
  }

 private:
  const ir::Problem& problem_;
  const std::vector<double> seconds_;  // by pool
  const std::vector<int64_t> limit_;   // bytes, by pool
  const double crossing_;
};

// One pool per entry: `nodes` nodes of `gpus_per_node` GPUs at `price` USD/h, all in one zone. `layers` equal layers.
struct FakePool {
  int nodes = 1;
  int gpus_per_node = 1;
  double price = 1;
};
inline ir::Problem FakeProblem(int layers, const std::vector<FakePool>& pools, int64_t global_batch) {
  ir::Problem problem{.job = TinyJob(), .model = TinyModel(), .cluster = {}, .profile = {}};
  problem.model.blocks = layers - 2;
  problem.job.global_batch = global_batch;
  problem.job.micro_batches = {1};
  problem.job.tensor_degrees = {1};
  ir::Cluster& cluster = problem.cluster;
  cluster.regions = {"r"};
  cluster.zones = {{.name = "z", .region = ir::RegionId(0)}};
  cluster.links = {{{.bandwidth = BytesPerSecond(1e9)}}};
  for (int p = 0; p < static_cast<int>(pools.size()); ++p) {
    const std::string letter(1, static_cast<char>('a' + p));
    cluster.gpus.push_back(CpuGpu("gpu_" + letter, 1));
    cluster.machines.push_back({.name = "machine_" + letter,
                                .gpu = ir::GpuId(p),
                                .gpus_per_node = pools[p].gpus_per_node,
                                .intra_node = BytesPerSecond(1e9),
                                .nic = std::nullopt});
    cluster.pools.push_back({.name = letter,
                             .zone = ir::ZoneId(0),
                             .machine = ir::MachineId(p),
                             .market = ir::Market::kOnDemand,
                             .quota = pools[p].nodes,
                             .price = UsdPerHour(pools[p].price),
                             .mean_lifetime = std::nullopt});
  }
  return problem;
}

}  // namespace sail::test
