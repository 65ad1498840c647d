#include "simulator/memory_model.h"

#include <algorithm>
#include <utility>

#include "simulator/backend_constants.h"
#include "simulator/schedule.h"

namespace sail::sim {
namespace {

constexpr int64_t kTokenIdBytes = 8;  // int64
constexpr int64_t kFp32Bytes = 4;

bool HoldsEmbedding(const MemoryShape& shape) { return shape.first_layer == 0; }
bool HoldsHead(const ir::Model& model, const MemoryShape& shape) { return shape.last_layer == model.layer_count() - 1; }

int BlockCount(const ir::Model& model, int first_layer, int last_layer) {
  return std::max(0, std::min(last_layer, model.blocks) - std::max(first_layer, 1) + 1);
}

// Rows of the inner layer's width that its backward needs.
int64_t InnerRows(const ir::Model& model) {
  if (model.family == ir::ModelFamily::kLlama) return 4;
  return model.activation == ir::Activation::kRelu ? 1 : 2;
}

// Elements per token that a block keeps for its backward. Korthikanti et al. 2022, §4, without dropout, of which see
// DropoutBytes:
//   4h whole (inputs of both norms and of both column-parallel layers), h alone if all else is computed again; 1/t of
//   it where sequences are cut too
//   + (2w + 2k + n·f + a·s)/t: q, k, v, input of the output projection; input and output of the activation (n = 2; ReLU
//   1, whose output is all its backward needs; gated 4, with up and the product); softmax output, unless a fused kernel
//   or selective recomputation computes it again. Rotation is linear and needs nothing. qk_norm: w + k more, its inputs
int64_t BlockRow(const ir::Model& model, const MemoryShape& shape, const ir::Trainer& trainer,
                 ir::Recompute recompute) {
  const int64_t whole_share = trainer.sequence_parallel ? shape.tensor : 1;
  if (recompute == ir::Recompute::kFull) return model.hidden / whole_share;
  const int64_t inner = InnerRows(model) * model.feed_forward;
  const int64_t attention = (model.qk_norm ? 3 : 2) * (model.attention_width() + model.key_width());
  const bool keeps_scores = trainer.attention == ir::AttentionKernel::kUnfused && recompute == ir::Recompute::kNone;
  const int64_t scores = keeps_scores ? model.heads * model.seq_len : 0;
  return 4 * model.hidden / whole_share + (attention + inner + scores) / shape.tensor;
}

// Bytes per token that dropout keeps of a block: a mask byte for each element of the residual branches, and for each
// score a mask byte and the dropped copy that the values are weighted with (the same paper).
int64_t DropoutBytes(const ir::Model& model, int element, const MemoryShape& shape, const ir::Trainer& trainer,
                     ir::Recompute recompute) {
  if (!trainer.dropout || recompute == ir::Recompute::kFull) return 0;
  const bool keeps_scores = trainer.attention == ir::AttentionKernel::kUnfused && recompute == ir::Recompute::kNone;
  const int64_t scores = keeps_scores ? model.heads * model.seq_len * (1 + element) : 0;
  return 2 * model.hidden / (trainer.sequence_parallel ? shape.tensor : 1) + scores / shape.tensor;
}

// Bytes stashed for the backward of one micro-batch. Besides the blocks, per token:
//   embedding  token ids (+ e when e != h);   head  input and output of the final norm, e when e != h, target ids
int64_t StashedBytes(const ir::Model& model, int element, const MemoryShape& shape, const ir::Trainer& trainer) {
  const int64_t tokens = shape.micro_batch * model.seq_len;
  const int64_t h = model.hidden;
  const int64_t projected = model.embedding_width == h ? 0 : model.embedding_width;
  const int blocks = BlockCount(model, shape.first_layer, shape.last_layer);
  const int64_t block = BlockRow(model, shape, trainer, shape.recompute) * element;
  int64_t bytes = blocks * tokens * (block + DropoutBytes(model, element, shape, trainer, shape.recompute));
  if (HoldsEmbedding(shape)) bytes += tokens * (kTokenIdBytes + projected * element);
  if (HoldsHead(model, shape)) {
    const int64_t rows = (model.norm == ir::NormPlacement::kPre ? 2 : 1) * h + projected;
    bytes += tokens * (kTokenIdBytes + rows * element);
  }
  return bytes;
}

// Gradients of what the running layer keeps between its kernels: the residual stream and its branch, both sides of the
// feed-forward activation (three rows where up is multiplied by the gate), scores and probabilities. And what the block
// that runs backward has computed again.
int64_t WorkingBytes(const ir::Model& model, int element, const MemoryShape& shape, const ir::Trainer& trainer) {
  const int64_t tokens = shape.micro_batch * model.seq_len;
  int64_t row = 4 * model.hidden;
  int64_t dropped = 0;  // bytes per token
  if (BlockCount(model, shape.first_layer, shape.last_layer) > 0) {
    const int64_t inner = (model.family == ir::ModelFamily::kLlama ? 3 : 2) * model.feed_forward;
    const bool is_fused = trainer.attention == ir::AttentionKernel::kFused;
    row += (inner + (is_fused ? 0 : 2 * model.heads * model.seq_len)) / shape.tensor;
    row += BlockRow(model, shape, trainer, ir::Recompute::kNone) - BlockRow(model, shape, trainer, shape.recompute);
    dropped = DropoutBytes(model, element, shape, trainer, ir::Recompute::kNone) -
              DropoutBytes(model, element, shape, trainer, shape.recompute);
  }
  return tokens * (row * element + dropped);
}

// The largest parameter tensor on the rank.
int64_t LargestTensor(const ir::Model& model, const MemoryShape& shape) {
  int64_t largest = 0;
  if (BlockCount(model, shape.first_layer, shape.last_layer) > 0) {
    const int64_t qkv = model.attention_width() + 2 * model.key_width();  // one matrix
    largest = model.hidden * std::max(qkv, model.feed_forward) / shape.tensor;
  }
  if (HoldsEmbedding(shape) || HoldsHead(model, shape)) {
    const int64_t table = ir::PaddedVocab(model, shape.vocab_multiple) * model.embedding_width / shape.tensor;
    largest = std::max(largest, table);
  }
  return largest;
}

int64_t CommunicationBytes(const ir::Model& model, int element, const MemoryShape& shape, const ir::Trainer& trainer,
                           int64_t gradients) {
  const int boundaries = (HoldsEmbedding(shape) ? 0 : 1) + (HoldsHead(model, shape) ? 0 : 1);
  const int64_t boundary = shape.micro_batch * model.seq_len * model.hidden * element;
  // One buffer each way at each boundary; one flat bucket, which a single large tensor may exceed, or all gradients.
  const int64_t least = trainer.flat_gradients ? gradients : kBucketBytes;
  const int64_t bucket = std::min(gradients, std::max(least, LargestTensor(model, shape) * element));
  return 2 * boundaries * boundary + bucket;
}

}  // namespace

int64_t ParametersOfStage(const ir::Model& model, int first_layer, int last_layer, int tensor, int vocab_multiple) {
  const auto of = [&](ir::LayerKind kind) { return ir::ParametersOnRank(model, kind, tensor, vocab_multiple).total(); };
  int64_t parameters = BlockCount(model, first_layer, last_layer) * of(ir::LayerKind::kBlock);
  const bool has_embedding = first_layer == 0;
  const bool has_head = last_layer == model.layer_count() - 1;
  if (has_embedding) parameters += of(ir::LayerKind::kEmbedding);
  if (has_head) parameters += of(ir::LayerKind::kHead);
  if (has_embedding && has_head && model.tied_head) {
    parameters -= ir::ParametersOnRank(model, ir::LayerKind::kHead, tensor, vocab_multiple).sharded;
  }
  return parameters;
}

Bytes MemoryBreakdown::Total() const {
  return parameters + gradients + main_gradients + master_weights + optimizer_states + activations + logits +
         logits_gradient + logits_copy + working_set + optimizer_step + communication + allocator_slack + framework;
}

namespace {

// Parameters, gradients and what the optimizer keeps of them.
void AddStates(const ir::Model& model, const ir::Job& job, const MemoryShape& shape, MemoryBreakdown& memory) {
  const int element = ir::BytesPerElement(job.precision);
  const bool is_mixed = element < kFp32Bytes;
  const int64_t parameters =
      ParametersOfStage(model, shape.first_layer, shape.last_layer, shape.tensor, shape.vocab_multiple);
  const int64_t stepped = (parameters + shape.optimizer_shards - 1) / shape.optimizer_shards;
  const ir::GradientPrecision gradients = is_mixed ? job.trainer.gradients : ir::GradientPrecision::kParameter;
  memory.parameters = Bytes(parameters * element);
  if (gradients != ir::GradientPrecision::kFp32) memory.gradients = Bytes(parameters * element);
  if (gradients != ir::GradientPrecision::kParameter) memory.main_gradients = Bytes(parameters * kFp32Bytes);
  if (is_mixed) memory.master_weights = Bytes(stepped * kFp32Bytes);
  memory.optimizer_states = Bytes(stepped * 2 * std::max<int64_t>(element, kFp32Bytes));
}

// Whether all layers of the stage were measured and run as measured. The scores of the head are among what it keeps.
bool AddMeasuredActivations(const ir::Model& model, const MemoryShape& shape, const MeasuredActivations& measured,
                            MemoryBreakdown& memory) {
  if (shape.recompute != ir::Recompute::kNone) return false;
  const int blocks = BlockCount(model, shape.first_layer, shape.last_layer);
  if ((blocks > 0 && !measured.block) || (HoldsEmbedding(shape) && !measured.embedding)) return false;
  if (HoldsHead(model, shape) && !measured.head) return false;
  Bytes kept = Bytes::Zero();
  if (blocks > 0) kept += *measured.block * blocks;
  if (HoldsEmbedding(shape)) kept += *measured.embedding;
  if (HoldsHead(model, shape)) kept += *measured.head;
  memory.activations = kept * shape.in_flight;
  if (blocks > 0) memory.working_set = *measured.block;
  memory.logits = Bytes::Zero();
  memory.logits_copy = Bytes::Zero();
  memory.is_measured = true;
  return true;
}

}  // namespace

MemoryBreakdown ComputeMemory(const ir::Model& model, const ir::Job& job, const ir::Gpu& gpu, const MemoryShape& shape,
                              const MeasuredActivations& measured) {
  const int element = ir::BytesPerElement(job.precision);
  const bool is_mixed = element < kFp32Bytes;
  const int64_t state = std::max<int64_t>(element, kFp32Bytes);
  MemoryBreakdown memory;
  AddStates(model, job, shape, memory);
  if (HoldsHead(model, shape)) {
    const int64_t scores =
        shape.micro_batch * model.seq_len * (ir::PaddedVocab(model, shape.vocab_multiple) / shape.tensor);
    memory.logits = Bytes(scores * state);
    memory.logits_gradient = Bytes(scores * state);
    if (is_mixed) memory.logits_copy = Bytes(scores * element);
  }
  if (!AddMeasuredActivations(model, shape, measured, memory)) {
    memory.activations = Bytes(StashedBytes(model, element, shape, job.trainer)) * shape.in_flight;
    memory.working_set = Bytes(WorkingBytes(model, element, shape, job.trainer));
  }
  // The denominator of one tensor's update, and the tensor's gradient in fp32 where there is none yet.
  const bool is_widened = is_mixed && memory.main_gradients == Bytes::Zero();
  memory.optimizer_step = Bytes(LargestTensor(model, shape) * (state + (is_widened ? kFp32Bytes : 0)));
  const Bytes reduced = memory.main_gradients > Bytes::Zero() ? memory.main_gradients : memory.gradients;
  memory.communication = Bytes(CommunicationBytes(model, element, shape, job.trainer, reduced.value()));
  const BackendConstants& backend = ConstantsOf(gpu.backend);
  const double slack = backend.allocator_slack * static_cast<double>(memory.Total().value());
  memory.allocator_slack = Bytes(static_cast<int64_t>(slack));
  memory.framework = gpu.framework_memory.value_or(backend.framework);
  return memory;
}

Bytes MemoryLimitOf(const ir::Gpu& gpu, const ir::Job& job) {
  return Bytes(static_cast<int64_t>(static_cast<double>(gpu.memory.value()) * gpu.usable_memory * job.memory_limit));
}

std::vector<ir::MemoryTerm> MemoryTerms(const MemoryBreakdown& memory) {
  using ir::Provenance;
  const std::pair<const char*, std::pair<Bytes, Provenance>> rows[] = {
      {"parameters", {memory.parameters, Provenance::kDerived}},
      {"gradients", {memory.gradients, Provenance::kDerived}},
      {"fp32 gradients", {memory.main_gradients, Provenance::kDerived}},
      {"master weights", {memory.master_weights, Provenance::kDerived}},
      {"optimizer states", {memory.optimizer_states, Provenance::kDerived}},
      {"activations", {memory.activations, memory.is_measured ? Provenance::kMeasured : Provenance::kDerived}},
      {"logits", {memory.logits, Provenance::kDerived}},
      {"logits gradient", {memory.logits_gradient, Provenance::kDerived}},
      {"logits 16-bit copy", {memory.logits_copy, Provenance::kDerived}},
      {"working set", {memory.working_set, Provenance::kAssumed}},
      {"optimizer step", {memory.optimizer_step, Provenance::kAssumed}},
      {"communication", {memory.communication, Provenance::kAssumed}},
      {"allocator slack", {memory.allocator_slack, Provenance::kAssumed}},
      {"framework", {memory.framework, Provenance::kAssumed}}};
  std::vector<ir::MemoryTerm> terms;
  terms.reserve(std::size(rows));
  for (const auto& [what, value] : rows) {
    if (value.first.value() > 0) terms.push_back({.what = what, .bytes = value.first, .provenance = value.second});
  }
  return terms;
}

}  // namespace sail::sim
