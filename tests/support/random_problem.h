// Random problems small enough for the exhaustive planner. Same seed, same problem.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/rng.h"
#include "planner/exhaustive_planner.h"
#include "planner/random_planner.h"
#include "simulator/sail_cost_model.h"
#include "tests/support/builders.h"

namespace sail::test {

template <class T>
T PickOne(const std::vector<T>& values, Rng& rng) {
  return values[rng.Below(static_cast<int64_t>(values.size()))];
}

inline ir::Cluster RandomCluster(Rng& rng, const std::vector<int>& numbers_of_types) {
  ir::Cluster cluster;
  cluster.name = "random";
  const int types = PickOne(numbers_of_types, rng);
  const int zones = PickOne<int>({1, 1, 2}, rng);
  for (int t = 0; t < types; ++t) {
    const std::string letter(1, static_cast<char>('a' + t));
    cluster.gpus.push_back(CpuGpu("gpu_" + letter, PickOne<double>({1, 2, 3, 5, 8}, rng)));
    cluster.machines.push_back({.name = "machine_" + letter,
                                .gpu = ir::GpuId(t),
                                .gpus_per_node = PickOne<int>({1, 2, 2, 3, 4}, rng),
                                .intra_node = BytesPerSecond(PickOne<double>({1e9, 4e9}, rng)),
                                .nic = std::nullopt});
    if (rng.Below(2) == 0) cluster.machines.back().nic = BytesPerSecond(PickOne<double>({50e6, 200e6, 1e9}, rng));
  }
  cluster.regions = {"r"};
  for (int z = 0; z < zones; ++z) cluster.zones.push_back({.name = z == 0 ? "za" : "zb", .region = ir::RegionId(0)});
  const int pools = std::max(types, zones);
  for (int p = 0; p < pools; ++p) {
    cluster.pools.push_back({.name = std::string("p") + static_cast<char>('a' + p),
                             .zone = ir::ZoneId(p % zones),
                             .machine = ir::MachineId(p % types),
                             .market = ir::Market::kOnDemand,
                             .quota = PickOne<int>({1, 1, 2, 2, 3, 4}, rng),
                             .price = UsdPerHour(PickOne<double>({1, 2, 3, 7}, rng)),
                             .mean_lifetime = std::nullopt});
  }
  for (int from = 0; from < zones; ++from) {
    cluster.links.emplace_back();
    for (int to = 0; to < zones; ++to) {
      const bool is_inside = from == to;
      cluster.links.back().push_back({.bandwidth = BytesPerSecond(PickOne<double>({20e6, 100e6, 500e6}, rng)),
                                      .latency = Seconds(is_inside ? 20e-6 : PickOne<double>({100e-6, 1e-3}, rng)),
                                      .egress = UsdPerByte(is_inside ? 0 : PickOne<double>({0, 1e-11, 1e-9}, rng)),
                                      .share = rng.Below(4) == 0 ? ir::LinkShare::kPerFlow : ir::LinkShare::kPerNode});
    }
  }
  return cluster;
}

inline ir::Job RandomJob(Rng& rng) {
  using ir::Metric;
  ir::Job job = TinyJob();
  job.micro_batches = PickOne<std::vector<int>>({{1}, {1, 2}, {1, 2}, {1, 2, 4}, {2, 3}}, rng);
  job.global_batch = PickOne<int>({2, 3, 4, 5, 6, 7, 8}, rng);
  job.tensor_degrees = PickOne<std::vector<int>>({{1}, {1, 2}, {1, 2}, {2}}, rng);
  job.pipeline_depths = PickOne<std::vector<int>>({{1, 2}, {1, 2, 3}, {1, 2, 3, 4}, {2, 3}}, rng);
  const ir::ObjectiveTerm fast{.metric = Metric::kThroughput, .maximize = true};
  const ir::ObjectiveTerm cheap{.metric = Metric::kCostPerIter, .maximize = false};
  const ir::ObjectiveTerm few{.metric = Metric::kNodes, .maximize = false};
  job.objective = PickOne<std::vector<ir::ObjectiveTerm>>({{fast}, {fast, cheap}, {cheap}, {few, fast}}, rng);
  return job;
}

// Recomputation and ZeRO-1 to choose from, nodes that may be taken away, and the metrics that RandomJob leaves out.
inline void AddRandomChoices(ir::Problem& problem, Rng& rng) {
  using ir::Metric;
  using ir::Recompute;
  using Sharding = ir::OptimizerSharding;
  ir::Job& job = problem.job;
  job.recomputes = PickOne<std::vector<Recompute>>({{Recompute::kNone},
                                                    {Recompute::kNone, Recompute::kFull},
                                                    {Recompute::kSelective, Recompute::kFull},
                                                    {Recompute::kNone, Recompute::kSelective}},
                                                   rng);
  job.optimizer_shardings =
      PickOne<std::vector<Sharding>>({{Sharding::kNone}, {Sharding::kNone, Sharding::kZero1}, {Sharding::kZero1}}, rng);
  for (ir::Pool& pool : problem.cluster.pools) {
    if (rng.Below(2) == 0) continue;
    pool.market = ir::Market::kSpot;
    pool.mean_lifetime = Seconds(PickOne<double>({600, 3'600, 86'400}, rng));
  }
  const ir::ObjectiveTerm fast{.metric = Metric::kThroughput};
  job.objective = PickOne<std::vector<ir::ObjectiveTerm>>({{fast},
                                                           {{.metric = Metric::kGoodput}},
                                                           {{.metric = Metric::kTokensPerUsd}, fast},
                                                           {{.metric = Metric::kTotalCost, .maximize = false}},
                                                           {{.metric = Metric::kEgressCost, .maximize = false}, fast}},
                                                          rng);
}

// What a random plan reaches; nullopt where none was drawn.
inline std::optional<ir::Report> ReportOfRandomPlan(const ir::Problem& problem, Rng& rng) {
  const std::optional<ir::Plan> plan = planner::DrawPlan(problem, rng);
  if (!plan) return std::nullopt;
  absl::StatusOr<ir::Report> report = sim::MakeSailCostModel(problem)->Evaluate(*plan);
  SAIL_CHECK(report.ok()) << report.status().ToString();
  return *std::move(report);
}

// Limits near what a random plan reaches, so that some bind and some conflict.
inline void AddRandomConstraints(ir::Problem& problem, Rng& rng) {
  using ir::Metric;
  const std::optional<ir::Report> report = ReportOfRandomPlan(problem, rng);
  if (!report) return;
  struct Kind {
    Metric metric;
    bool at_most;
  };
  const std::vector<Kind> kinds = {{Metric::kCostRate, true},     {Metric::kThroughput, false},
                                   {Metric::kPeakMemory, true},   {Metric::kIterTime, true},
                                   {Metric::kCostPerIter, true},  {Metric::kGpus, true},
                                   {Metric::kEgressPerIter, true}};
  const int count = PickOne<int>({0, 0, 1, 1, 2, 3}, rng);
  for (int i = 0; i < count; ++i) {
    const Kind kind = PickOne(kinds, rng);
    const double factor = PickOne<double>({0.6, 0.9, 1.0, 1.1, 1.5}, rng);
    ir::Constraint constraint{.name = "limit" + std::to_string(i),
                              .metric = kind.metric,
                              .at_most = kind.at_most,
                              .limit = ir::Value(*report, kind.metric) * factor};
    if (kind.metric == Metric::kPeakMemory) problem.job.memory_limit = constraint.limit;
    problem.job.constraints.push_back(constraint);
  }
}

// Memory between what the smallest stage and what the whole model needs.
inline void SetRandomMemory(ir::Problem& problem, Rng& rng) {
  const auto costs = sim::MakeSailCostModel(problem);
  for (int g = 0; g < static_cast<int>(problem.cluster.gpus.size()); ++g) {
    const sim::StageShape least{.first_layer = 1,
                                .last_layer = 1,
                                .pool = ir::PoolId(g),
                                .tensor = problem.job.tensor_degrees.back(),
                                .micro_batch = problem.job.micro_batches.front()};
    const sim::StageShape most{.first_layer = 0,
                               .last_layer = problem.model.layer_count() - 1,
                               .pool = ir::PoolId(g),
                               .tensor = problem.job.tensor_degrees.front(),
                               .micro_batch = problem.job.micro_batches.back()};
    const auto low = static_cast<double>(costs->StageMemory(least, 1).value());
    const auto high = static_cast<double>(costs->StageMemory(most, 1).value());
    const double bytes = low + (high - low) * PickOne<double>({0.2, 0.4, 0.6, 0.8, 1.0, 1.5, 3.0}, rng);
    problem.cluster.gpus[g].memory = Bytes(static_cast<int64_t>(bytes / problem.job.memory_limit));
  }
}

enum class Variety { kPlain, kChoices, kThreeTypes };

inline int GpusOf(const ir::Cluster& cluster) {
  int gpus = 0;
  for (const ir::Pool& pool : cluster.pools) {
    gpus += pool.quota * cluster.machines[pool.machine.index()].gpus_per_node;
  }
  return gpus;
}

// With at most `most_plans` plans in its whole space, and at least one.
inline ir::Problem RandomProblem(uint64_t seed, int64_t most_plans, Variety variety = Variety::kPlain) {
  constexpr int kMostGpusOfThreeTypes = 8;
  const bool has_three = variety == Variety::kThreeTypes;
  const std::vector<int> numbers_of_types = has_three ? std::vector<int>{1, 2, 3} : std::vector<int>{1, 2, 2};
  Rng rng(seed);
  for (;;) {
    ir::Problem problem{
        .job = RandomJob(rng), .model = TinyModel(), .cluster = RandomCluster(rng, numbers_of_types), .profile = {}};
    if (has_three && GpusOf(problem.cluster) > kMostGpusOfThreeTypes) continue;
    problem.model.blocks = PickOne<int>({1, 2, 2, 3, 3, 4}, rng);
    problem.model.vocab = PickOne<int>({38, 64, 256}, rng);
    problem.model.tied_head = rng.Below(2) == 0;
    if (variety == Variety::kChoices) AddRandomChoices(problem, rng);
    const int64_t plans = planner::CountPlans(problem, most_plans + 1);
    if (plans == 0 || plans > most_plans) continue;
    const absl::Status status = sim::CompleteProfile(problem);
    SAIL_CHECK(status.ok()) << status.ToString();
    SetRandomMemory(problem, rng);
    AddRandomConstraints(problem, rng);
    return problem;
  }
}

}  // namespace sail::test
