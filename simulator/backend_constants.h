// What no datasheet states, per backend. Fitted to public measurements of other jobs or assumed for a stated reason,
// never a measurement of a run that is to be predicted; results that rest on them are tagged `derived` (times) or
// `assumed` (memory).
#pragma once

#include "compiler/base/units.h"
#include "compiler/ir/cluster.h"

namespace sail::sim {

struct BackendConstants {
  ir::Efficiency efficiency;        // of a gpu that declares none
  Seconds dispatch;                 // host time per kernel of a trainer that declares none
  bool is_asynchronous;             // the host dispatches while kernels run
  BytesPerSecond memory_bandwidth;  // when the datasheet has none
  Seconds intra_node_latency;       // one message between two GPUs of a node
  double ring_share;                // of a card that one ring between nodes reaches; several rings fill it
  bool has_tree_all_reduce;         // small messages between nodes go over trees
  Bytes framework;                  // per process: context, libraries, communicators
  double allocator_slack;           // rounding and fragmentation, per byte that lives
};

// cuda: efficiencies between those fitted to layer times of V100, A100, Turing, Ampere and Hopper (0.74–0.96 and
//       0.68–0.83; within 10 % on these, 20 % too fast on the newest); a kernel costs 6 us of dispatch; one ring
//       reached 0.455 of a 200 Gb/s card and the caching allocator kept 5.9 % more than lived in 22 runs on GH200
//       (docs/accuracy.md); context and libraries take 1–2 GB where no gpu says more.
// cpu:  the declared peak of a stand-in is one core's; LibTorch's matrix products reach about 60 % of it at the sizes
//       that such machines train, a dispatched operator costs about 5 us, a process with LibTorch loaded about 256 MiB,
//       a message over loopback about 130 us (110–145 in fits of `sailrun profile --link`), most of it the waking of
//       threads.
inline const BackendConstants& ConstantsOf(ir::Backend backend) {
  static constexpr BackendConstants kCuda{.efficiency = {.matmul = 0.8, .ramp = Seconds(20e-6), .memory = 0.75},
                                          .dispatch = Seconds(6e-6),
                                          .is_asynchronous = true,
                                          .memory_bandwidth = BytesPerSecond(500e9),
                                          .intra_node_latency = Seconds(5e-6),
                                          .ring_share = 0.455,
                                          .has_tree_all_reduce = true,
                                          .framework = Bytes(1'500'000'000),
                                          .allocator_slack = 0.0586};
  static constexpr BackendConstants kCpu{.efficiency = {.matmul = 0.6, .ramp = Seconds(0), .memory = 0.6},
                                         .dispatch = Seconds(5e-6),
                                         .is_asynchronous = false,
                                         .memory_bandwidth = BytesPerSecond(10e9),
                                         .intra_node_latency = Seconds(130e-6),
                                         .ring_share = 1,
                                         .has_tree_all_reduce = false,
                                         .framework = Bytes(256 << 20),
                                         .allocator_slack = 0};
  return backend == ir::Backend::kCuda ? kCuda : kCpu;
}

}  // namespace sail::sim
