// Random problems of the size of a small cluster: 24 to 200 GPUs of one to three types in one to three zones, models of
// 6 to 24 layers, usual datasheets, links and prices, and limits near what random plans reach. Same seed, same problem.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/rng.h"
#include "simulator/profiles.h"
#include "tests/support/random_problem.h"

namespace sail::test {

inline constexpr int kLeastMidsizeGpus = 24;
inline constexpr int kMostMidsizeGpus = 200;

// The fields that matter of a datasheet, and a usual price.
struct MidsizeGpu {
  const char* name;
  double memory_gib, fp16_tflops, memory_gb_per_s, intra_gb_per_s, usd_per_gpu_hour;
};

inline void AddMidsizeType(const MidsizeGpu& type, Rng& rng, ir::Cluster& cluster) {
  cluster.gpus.push_back({.name = type.name,
                          .backend = ir::Backend::kCuda,
                          .memory = Bytes(static_cast<int64_t>(type.memory_gib * (int64_t{1} << 30))),
                          .usable_memory = 0.95,
                          .peak_fp32 = std::nullopt,
                          .peak_fp16 = FlopsPerSecond(type.fp16_tflops * 1e12),
                          .peak_bf16 = std::nullopt,
                          .memory_bandwidth = BytesPerSecond(type.memory_gb_per_s * 1e9)});
  cluster.machines.push_back({.name = std::string("machine_") + type.name,
                              .gpu = ir::GpuId(static_cast<int>(cluster.gpus.size()) - 1),
                              .gpus_per_node = PickOne<int>({1, 2, 4, 4, 8}, rng),
                              .intra_node = BytesPerSecond(type.intra_gb_per_s * 1e9),
                              .nic = std::nullopt});
  if (rng.Below(2) == 0) cluster.machines.back().nic = BytesPerSecond(PickOne<double>({3e9, 12.5e9, 50e9}, rng));
}

// Links with those of every zone before it. The first two zones share a region, the third is far from both.
inline void AddMidsizeZone(Rng& rng, ir::Cluster& cluster) {
  const int zone = static_cast<int>(cluster.zones.size());
  const auto region = [](int z) { return z < 2 ? 0 : 1; };
  if (zone == 0 || zone == 2) cluster.regions.push_back("r" + std::to_string(region(zone)));
  cluster.zones.push_back({.name = "z" + std::to_string(zone), .region = ir::RegionId(region(zone))});
  cluster.links.emplace_back();
  for (int other = 0; other < zone; ++other) {
    const bool is_near = region(other) == region(zone);
    const ir::Link link{.bandwidth = BytesPerSecond(PickOne<double>({0.5e9, 1e9, 3e9}, rng)),
                        .latency = Seconds(is_near ? 0.6e-3 : 30e-3),
                        .egress = UsdPerByte(is_near ? 0.01e-9 : 0.05e-9),
                        .share = rng.Below(3) == 0 ? ir::LinkShare::kPerFlow : ir::LinkShare::kPerNode};
    cluster.links[zone].push_back(link);
    cluster.links[other].push_back(link);
  }
  cluster.links[zone].push_back(
      {.bandwidth = BytesPerSecond(PickOne<double>({2e9, 4e9, 12.5e9}, rng)), .latency = Seconds(30e-6)});
}

// One pool of each type in each zone, a few of them left out; none in the zone of no pool.
inline ir::Cluster MidsizeCluster(Rng& rng) {
  constexpr MidsizeGpu kTypes[] = {{"A100", 40, 312, 1555, 300, 3.67},
                                   {"H100", 80, 989, 3350, 450, 9.8},
                                   {"L4", 24, 121, 300, 32, 1.2},
                                   {"T4", 16, 65, 320, 16, 0.95},
                                   {"V100", 16, 125, 900, 150, 2.86}};
  ir::Cluster cluster;
  cluster.name = "midsize";
  const int types = PickOne<int>({1, 2, 2, 3}, rng), zones = PickOne<int>({1, 1, 2, 3}, rng);
  std::vector<double> prices;  // of a node, by type
  for (int t = 0, first = static_cast<int>(rng.Below(5)); t < types; ++t) {
    const MidsizeGpu& type = kTypes[(first + 2 * t) % 5];
    AddMidsizeType(type, rng, cluster);
    prices.push_back(type.usd_per_gpu_hour * cluster.machines.back().gpus_per_node);
  }
  for (int z = 0; z < zones; ++z) AddMidsizeZone(rng, cluster);
  for (int z = 0; z < zones; ++z) {
    for (int t = 0; t < types; ++t) {
      if (z > 0 && rng.Below(3) == 0) continue;
      const int nodes = std::max(1, static_cast<int>(4 + rng.Below(45)) / cluster.machines[t].gpus_per_node);
      cluster.pools.push_back({.name = "p" + std::to_string(z) + std::to_string(t),
                               .zone = ir::ZoneId(z),
                               .machine = ir::MachineId(t),
                               .market = ir::Market::kOnDemand,
                               .quota = nodes,
                               .price = UsdPerHour(prices[t] * PickOne<double>({0.4, 1, 1, 1.2}, rng)),
                               .mean_lifetime = std::nullopt});
    }
  }
  return cluster;
}

inline ir::Model MidsizeModel(Rng& rng) {
  ir::Model model{.name = "midsize", .seq_len = 1024, .vocab = 50257, .position_rows = 1024};
  model.blocks = PickOne<int>({4, 6, 10, 16, 22}, rng);
  model.hidden = PickOne<int>({768, 1024, 2048, 4096}, rng);
  model.heads = model.hidden / 64;
  model.feed_forward = 4 * model.hidden;
  model.embedding_width = model.hidden;
  model.tied_head = rng.Below(2) == 0;
  return model;
}

inline ir::Job MidsizeJob(Rng& rng) {
  using ir::Metric;
  ir::Job job;
  job.name = "midsize";
  job.global_batch = PickOne<int>({64, 100, 128, 256, 512}, rng);
  job.micro_batches = PickOne<std::vector<int>>({{1}, {1, 2}, {1, 2, 4}, {2, 8}}, rng);
  job.tensor_degrees = PickOne<std::vector<int>>({{1}, {1, 2}, {1, 2, 4}}, rng);
  for (int depth = 1; depth <= 8; ++depth) job.pipeline_depths.push_back(depth);
  job.precision = ir::Precision::kFp16;
  job.steps = 1000;
  const ir::ObjectiveTerm fast{.metric = Metric::kThroughput}, cheap{.metric = Metric::kCostPerIter, .maximize = false};
  job.objective = PickOne<std::vector<ir::ObjectiveTerm>>(
      {{fast}, {fast}, {fast, cheap}, {cheap}, {{.metric = Metric::kNodes, .maximize = false}, fast}}, rng);
  return job;
}

// Limits of time, money, nodes and egress near what random plans reach.
inline void AddMidsizeConstraints(ir::Problem& problem, Rng& rng) {
  using ir::Metric;
  const std::optional<ir::Report> report = ReportOfRandomPlan(problem, rng);
  if (!report) return;
  struct Kind {
    Metric metric;
    bool at_most;
    std::vector<double> factors;
  };
  const std::vector<Kind> kinds = {
      {Metric::kIterTime, true, {0.1, 0.3, 1}},    {Metric::kThroughput, false, {1, 3}},
      {Metric::kCostPerIter, true, {0.1, 0.3, 1}}, {Metric::kCostRate, true, {0.3, 0.6, 1}},
      {Metric::kNodes, true, {0.3, 0.6, 1}},       {Metric::kEgressPerIter, true, {0.1, 1}}};
  const int count = PickOne<int>({0, 1, 1, 1, 2}, rng);
  for (int i = 0; i < count; ++i) {
    const Kind kind = PickOne(kinds, rng);
    const double value = ir::Value(*report, kind.metric) * PickOne(kind.factors, rng);
    problem.job.constraints.push_back(
        {.name = "limit" + std::to_string(i), .metric = kind.metric, .at_most = kind.at_most, .limit = value});
  }
}

inline ir::Problem MidsizeProblem(uint64_t seed) {
  for (Rng rng(seed);;) {
    ir::Problem problem{.job = MidsizeJob(rng), .model = MidsizeModel(rng), .cluster = MidsizeCluster(rng)};
    const int gpus = GpusOf(problem.cluster);
    if (gpus < kLeastMidsizeGpus || gpus > kMostMidsizeGpus) continue;
    if (rng.Below(5) == 0) AddRandomChoices(problem, rng);
    const absl::Status status = sim::CompleteProfile(problem);
    SAIL_CHECK(status.ok()) << status.ToString();
    AddMidsizeConstraints(problem, rng);
    return problem;
  }
}

}  // namespace sail::test
