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
// split and two transpositions, scores, scale, mask, softmax, values, merge, activation, two residual sums. A fused
// attention kernel stands for five of them. A llama block also rotates queries and keys, has the gate's matrix and its
// product with up, and may norm queries and keys; its embedding is the look-up alone.
int ForwardKernels(const ir::Model& model, const ir::Trainer& trainer, ir::LayerKind kind) {
  const bool is_llama = model.family == ir::ModelFamily::kLlama;
  switch (kind) {
    case ir::LayerKind::kEmbedding:
      return is_llama ? 1 : 3;
    case ir::LayerKind::kBlock:
      return 20 - (trainer.attention == ir::AttentionKernel::kFused ? 4 : 0) + (is_llama ? 4 : 0) +
             (model.qk_norm ? 2 : 0);
    case ir::LayerKind::kHead:
      return 8;
  }
  SAIL_CHECK(false) << "layer kind " << static_cast<int>(kind);
}

// Elements that one direction of a pass reads or writes per token outside of products, whose operands belong to the
// efficiency of the product.
struct Elements {
  double forward = 0;
  double backward = 0;
};

// h rows: two norms and two residual sums, in and out. Inner layer: the activation, in and out, and in backward its
// input once more; a gated one has its product too. A rotation or norm of queries and keys passes over both once.
// Scores of one token, a·s: softmax and masked copy, in and out; in backward the softmax reads its output, too; dropout
// has a mask of bytes.
Elements BlockElements(const ir::Model& model, const ir::Trainer& trainer, int tensor) {
  const double h = static_cast<double>(model.hidden);
  const double f = static_cast<double>(model.feed_forward);
  const double both = static_cast<double>(2 * model.attention_width() + 2 * model.key_width());
  const bool is_llama = model.family == ir::ModelFamily::kLlama;
  const double passes = (is_llama ? 1 : 0) + (model.qk_norm ? 1 : 0);
  const bool is_unfused = trainer.attention == ir::AttentionKernel::kUnfused;
  const double scores = is_unfused ? static_cast<double>(model.heads * model.seq_len) : 0;
  const double dropout = trainer.dropout ? 2.5 : 0;
  const double rows = 8 * h / (trainer.sequence_parallel ? tensor : 1);
  return {.forward = rows + ((is_llama ? 5 : 2) * f + passes * both + (4 + dropout) * scores) / tensor,
          .backward = rows + ((is_llama ? 7 : 2.5) * f + passes * both + (6.5 + dropout) * scores) / tensor};
}

// What a gpu needs for products and other kernels.
struct Rates {
  double flops = 0;      // per second, of large products
  double ramp = 0;       // seconds per product
  double bandwidth = 0;  // bytes per second
  int element = 4;       // bytes

  double Products(double flops_each, int count) const { return count * (flops_each / flops + ramp); }
};

// Seconds of the GPU in each direction, collectives aside.
struct Work {
  double forward = 0;
  double backward = 0;
};

// Scores and values: two products of 2·s·w FLOPs per token, which write or read a·s scores and a few rows. Without a
// fused kernel they may be bound by memory. A fused backward computes the scores again: five products instead of four.
Work AttentionWork(const ir::Model& model, const ir::Trainer& trainer, const Rates& rates, int tensor, double tokens) {
  const double s = static_cast<double>(model.seq_len);
  const double w = static_cast<double>(model.attention_width());
  const double product = rates.Products(2 * tokens * s * w / tensor, 1);
  if (trainer.attention == ir::AttentionKernel::kFused) return {.forward = 2 * product, .backward = 5 * product};
  const double elements = tokens * (static_cast<double>(model.heads) * s + 2 * w) / tensor;
  const double each = std::max(product, elements * rates.element / rates.bandwidth);
  return {.forward = 2 * each, .backward = 4 * each};
}

Work BlockWork(const ir::Model& model, const ir::Trainer& trainer, const Rates& rates, int tensor, double tokens) {
  const double s = static_cast<double>(model.seq_len);
  const double attention_flops = 4 * s * static_cast<double>(model.attention_width());  // per token
  const double linear = ir::ForwardFlopsPerSample(model, ir::LayerKind::kBlock) / s - attention_flops;
  const int products = model.family == ir::ModelFamily::kLlama ? 5 : 4;  // queries, keys and values are one
  const double linear_seconds = rates.Products(tokens * linear / tensor / products, products);
  const Work attention = AttentionWork(model, trainer, rates, tensor, tokens);
  const Elements elements = BlockElements(model, trainer, tensor);
  const double element_seconds = tokens * rates.element / rates.bandwidth;
  return {.forward = linear_seconds + attention.forward + elements.forward * element_seconds,
          .backward = 2 * linear_seconds + attention.backward + elements.backward * element_seconds};
}

// The look-up reads and writes five rows a token; backward the same, and clears and adds a dense gradient of the table.
Work EmbeddingWork(const ir::Model& model, const Rates& rates, int tensor, double tokens) {
  const double e = static_cast<double>(model.embedding_width);
  const double rows = 5 * tokens * e * rates.element / rates.bandwidth;
  const double table = 2.0 * rates.element * static_cast<double>(ir::PaddedVocab(model, tensor)) * e / tensor;
  const double flops = ir::ForwardFlopsPerSample(model, ir::LayerKind::kEmbedding) / static_cast<double>(model.seq_len);
  const double projection = flops > 0 ? rates.Products(tokens * flops, 1) : 0;
  return {.forward = rows + projection, .backward = rows + table / rates.bandwidth + 2 * projection};
}

// Norm, products and loss; the projection to the width of the embedding is whole on every rank. Scores are widened to
// fp32; maximum, exponential, sum: 16 bytes each, and 6 to widen them. Backward writes their gradient: 8 bytes, and 4
// to narrow it.
Work HeadWork(const ir::Model& model, const Rates& rates, int tensor, double tokens) {
  const double e = static_cast<double>(model.embedding_width);
  const bool is_projected = model.embedding_width != model.hidden;
  const double projection = is_projected ? rates.Products(2 * tokens * static_cast<double>(model.hidden) * e, 1) : 0;
  const double product = rates.Products(2 * tokens * static_cast<double>(model.vocab) * e / tensor, 1) + projection;
  const double scores = tokens * static_cast<double>(ir::PaddedVocab(model, tensor)) / tensor;
  const double norm = 2 * tokens * static_cast<double>(model.hidden) * rates.element;
  const bool is_widened = rates.element < 4;
  return {.forward = product + (scores * (is_widened ? 22 : 16) + norm) / rates.bandwidth,
          .backward = 2 * product + (scores * (is_widened ? 12 : 8) + 1.5 * norm) / rates.bandwidth};
}

Work WorkOf(const ir::Model& model, const ir::Trainer& trainer, const Rates& rates, const LayerShape& shape) {
  const double tokens = static_cast<double>(shape.micro_batch) * static_cast<double>(model.seq_len);
  switch (shape.kind) {
    case ir::LayerKind::kEmbedding:
      return EmbeddingWork(model, rates, shape.tensor, tokens);
    case ir::LayerKind::kBlock:
      return BlockWork(model, trainer, rates, shape.tensor, tokens);
    case ir::LayerKind::kHead:
      return HeadWork(model, rates, shape.tensor, tokens);
  }
  SAIL_CHECK(false) << "layer kind " << static_cast<int>(shape.kind);
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

absl::StatusOr<ir::LayerTime> DeriveLayerTime(const ir::Model& model, const ir::Job& job, const ir::Gpu& gpu,
                                              BytesPerSecond intra_node, const LayerShape& shape) {
  SAIL_ASSIGN_OR_RETURN(const FlopsPerSecond peak, PeakOf(gpu, job.precision));
  const BackendConstants& backend = ConstantsOf(gpu.backend);
  const ir::Efficiency efficiency = gpu.efficiency.value_or(backend.efficiency);
  const BytesPerSecond bandwidth = gpu.memory_bandwidth.value_or(backend.memory_bandwidth) * efficiency.memory;
  const Rates rates{.flops = peak.value() * efficiency.matmul,
                    .ramp = efficiency.ramp.value(),
                    .bandwidth = bandwidth.value(),
                    .element = ir::BytesPerElement(job.precision)};
  const Work work = WorkOf(model, job.trainer, rates, shape);
  const Collectives collectives = TensorCollectives(model, job.precision, intra_node, backend.intra_node_latency,
                                                    shape.kind, shape.tensor, shape.micro_batch);
  const auto pass = [&](Seconds gpu, Seconds host) {
    return backend.is_asynchronous ? std::max(gpu, host) : gpu + host;
  };
  const Seconds dispatch = job.trainer.dispatch.value_or(backend.dispatch);
  const Seconds host = dispatch * ForwardKernels(model, job.trainer, shape.kind);
  const double parameters =
      static_cast<double>(ir::ParametersOnRank(model, shape.kind, shape.tensor, shape.tensor).total());
  return ir::LayerTime{
      .forward = pass(Seconds(work.forward) + collectives.forward, host),
      .backward = pass(Seconds(work.backward) + collectives.backward, 2 * host),
      .optimizer = Seconds(parameters * OptimizerTrafficPerParameter(job.precision) / bandwidth.value()) + dispatch,
      .provenance = ir::Provenance::kDerived,
      .activations = std::nullopt};
}

}  // namespace sail::sim
