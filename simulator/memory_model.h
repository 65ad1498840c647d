// Peak memory of one rank, by term (docs/memory_model.md has every formula with its source).
#pragma once

#include <optional>
#include <vector>

#include "compiler/ir/plan.h"
#include "compiler/ir/problem.h"
#include "compiler/ir/report.h"

namespace sail::sim {

// What a rank holds and how it runs.
struct MemoryShape {
  int first_layer = 0;
  int last_layer = 0;
  int tensor = 1;
  int vocab_multiple = 1;  // the vocabulary is padded to a multiple of it; a multiple of `tensor`
  int micro_batch = 1;
  int in_flight = 1;  // stashed micro-batches: min(M, depth − stage)
  ir::Recompute recompute = ir::Recompute::kNone;
  int optimizer_shards = 1;  // owners that share the optimizer state: the pipelines under ZeRO-1, else 1
};

struct MemoryBreakdown {
  Bytes parameters = Bytes::Zero();
  Bytes gradients = Bytes::Zero();
  Bytes main_gradients = Bytes::Zero();    // fp32 sums beside gradients at the parameters' precision
  Bytes master_weights = Bytes::Zero();    // fp32 copies, at 16 bit only
  Bytes optimizer_states = Bytes::Zero();  // both moments
  Bytes activations = Bytes::Zero();       // stashed for backward, all micro-batches in flight
  Bytes logits = Bytes::Zero();            // fp32, of one micro-batch
  Bytes logits_gradient = Bytes::Zero();
  Bytes logits_copy = Bytes::Zero();     // at the compute precision, at 16 bit only
  Bytes working_set = Bytes::Zero();     // temporaries of the layer that is running
  Bytes optimizer_step = Bytes::Zero();  // temporaries of the step, which runs tensor by tensor
  Bytes communication = Bytes::Zero();   // boundary and bucket buffers
  Bytes allocator_slack = Bytes::Zero();
  Bytes framework = Bytes::Zero();
  bool is_measured = false;  // the activations
  Bytes Total() const;
};

// What one micro-batch keeps of a layer on a rank, where it was measured.
struct MeasuredActivations {
  std::optional<Bytes> embedding;
  std::optional<Bytes> block;
  std::optional<Bytes> head;
};

// Measured activations replace the formula for stages that recompute nothing; what the running layer needs besides is
// then its own activations once more.
MemoryBreakdown ComputeMemory(const ir::Model& model, const ir::Job& job, const ir::Gpu& gpu, const MemoryShape& shape,
                              const MeasuredActivations& measured = {});

// Parameters that a rank holds of layers first..last; a tied word embedding that it holds as embedding and as head is
// one copy.
int64_t ParametersOfStage(const ir::Model& model, int first_layer, int last_layer, int tensor, int vocab_multiple);

// What a rank's memory must not exceed: usable memory times the job's limit.
Bytes MemoryLimitOf(const ir::Gpu& gpu, const ir::Job& job);

// The breakdown as rows of the report; rows of zero bytes are left out.
std::vector<ir::MemoryTerm> MemoryTerms(const MemoryBreakdown& memory);

}  // namespace sail::sim
