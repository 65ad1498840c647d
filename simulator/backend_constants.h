// What no datasheet states, per backend. Every number here is an assumption with its reason, never a measurement of a
// run that is to be predicted; results that rest on them are tagged `derived` (times) or `assumed` (memory).
#pragma once

#include "compiler/base/units.h"
#include "compiler/ir/cluster.h"

namespace sail::sim {

struct BackendConstants {
  double matmul_efficiency;         // share of the peak that large matrix products reach
  double memory_efficiency;         // share of the memory bandwidth that streaming kernels reach
  Seconds launch;                   // per kernel
  BytesPerSecond memory_bandwidth;  // when the datasheet has none
  Seconds intra_node_latency;       // one message between two GPUs of a node
  Bytes framework;                  // per process: context, libraries, communicators, allocator slack
};

// cuda: dense training reaches 40–55 % of the peak (Narayanan et al. 2021, table 1: 44–52 % on A100); streaming kernels
//       about 80 % of the datasheet's bandwidth; 6 us a kernel is launch plus framework dispatch when the queue runs
//       dry; context, cuBLAS and NCCL buffers take 1–2 GB (the published 5.06 GB are GH200's and not used here).
// cpu:  the declared peak of a stand-in is one core's; LibTorch's matrix products reach about 60 % of it at the sizes
//       that such machines train, a dispatched operator costs about 5 us, a process with LibTorch loaded about 256 MiB,
//       a message over loopback about 30 us.
inline const BackendConstants& ConstantsOf(ir::Backend backend) {
  static constexpr BackendConstants kCuda{.matmul_efficiency = 0.5,
                                          .memory_efficiency = 0.8,
                                          .launch = Seconds(6e-6),
                                          .memory_bandwidth = BytesPerSecond(500e9),
                                          .intra_node_latency = Seconds(5e-6),
                                          .framework = Bytes(1'500'000'000)};
  static constexpr BackendConstants kCpu{.matmul_efficiency = 0.6,
                                         .memory_efficiency = 0.6,
                                         .launch = Seconds(5e-6),
                                         .memory_bandwidth = BytesPerSecond(10e9),
                                         .intra_node_latency = Seconds(30e-6),
                                         .framework = Bytes(256 << 20)};
  return backend == ir::Backend::kCuda ? kCuda : kCpu;
}

}  // namespace sail::sim
