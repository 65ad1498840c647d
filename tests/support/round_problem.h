// A problem whose times can be added up in one's head: a block takes 1 s forward, 2 s backward and 0.5 s to step, on
// any tensor degree; embedding and head take no time. One boundary crossing of one sample takes 1 s inside a zone.
#pragma once

#include "compiler/ir/problem.h"
#include "tests/support/builders.h"

namespace sail::test {

// 4 blocks, head not tied. A sample's boundary activation is 16 · 32 · 4 = 2048 bytes.
// Pools "p" (zone a) and "q" (zone b): 4 nodes of 4 GPUs each, 3.6 and 7.2 USD/h. Inside a zone 2048 B/s without
// latency, between the zones 1024 B/s, 1 s and 0.001 USD/B, shared per node; inside a node 2048 kB/s.
inline ir::Problem RoundProblem() {
  ir::Problem problem{.job = TinyJob(), .model = TinyModel(), .cluster = TinyCluster(), .profile = {}};
  problem.model.tied_head = false;
  problem.cluster.gpus = {CpuGpu("cpu", 20)};
  problem.cluster.machines = {{.name = "machine",
                               .gpu = ir::GpuId(0),
                               .gpus_per_node = 4,
                               .intra_node = BytesPerSecond(2048e3),
                               .nic = std::nullopt}};
  problem.cluster.pools[0].name = "p";
  problem.cluster.pools[1].name = "q";
  for (ir::Pool& pool : problem.cluster.pools) {
    pool.machine = ir::MachineId(0);
    pool.quota = 4;
  }
  problem.cluster.pools[0].price = UsdPerHour(3.6);
  problem.cluster.pools[1].price = UsdPerHour(7.2);
  const ir::Link within{.bandwidth = BytesPerSecond(2048), .latency = Seconds(0)};
  const ir::Link across{.bandwidth = BytesPerSecond(1024), .latency = Seconds(1), .egress = UsdPerByte(0.001)};
  problem.cluster.links = {{within, across}, {across, within}};
  for (const int tensor : {1, 2, 4}) {
    for (const int micro_batch : {1, 2, 4}) {
      const auto set = [&](ir::LayerKind kind, double forward, double backward, double optimizer) {
        problem.profile.Set(
            {.kind = kind, .gpu = ir::GpuId(0), .tensor = tensor, .micro_batch = micro_batch},
            {.forward = Seconds(forward), .backward = Seconds(backward), .optimizer = Seconds(optimizer)});
      };
      set(ir::LayerKind::kEmbedding, 0, 0, 0);
      set(ir::LayerKind::kBlock, 1, 2, 0.5);
      set(ir::LayerKind::kHead, 0, 0, 0);
    }
  }
  return problem;
}

// The same with links so fast that nothing is felt of them.
inline ir::Problem FastLinkProblem() {
  ir::Problem problem = RoundProblem();
  for (auto& row : problem.cluster.links) {
    for (ir::Link& link : row) link = {.bandwidth = BytesPerSecond(1e30), .latency = Seconds(0)};
  }
  problem.cluster.machines[0].intra_node = BytesPerSecond(1e30);
  return problem;
}

}  // namespace sail::test
