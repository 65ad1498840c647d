// Time of one layer derived from datasheets (docs/cost_model.md §2).
//
//   forward  = max(FLOPs / (peak · e), bytes / (memory bandwidth · e_m)) + launch · kernels + tensor-parallel
//   collectives backward = the same with twice the FLOPs, bytes and kernels optimizer = bytes of the step / (memory
//   bandwidth · e_m) + launch
#pragma once

#include "absl/status/statusor.h"
#include "compiler/ir/problem.h"

namespace sail::sim {

// The gpu's dense peak at the precision; fp64 counts half of fp32. InvalidArgument when the datasheet lacks it.
absl::StatusOr<FlopsPerSecond> PeakOf(const ir::Gpu& gpu, ir::Precision precision);

// `intra_node` is the bandwidth between the GPUs of one node, unused at tensor degree 1.
absl::StatusOr<ir::LayerTime> DeriveLayerTime(const ir::Model& model, ir::Precision precision, const ir::Gpu& gpu,
                                              BytesPerSecond intra_node, ir::LayerKind kind, int tensor,
                                              int micro_batch);

// Bytes that the AdamW step of one parameter reads and writes: gradient in; both moments, and the (master) parameter in
// and out; at 16 bit the parameter copy out.
int OptimizerTrafficPerParameter(ir::Precision precision);

}  // namespace sail::sim
