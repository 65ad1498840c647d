// One parameter as one rank holds it.
#pragma once

#include <cstdint>

#include "ATen/core/Tensor.h"
#include "runtime/model/parameter_spec.h"

namespace sail::rt {

struct Parameter {
  ParameterSpec spec;
  int64_t first = 0;  // of the indices along spec.cut_dim that this rank holds; 0 when it is not cut
  at::Tensor value;   // leaf with requires_grad; its grad is allocated once and accumulated in place
};

// Tensor rank `tensor_rank` of `degree` holds the tensor_rank-th of `degree` equal parts along the cut, the extent
// padded to a multiple of `shards` (a multiple of degree). Values are those of InitialValues; padding is zero.
Parameter MakeParameter(ParameterSpec spec, uint64_t seed, int degree, int tensor_rank, int shards,
                        at::ScalarType type);

}  // namespace sail::rt
