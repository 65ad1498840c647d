#include "simulator/compute_cost.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "compiler/base/status_macros.h"
#include "simulator/backend_constants.h"
#include "simulator/collective_cost.h"

namespace sail::sim {
namespace {

// Forward kernels of a layer, counted in the runtime's model: a block has two norms, four linear layers with bias, a
// split and two transpositions, scores, scale, mask, softmax, values, merge, activation, two residual sums. A llama
// block also rotates queries and keys, has the gate's matrix and its product with up, and may norm queries and keys;
// its embedding is the look-up alone.
int ForwardKernels(const ir::Model& model, ir::LayerKind kind) {
  const bool is_llama = model.family == ir::ModelFamily::kLlama;
  switch (kind) {
    case ir::LayerKind::kEmbedding:
      return is_llama ? 1 : 3;
    case ir::LayerKind::kBlock:
      return 20 + (is_llama ? 4 : 0) + (model.qk_norm ? 2 : 0);
    case ir::LayerKind::kHead:
      return 8;
  }
  SAIL_CHECK(false) << "layer kind " << static_cast<int>(kind);
}

// Elements that the forward kernels of one micro-batch read or write, without weights. Norms, residual sums and matrix
// products read and write hidden-wide rows; the products inside the tensor group handle 1/t of theirs. There, queries,
// keys, values and the attention's output are each written once and read once (4w + 4k), and a rotation or a norm reads
// and writes queries and keys once more (2w + 2k). The inner layer writes and reads up and the activation (4f); a gated
// one writes and reads gate, up, activation and product (8f).
double ForwardElements(const ir::Model& model, ir::LayerKind kind, int tensor, int micro_batch) {
  const double tokens = static_cast<double>(micro_batch) * static_cast<double>(model.seq_len);
  const double h = static_cast<double>(model.hidden);
  const double f = static_cast<double>(model.feed_forward);
  const double w = static_cast<double>(model.attention_width());
  const double k = static_cast<double>(model.key_width());
  const bool is_llama = model.family == ir::ModelFamily::kLlama;
  // Over queries and keys: the rotation, and their norms.
  const double passes = (is_llama ? 1 : 0) + (model.qk_norm ? 1 : 0);
  const double scores = static_cast<double>(model.heads) * static_cast<double>(model.seq_len);  // per token
  switch (kind) {
    case ir::LayerKind::kEmbedding:
      return tokens * (is_llama ? 3 : 4) * h;  // rows of the tables in, their sum out and in again
    case ir::LayerKind::kBlock:
      return tokens *
             (12 * h + (4 * w + 4 * k + passes * (2 * w + 2 * k) + (is_llama ? 8 : 4) * f + 4 * scores) / tensor);
    case ir::LayerKind::kHead:
      return tokens * (4 * h + 3 * static_cast<double>(ir::PaddedVocab(model, tensor)) / tensor);
  }
  SAIL_CHECK(false) << "layer kind " << static_cast<int>(kind);
}

struct Collectives {
  Seconds forward = Seconds(0);
  Seconds backward = Seconds(0);
};

// All-reduces inside the tensor group: a block sums its two row-parallel outputs, and in backward the gradients of its
// two column-parallel inputs; the embedding sums the partial look-ups; the head sums maximum, normaliser and target
// score of each token, and in backward the gradient of its input (Shoeybi et al. 2019). Fewer key-value heads change
// nothing here: what is summed is hidden wide.
Collectives TensorCollectives(const ir::Model& model, ir::Precision precision, BytesPerSecond intra_node,
                              Seconds latency, ir::LayerKind kind, int tensor, int micro_batch) {
  const int64_t tokens = micro_batch * model.seq_len;
  const int element = ir::BytesPerElement(precision);
  const auto all_reduce = [&](int64_t bytes) { return RingAllReduceTime(Bytes(bytes), tensor, latency, intra_node); };
  switch (kind) {
    case ir::LayerKind::kEmbedding:
      return {.forward = all_reduce(tokens * model.embedding_width * element)};
    case ir::LayerKind::kBlock: {
      const Seconds both = 2 * all_reduce(tokens * model.hidden * element);
      return {.forward = both, .backward = both};
    }
    case ir::LayerKind::kHead: {
      constexpr int64_t kStatisticBytes = 4;  // fp32
      return {.forward = 3 * all_reduce(tokens * kStatisticBytes),
              .backward = all_reduce(tokens * model.embedding_width * element)};
    }
  }
  SAIL_CHECK(false) << "layer kind " << static_cast<int>(kind);
}

}  // namespace

absl::StatusOr<FlopsPerSecond> PeakOf(const ir::Gpu& gpu, ir::Precision precision) {
  std::optional<FlopsPerSecond> peak;
  switch (precision) {
    case ir::Precision::kFp32:
      peak = gpu.peak_fp32;
      break;
    case ir::Precision::kFp16:
      peak = gpu.peak_fp16;
      break;
    case ir::Precision::kBf16:
      peak = gpu.peak_bf16;
      break;
    case ir::Precision::kFp64:
      if (gpu.peak_fp32) peak = *gpu.peak_fp32 * 0.5;
      break;
  }
  if (peak && peak->value() > 0) return *peak;
  return absl::InvalidArgumentError(
      absl::StrCat("gpu ", gpu.name, " has no peak for ", ir::ToString(precision), " and no measured profile"));
}

int OptimizerTrafficPerParameter(ir::Precision precision) {
  const int element = ir::BytesPerElement(precision);
  const int state = std::max(element, 4);  // moments and master parameters are at least fp32
  const int copy_out = element < state ? element : 0;
  return element + 2 * state + 2 * 2 * state + copy_out;
}

absl::StatusOr<ir::LayerTime> DeriveLayerTime(const ir::Model& model, ir::Precision precision, const ir::Gpu& gpu,
                                              BytesPerSecond intra_node, ir::LayerKind kind, int tensor,
                                              int micro_batch) {
  SAIL_ASSIGN_OR_RETURN(const FlopsPerSecond peak, PeakOf(gpu, precision));
  const BackendConstants& backend = ConstantsOf(gpu.backend);
  const BytesPerSecond memory = gpu.memory_bandwidth.value_or(backend.memory_bandwidth) * backend.memory_efficiency;
  const double parameters = static_cast<double>(ir::ParametersOnRank(model, kind, tensor, tensor).total());
  // The embedding looks up rows (counted as elements) and does not stream its table.
  const double weights = kind == ir::LayerKind::kEmbedding ? 0 : parameters;
  const double bytes = (weights + ForwardElements(model, kind, tensor, micro_batch)) * ir::BytesPerElement(precision);
  const Flops flops(ir::ForwardFlopsPerSample(model, kind) * micro_batch / tensor);
  const Seconds body = std::max(flops / (peak * backend.matmul_efficiency), Seconds(bytes / memory.value()));
  const Seconds launch = backend.launch * ForwardKernels(model, kind);
  const Collectives collectives =
      TensorCollectives(model, precision, intra_node, backend.intra_node_latency, kind, tensor, micro_batch);
  return ir::LayerTime{
      .forward = body + launch + collectives.forward,
      .backward = 2 * (body + launch) + collectives.backward,
      .optimizer = Seconds(parameters * OptimizerTrafficPerParameter(precision) / memory.value()) + backend.launch,
      .provenance = ir::Provenance::kDerived};
}

}  // namespace sail::sim
