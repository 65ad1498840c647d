// The layers of one pipeline stage of a gpt model, as one tensor rank holds them.
//
// Activations are [sequence, micro-batch, hidden]: with the sequence first, a slice of it is contiguous, which is what
// stages of different tensor degree exchange. They are the same on every rank of the tensor group.
#pragma once

#include <string>
#include <vector>

#include "ATen/core/Tensor.h"
#include "compiler/ir/model.h"
#include "runtime/comm/communicator.h"
#include "runtime/model/parameter.h"

namespace sail::rt {

struct StageShape {
  int first_layer = 0;  // inclusive
  int last_layer = 0;   // inclusive
  int degree = 1;
  int tensor_rank = 0;
  std::vector<int> shards;  // by layer of the model: ir::ShardCount, to which the vocabulary is padded
};

class GptStage {
 public:
  // `group` is the tensor group, null when the degree is one; it must outlive the stage. `type` is kFloat or kDouble.
  GptStage(const ir::Model& model, const StageShape& shape, uint64_t seed, at::ScalarType type, Communicator* group);

  // input    the first stage: tokens [s, b] int64; others: activation [s, b, h]
  // targets  tokens [s, b] int64, read by the last stage alone
  // returns  the last stage: sum over tokens of the cross entropy, a scalar; others: activation [s, b, h]
  // Collectives: two all-reduces per block, one in the embedding, two in the loss. Errors: see collectives.h.
  at::Tensor Forward(const at::Tensor& input, const at::Tensor& targets) const;

  // Layer order; a tied word table appears once.
  std::vector<Parameter>& parameters() { return parameters_; }

 private:
  const at::Tensor& Value(const std::string& name) const;
  const Parameter& Find(const std::string& name) const;
  at::Tensor Norm(const at::Tensor& input, const std::string& name) const;
  at::Tensor Embed(const at::Tensor& tokens) const;
  at::Tensor Attend(const at::Tensor& input, const std::string& prefix) const;
  at::Tensor Block(const at::Tensor& input, int block) const;
  at::Tensor Head(const at::Tensor& input, const at::Tensor& targets) const;

  ir::Model model_;
  StageShape shape_;
  Communicator* group_;
  std::vector<Parameter> parameters_;
  at::Tensor causal_mask_;  // [s, s]: 0 where a token may look, -inf where not
};

}  // namespace sail::rt
