#include "runtime/model/gpt.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ATen/ops/baddbmm.h"
#include "ATen/ops/bmm.h"
#include "ATen/ops/embedding.h"
#include "ATen/ops/full.h"
#include "ATen/ops/gelu.h"
#include "ATen/ops/layer_norm.h"
#include "ATen/ops/linear.h"
#include "ATen/ops/relu.h"
#include "ATen/ops/softmax.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/check.h"
#include "runtime/model/collectives.h"

namespace sail::rt {
namespace {

constexpr double kNormEpsilon = 1e-5;  // of every model of the family

}  // namespace

GptStage::GptStage(const ir::Model& model, const StageShape& shape, uint64_t seed, at::ScalarType type,
                   Communicator* group)
    : model_(model), shape_(shape), group_(group) {
  for (int layer = shape.first_layer; layer <= shape.last_layer; ++layer) {
    for (ParameterSpec& spec : ParametersOfLayer(model, layer)) {
      const bool is_held = std::any_of(parameters_.begin(), parameters_.end(),
                                       [&](const Parameter& held) { return held.spec.name == spec.name; });
      if (is_held) continue;
      parameters_.push_back(
          MakeParameter(std::move(spec), seed, shape.degree, shape.tensor_rank, shape.shards[layer], type));
    }
  }
  causal_mask_ = at::full({model.seq_len, model.seq_len}, -std::numeric_limits<double>::infinity(), type).triu_(1);
}

const Parameter& GptStage::Find(const std::string& name) const {
  for (const Parameter& parameter : parameters_) {
    if (parameter.spec.name == name) return parameter;
  }
  SAIL_CHECK(false) << "no parameter " << name;
}

const at::Tensor& GptStage::Value(const std::string& name) const { return Find(name).value; }

at::Tensor GptStage::Norm(const at::Tensor& input, const std::string& name) const {
  return at::layer_norm(input, {model_.hidden}, Value(name + ".weight"), Value(name + ".bias"), kNormEpsilon);
}

// Each rank looks up the words it holds; the others' rows are zero, so the sum is the row.
at::Tensor GptStage::Embed(const at::Tensor& tokens) const {
  const Parameter& table = Find("wte.weight");
  const at::Tensor row = tokens.sub(table.first);
  const at::Tensor elsewhere = row.lt(0).logical_or_(row.ge(table.value.size(0)));
  const at::Tensor words =
      at::embedding(table.value, row.masked_fill(elsewhere, 0)).masked_fill(elsewhere.unsqueeze(2), 0);
  // A table that is longer than the samples is OPT's, which leaves its first rows unused (runtime/bundle/trainable.h
  // admits no other).
  const at::Tensor positions = Value("wpe.weight").narrow(0, model_.position_rows - model_.seq_len, model_.seq_len);
  return SumOverGroup(words, group_).add(positions.unsqueeze(1));
}

// Causal attention over this rank's heads, projected back to [s, b, h]: a part of the sum over the group.
at::Tensor GptStage::Attend(const at::Tensor& input, const std::string& prefix) const {
  const int64_t s = input.size(0);
  const int64_t b = input.size(1);
  const int64_t width = model_.hidden / shape_.degree;
  const int64_t head_width = model_.hidden / model_.heads;
  const int64_t rows = b * (width / head_width);  // one for each sample and head
  const at::Tensor bias = model_.qkv_bias ? Value(prefix + "qkv.bias").view({3 * width}) : at::Tensor();
  const at::Tensor qkv = at::linear(input, Value(prefix + "qkv.weight").view({3 * width, model_.hidden}), bias);
  const auto part = [&](int64_t i) {  // [rows, s, head_width]
    return qkv.narrow(2, i * width, width).reshape({s, rows, head_width}).transpose(0, 1);
  };
  const at::Tensor scores = at::baddbmm(causal_mask_.unsqueeze(0), part(0), part(1).transpose(1, 2), /*beta=*/1,
                                        /*alpha=*/1 / std::sqrt(static_cast<double>(head_width)));
  const at::Tensor mixed = at::bmm(at::softmax(scores, -1), part(2)).transpose(0, 1).reshape({s, b, width});
  return at::linear(mixed, Value(prefix + "proj.weight"));
}

at::Tensor GptStage::Block(const at::Tensor& input, int block) const {
  const std::string prefix = absl::StrCat("h.", block, ".");
  const at::Tensor attention = Attend(CopyToGroup(Norm(input, prefix + "ln_1"), group_), prefix + "attn.");
  const at::Tensor middle = SumOverGroup(attention, group_).add(Value(prefix + "attn.proj.bias")).add(input);

  const at::Tensor up = at::linear(CopyToGroup(Norm(middle, prefix + "ln_2"), group_), Value(prefix + "mlp.up.weight"),
                                   Value(prefix + "mlp.up.bias"));
  // GPT-2's gelu is the tanh form.
  const at::Tensor active = model_.activation == ir::Activation::kGelu ? at::gelu(up, "tanh") : at::relu(up);
  const at::Tensor down = at::linear(active, Value(prefix + "mlp.down.weight"));
  return SumOverGroup(down, group_).add(Value(prefix + "mlp.down.bias")).add(middle);
}

at::Tensor GptStage::Head(const at::Tensor& input, const at::Tensor& targets) const {
  const Parameter& table = Find(model_.tied_head ? "wte.weight" : "lm_head.weight");
  const int64_t columns = table.value.size(0);
  const at::Tensor states = CopyToGroup(Norm(input, "ln_f"), group_);
  const at::Tensor logits = at::linear(states, table.value).view({-1, columns});
  const int64_t real = std::clamp(model_.vocab - table.first, int64_t{0}, columns);
  return CrossEntropySum(logits, targets.reshape({-1}), table.first, real, group_);
}

at::Tensor GptStage::Forward(const at::Tensor& input, const at::Tensor& targets) const {
  at::Tensor state = input;
  for (int layer = shape_.first_layer; layer <= shape_.last_layer; ++layer) {
    switch (model_.kind(layer)) {
      case ir::LayerKind::kEmbedding:
        state = Embed(state);
        break;
      case ir::LayerKind::kBlock:
        state = Block(state, layer - 1);
        break;
      case ir::LayerKind::kHead:
        state = Head(state, targets);
        break;
    }
  }
  return state;
}

}  // namespace sail::rt
