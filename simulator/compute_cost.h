// Time of one layer derived from datasheets (docs/cost_model.md §2).
//
//   a product of x FLOPs          x / (matmul · peak) + ramp
//   other kernels                 bytes that they read and write / (memory share · memory bandwidth)
//   forward, backward             max(products + other kernels + collectives of the tensor group, kernels · dispatch)
//   optimizer                     bytes of the step / (memory share · memory bandwidth) + dispatch
// The host dispatches kernels while a GPU works, so the longer of the two counts; on a CPU they add up. Backward has
// twice the products and kernels.
#pragma once

#include "absl/status/statusor.h"
#include "compiler/ir/problem.h"

namespace sail::sim {

// The gpu's dense peak at the precision; fp64 counts half of fp32. InvalidArgument when the datasheet lacks it.
absl::StatusOr<FlopsPerSecond> PeakOf(const ir::Gpu& gpu, ir::Precision precision);

// One micro-batch through a layer of one kind on a tensor group.
struct LayerShape {
  ir::LayerKind kind = ir::LayerKind::kBlock;
  int tensor = 1;
  int micro_batch = 1;
};

// `intra_node` is the bandwidth between the GPUs of one node, unused at tensor degree 1.
absl::StatusOr<ir::LayerTime> DeriveLayerTime(const ir::Model& model, const ir::Job& job, const ir::Gpu& gpu,
                                              BytesPerSecond intra_node, const LayerShape& shape);

// Bytes that the AdamW step of one parameter reads and writes: gradient in; both moments, and the (master) parameter in
// and out; at 16 bit the parameter copy out.
int OptimizerTrafficPerParameter(ir::Precision precision);

}  // namespace sail::sim
