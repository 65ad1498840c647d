// A gpt model and AdamW as one would write them for one process: whole tensors, the whole batch at once, plain ATen and
// autograd. It shares with the runtime what defines the function to compute (names and shapes of parameters, their
// initial values, the order of samples) and none of the code that computes it.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "ATen/core/Tensor.h"
#include "compiler/ir/job.h"
#include "compiler/ir/model.h"

namespace sail::test {

class ReferenceGpt {
 public:
  ReferenceGpt(const ir::Model& model, uint64_t seed, at::ScalarType type);

  // tokens [batch, seq_len + 1]. Mean loss before the update; leaves the gradients in place.
  double Step(const at::Tensor& tokens, const ir::AdamW& options);

  // By name, whole and without padding; the gradients of the last step are their grad().
  const std::map<std::string, at::Tensor>& parameters() const { return parameters_; }

 private:
  at::Tensor Loss(const at::Tensor& tokens) const;
  at::Tensor Norm(const at::Tensor& x, const std::string& name) const;
  at::Tensor Attention(const at::Tensor& x, const std::string& prefix) const;
  at::Tensor Mlp(const at::Tensor& x, const std::string& prefix) const;

  ir::Model model_;
  std::map<std::string, at::Tensor> parameters_;
  std::map<std::string, at::Tensor> first_, second_;  // moments
  int step_ = 0;
};

}  // namespace sail::test
