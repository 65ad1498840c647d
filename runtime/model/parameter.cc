#include "runtime/model/parameter.h"

#include <utility>

#include "ATen/ops/empty.h"
#include "ATen/ops/zeros_like.h"
#include "compiler/base/check.h"

namespace sail::rt {
namespace {

int64_t Product(const std::vector<int64_t>& shape, size_t begin, size_t end) {
  int64_t product = 1;
  for (size_t i = begin; i < end; ++i) product *= shape[i];
  return product;
}

}  // namespace

Parameter MakeParameter(ParameterSpec spec, uint64_t seed, int degree, int tensor_rank, int shards,
                        at::ScalarType type) {
  SAIL_CHECK(shards % degree == 0) << shards << " shards over " << degree;
  // The whole tensor is [outer, extent, inner] and this rank holds [outer, first .. first + length, inner] of it.
  const size_t dim = spec.cut_dim < 0 ? 0 : static_cast<size_t>(spec.cut_dim);
  const int64_t outer = Product(spec.shape, 0, dim);
  const int64_t extent = spec.shape[dim];
  const int64_t inner = Product(spec.shape, dim + 1, spec.shape.size());
  int64_t length = extent;
  int64_t first = 0;
  if (spec.cut_dim >= 0) {
    length = (extent + shards - 1) / shards * shards / degree;
    first = length * tensor_rank;
  }
  std::vector<int64_t> shape = spec.shape;
  shape[dim] = length;

  const InitialValues initial(spec, seed);
  at::Tensor values = at::empty(shape, at::kDouble);
  double* out = values.data_ptr<double>();
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = first; i < first + length; ++i) {
      for (int64_t k = 0; k < inner; ++k) *out++ = i < extent ? initial.At((o * extent + i) * inner + k) : 0;
    }
  }
  at::Tensor value = values.to(type).requires_grad_();
  value.mutable_grad() = at::zeros_like(value.detach());
  return {.spec = std::move(spec), .first = first, .value = std::move(value)};
}

}  // namespace sail::rt
