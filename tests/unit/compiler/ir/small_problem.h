// A problem and a sound plan small enough to check by hand: 4 blocks (6 layers), two pools, three pipelines' worth of
// GPUs.
#pragma once

#include "compiler/ir/plan.h"
#include "compiler/ir/problem.h"
#include "compiler/ir/report.h"

namespace sail::ir {

inline Problem SmallProblem() {
  Problem problem;
  problem.model = {.name = "small",
                   .blocks = 4,
                   .hidden = 16,
                   .heads = 4,
                   .feed_forward = 64,
                   .seq_len = 8,
                   .vocab = 37,
                   .embedding_width = 16,
                   .position_rows = 8};
  Cluster& cluster = problem.cluster;
  cluster.name = "lab";
  cluster.gpus = {{.name = "big", .backend = Backend::kCpu, .memory = Bytes(1000), .peak_fp32 = FlopsPerSecond(1e9)},
                  {.name = "little", .backend = Backend::kCpu, .memory = Bytes(500), .usable_memory = 0.5}};
  cluster.machines = {{.name = "big4", .gpu = GpuId(0), .gpus_per_node = 4, .intra_node = BytesPerSecond(1e9)},
                      {.name = "little2",
                       .gpu = GpuId(1),
                       .gpus_per_node = 2,
                       .intra_node = BytesPerSecond(1e9),
                       .nic = BytesPerSecond(1e8)}};
  cluster.regions = {"r"};
  cluster.zones = {{.name = "a", .region = RegionId(0)}, {.name = "b", .region = RegionId(0)}};
  cluster.pools = {{.name = "fast", .zone = ZoneId(0), .machine = MachineId(0), .quota = 1, .price = UsdPerHour(3.6)},
                   {.name = "slow",
                    .zone = ZoneId(1),
                    .machine = MachineId(1),
                    .market = Market::kSpot,
                    .quota = 2,
                    .price = UsdPerHour(0.1),
                    .mean_lifetime = Seconds(7200)}};
  const Link link{.bandwidth = BytesPerSecond(1e8), .latency = Seconds(1e-4), .egress = UsdPerByte(1e-11)};
  cluster.links = {{link, link}, {link, link}};
  problem.job = {.name = "train",
                 .global_batch = 10,
                 .micro_batches = {1, 2},
                 .tensor_degrees = {1, 2, 4},
                 .pipeline_depths = {1, 2, 3},
                 .optimizer = {},
                 .steps = 5,
                 .data = Data{.text = {"a.txt"}},
                 .seed = 7,
                 .objective = {{.metric = Metric::kThroughput, .maximize = true}},
                 .constraints = {{.name = "price", .metric = Metric::kCostRate, .at_most = true, .limit = 1},
                                 {.name = "speed", .metric = Metric::kThroughput, .at_most = false, .limit = 0.1}}};
  problem.profile.Set({.kind = LayerKind::kHead, .gpu = GpuId(1), .tensor = 2, .micro_batch = 1},
                      {.forward = Seconds(0.5),
                       .backward = Seconds(1),
                       .optimizer = Seconds(0.1),
                       .provenance = Provenance::kMeasured});
  return problem;
}

// p0: fast, two stages of degree 2, 4 x 2 samples.  p1: slow node 0, one stage of degree 1, 2 x 1 samples.
inline Plan SmallPlan() {
  Plan plan;
  plan.pipelines = {
      {.micro_batch = 2,
       .micro_batches = 4,
       .stages = {{.first_layer = 0, .last_layer = 2, .group = {.pool = PoolId(0), .node = 0, .gpus = {0, 1}}},
                  {.first_layer = 3, .last_layer = 5, .group = {.pool = PoolId(0), .node = 0, .gpus = {2, 3}}}}},
      {.micro_batch = 1,
       .micro_batches = 2,
       .stages = {{.first_layer = 0, .last_layer = 5, .group = {.pool = PoolId(1), .node = 0, .gpus = {0}}}}}};
  return plan;
}

// A report that fits SmallPlan and every limit of SmallProblem.
inline Report SmallReport() {
  Report report;
  report.iteration = Seconds(2);
  for (const auto& [pipeline, stage] : {std::pair(0, 0), {0, 1}, {1, 0}}) {
    report.stages.push_back({.pipeline = pipeline,
                             .stage = stage,
                             .busy = Seconds(1),
                             .idle = Seconds(1),
                             .memory = {{.what = "parameters", .bytes = Bytes(100)}},
                             .memory_total = Bytes(100)});
  }
  report.pools = {{.pool = PoolId(0), .nodes = 1, .per_iteration = Usd(0.002)},
                  {.pool = PoolId(1), .nodes = 1, .per_iteration = Usd(0.0001)}};
  report.nodes = 2;
  report.gpus = 5;
  report.constraints = {{.name = "price"}, {.name = "speed"}};
  return report;
}

}  // namespace sail::ir
