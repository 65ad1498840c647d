#include "tests/support/reference_gpt.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "ATen/TensorOperators.h"
#include "ATen/ops/empty.h"
#include "ATen/ops/log_softmax.h"
#include "ATen/ops/matmul.h"
#include "ATen/ops/ones.h"
#include "ATen/ops/softmax.h"
#include "ATen/ops/zeros_like.h"
#include "absl/strings/str_cat.h"
#include "runtime/model/parameter_spec.h"

namespace sail::test {

ReferenceGpt::ReferenceGpt(const ir::Model& model, uint64_t seed, at::ScalarType type) : model_(model) {
  for (int layer = 0; layer < model.layer_count(); ++layer) {
    for (const rt::ParameterSpec& spec : rt::ParametersOfLayer(model, layer)) {
      const rt::InitialValues initial(spec, seed);
      at::Tensor values = at::empty(spec.shape, at::kDouble);
      for (int64_t i = 0; i < values.numel(); ++i) values.data_ptr<double>()[i] = initial.At(i);
      parameters_[spec.name] = values.to(type).requires_grad_();  // a tied head repeats the name and the values
      first_[spec.name] = at::zeros_like(parameters_[spec.name].detach());
      second_[spec.name] = first_[spec.name].clone();
    }
  }
}

at::Tensor ReferenceGpt::Norm(const at::Tensor& x, const std::string& name) const {
  const at::Tensor centred = x - x.mean(-1, true);
  const at::Tensor variance = centred.square().mean(-1, true);
  return centred / (variance + 1e-5).sqrt() * parameters_.at(name + ".weight") + parameters_.at(name + ".bias");
}

at::Tensor ReferenceGpt::Attention(const at::Tensor& x, const std::string& prefix) const {
  const int64_t batch = x.size(0), length = x.size(1), h = model_.hidden;
  const at::Tensor& weight = parameters_.at(prefix + "qkv.weight");
  std::vector<at::Tensor> qkv;  // each [batch, heads, length, width]
  for (int64_t i = 0; i < 3; ++i) {
    at::Tensor y = at::matmul(x, weight[i].t());
    if (model_.qkv_bias) y = y + parameters_.at(prefix + "qkv.bias")[i];
    qkv.push_back(y.view({batch, length, model_.heads, h / model_.heads}).permute({0, 2, 1, 3}));
  }
  at::Tensor scores = at::matmul(qkv[0], qkv[1].transpose(2, 3)) / std::sqrt(static_cast<double>(h / model_.heads));
  const at::Tensor future = at::ones({length, length}, at::kBool).triu(1);
  scores = scores.masked_fill(future, -std::numeric_limits<double>::infinity());
  const at::Tensor mixed =
      at::matmul(at::softmax(scores, -1), qkv[2]).permute({0, 2, 1, 3}).reshape({batch, length, h});
  return at::matmul(mixed, parameters_.at(prefix + "proj.weight").t()) + parameters_.at(prefix + "proj.bias");
}

at::Tensor ReferenceGpt::Mlp(const at::Tensor& x, const std::string& prefix) const {
  at::Tensor y = at::matmul(x, parameters_.at(prefix + "up.weight").t()) + parameters_.at(prefix + "up.bias");
  if (model_.activation == ir::Activation::kGelu) {  // Hendrycks and Gimpel 2016, tanh form
    y = 0.5 * y * (1 + ((y + 0.044715 * y * y * y) * std::sqrt(2 / std::numbers::pi)).tanh());
  } else {
    y = y.clamp_min(0);
  }
  return at::matmul(y, parameters_.at(prefix + "down.weight").t()) + parameters_.at(prefix + "down.bias");
}

at::Tensor ReferenceGpt::Loss(const at::Tensor& tokens) const {
  const int64_t s = model_.seq_len;
  const at::Tensor inputs = tokens.slice(1, 0, s);
  const at::Tensor targets = tokens.slice(1, 1, s + 1);
  const at::Tensor& words = parameters_.at("wte.weight");
  at::Tensor x = words.index_select(0, inputs.reshape({-1})).view({inputs.size(0), s, model_.hidden}) +
                 parameters_.at("wpe.weight").slice(0, model_.position_rows - s);
  for (int block = 0; block < model_.blocks; ++block) {
    const std::string prefix = absl::StrCat("h.", block, ".");
    x = x + Attention(Norm(x, prefix + "ln_1"), prefix + "attn.");
    x = x + Mlp(Norm(x, prefix + "ln_2"), prefix + "mlp.");
  }
  const at::Tensor& head = model_.tied_head ? words : parameters_.at("lm_head.weight");
  const at::Tensor log_probabilities = at::log_softmax(at::matmul(Norm(x, "ln_f"), head.t()), -1);
  return -log_probabilities.gather(2, targets.unsqueeze(2)).mean();
}

double ReferenceGpt::Step(const at::Tensor& tokens, const ir::AdamW& options) {
  for (auto& [name, value] : parameters_) value.mutable_grad().reset();
  const at::Tensor loss = Loss(tokens);
  loss.backward();
  ++step_;
  for (auto& [name, parameter] : parameters_) {
    at::Tensor value = parameter.detach();  // shares the storage, outside the graph
    const at::Tensor gradient = parameter.grad();
    // Norms and biases do not decay; "matrix" means everything that multiplies.
    const bool decays =
        name.find(".ln_") == std::string::npos && name.rfind("ln_f", 0) != 0 && !name.ends_with(".bias");
    if (decays) value.mul_(1 - options.learning_rate * options.weight_decay);
    first_[name].mul_(options.beta1).add_(gradient, 1 - options.beta1);
    second_[name].mul_(options.beta2).addcmul_(gradient, gradient, 1 - options.beta2);
    const at::Tensor m = first_[name] / (1 - std::pow(options.beta1, step_));
    const at::Tensor v = second_[name] / (1 - std::pow(options.beta2, step_));
    value.sub_(options.learning_rate * m / (v.sqrt() + options.epsilon));
  }
  return loss.item<double>();
}

}  // namespace sail::test
