// Small problems that several test programs share. Numbers are round so that expectations can be derived by hand.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/ir/plan.h"
#include "compiler/ir/problem.h"
#include "simulator/profiles.h"

namespace sail::test {

// Four blocks of a GPT with tied head: 6 layers (embedding 0, blocks 1..4, head 5). Vocabulary 37 is padded at tensor
// degree 2 and 4.
inline ir::Model TinyModel() {
  return {.name = "tiny",
          .family = ir::ModelFamily::kGpt,
          .blocks = 4,
          .hidden = 32,
          .heads = 4,
          .feed_forward = 128,
          .seq_len = 16,
          .vocab = 37,
          .embedding_width = 32,
          .position_rows = 16,
          .tied_head = true,
          .qkv_bias = true,
          .activation = ir::Activation::kGelu,
          .norm = ir::NormPlacement::kPre};
}

// Two blocks of a llama, h 8, four heads of 4 (attention 16 wide, wider than hidden) on two key-value heads (8 wide), f
// 12, s 8, v 10, head not tied; layers 0..3.
inline ir::Model TinyLlama() {
  return {.name = "tiny_llama",
          .family = ir::ModelFamily::kLlama,
          .blocks = 2,
          .hidden = 8,
          .heads = 4,
          .kv_heads = 2,
          .head_dim = 4,
          .feed_forward = 12,
          .seq_len = 8,
          .vocab = 10,
          .embedding_width = 8,
          .position_rows = 0,
          .tied_head = false,
          .qkv_bias = false,
          .activation = ir::Activation::kSilu};
}

// A CPU stand-in: `gflops` peak in fp32, 2 GiB of memory, 10 GB/s.
inline ir::Gpu CpuGpu(std::string name, double gflops) {
  return {.name = std::move(name),
          .backend = ir::Backend::kCpu,
          .memory = Bytes(int64_t{2} << 30),
          .usable_memory = 1.0,
          .peak_fp32 = FlopsPerSecond(gflops * 1e9),
          .peak_fp16 = std::nullopt,
          .peak_bf16 = std::nullopt,
          .memory_bandwidth = BytesPerSecond(10e9)};
}

// Pool 0 "fast" (zone "a", 2 nodes of 4 gpus at 20 GFLOP/s, 4 USD/h) and pool 1 "slow" (zone "b", 2 nodes of 2 gpus at
// 10 GFLOP/s, 1 USD/h). Inside a node 8 GB/s, inside a zone 1 GB/s and 10 us, between the zones 100 MB/s, 1 ms and
// 0.01 USD/GB; all shared per node.
inline ir::Cluster TinyCluster() {
  ir::Cluster cluster;
  cluster.name = "tiny";
  cluster.gpus = {CpuGpu("fast_cpu", 20), CpuGpu("slow_cpu", 10)};
  cluster.machines = {{.name = "fast_machine",
                       .gpu = ir::GpuId(0),
                       .gpus_per_node = 4,
                       .intra_node = BytesPerSecond(8e9),
                       .nic = std::nullopt},
                      {.name = "slow_machine",
                       .gpu = ir::GpuId(1),
                       .gpus_per_node = 2,
                       .intra_node = BytesPerSecond(8e9),
                       .nic = std::nullopt}};
  cluster.regions = {"r"};
  cluster.zones = {{.name = "a", .region = ir::RegionId(0)}, {.name = "b", .region = ir::RegionId(0)}};
  cluster.pools = {{.name = "fast",
                    .zone = ir::ZoneId(0),
                    .machine = ir::MachineId(0),
                    .market = ir::Market::kOnDemand,
                    .quota = 2,
                    .price = UsdPerHour(4),
                    .mean_lifetime = std::nullopt},
                   {.name = "slow",
                    .zone = ir::ZoneId(1),
                    .machine = ir::MachineId(1),
                    .market = ir::Market::kOnDemand,
                    .quota = 2,
                    .price = UsdPerHour(1),
                    .mean_lifetime = std::nullopt}};
  const ir::Link within{.bandwidth = BytesPerSecond(1e9), .latency = Seconds(10e-6)};
  const ir::Link across{.bandwidth = BytesPerSecond(100e6), .latency = Seconds(1e-3), .egress = UsdPerByte(0.01e-9)};
  cluster.links = {{within, across}, {across, within}};
  return cluster;
}

inline ir::Job TinyJob() {
  ir::Job job;
  job.name = "tiny";
  job.global_batch = 8;
  job.micro_batches = {1, 2, 4};
  job.tensor_degrees = {1, 2, 4};
  job.pipeline_depths = {1, 2, 3, 4};
  job.precision = ir::Precision::kFp32;
  job.steps = 20;
  job.objective = {{.metric = ir::Metric::kThroughput, .maximize = true}};
  return job;
}

// The three together, with a profile derived from the datasheets.
inline ir::Problem TinyProblem() {
  ir::Problem problem{.job = TinyJob(), .model = TinyModel(), .cluster = TinyCluster(), .profile = {}};
  const absl::Status status = sim::CompleteProfile(problem);
  SAIL_CHECK(status.ok()) << status.ToString();
  return problem;
}

// A stage over layers first..last on the given gpus of a node.
inline ir::Stage MakeStage(int first, int last, int pool, int node, std::vector<int> gpus) {
  return {.first_layer = first,
          .last_layer = last,
          .group = {.pool = ir::PoolId(pool), .node = node, .gpus = std::move(gpus)},
          .recompute = ir::Recompute::kNone};
}

// Plan of TinyProblem: two pipelines, the first of two stages on the two fast nodes, the second of one stage on a slow
// node; 6 + 2 samples.
inline ir::Plan TinyPlan() {
  ir::Plan plan;
  plan.pipelines = {
      {.micro_batch = 2, .micro_batches = 3, .stages = {MakeStage(0, 2, 0, 0, {0, 1}), MakeStage(3, 5, 0, 1, {0, 1})}},
      {.micro_batch = 1, .micro_batches = 2, .stages = {MakeStage(0, 5, 1, 0, {0})}}};
  return plan;
}

}  // namespace sail::test
