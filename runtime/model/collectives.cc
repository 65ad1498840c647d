#include "runtime/model/collectives.h"

#include <limits>

#include "ATen/ops/empty.h"
#include "torch/csrc/autograd/custom_function.h"

namespace sail::rt {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

// The graph stores plain values only, so the group travels as an integer. It outlives every graph.
void SaveGroup(AutogradContext* context, Communicator* group) {
  context->saved_data["group"] = reinterpret_cast<int64_t>(group);
}
Communicator* SavedGroup(AutogradContext* context) {
  return reinterpret_cast<Communicator*>(context->saved_data["group"].toInt());
}

// A copy, because autograd may still use the tensor elsewhere. A failure is sticky in the group.
at::Tensor SummedCopy(const at::Tensor& tensor, Communicator* group) {
  at::Tensor sum = tensor.clone(at::MemoryFormat::Contiguous);
  group->AllReduce(sum, Reduction::kSum).IgnoreError();
  return sum;
}

struct CopyToGroupFunction : Function<CopyToGroupFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input, Communicator* group) {
    SaveGroup(context, group);
    return input.view_as(input);
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    return {SummedCopy(gradients[0], SavedGroup(context)), at::Tensor()};
  }
};

struct SumOverGroupFunction : Function<SumOverGroupFunction> {
  static at::Tensor forward(AutogradContext*, const at::Tensor& partial, Communicator* group) {
    return SummedCopy(partial, group);
  }
  static variable_list backward(AutogradContext*, variable_list gradients) { return {gradients[0], at::Tensor()}; }
};

// With m the maximum and p the softmax over the whole vocabulary:
//   loss = Σ_tokens log Σ exp(x - m) - (x_target - m)      dloss/dx = p - 1[target]
struct CrossEntropyFunction : Function<CrossEntropyFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& logits, const at::Tensor& targets,
                            int64_t first_column, int64_t real_columns, Communicator* group) {
    const int64_t columns = logits.size(1);
    at::Tensor probabilities = logits.clone(at::MemoryFormat::Contiguous);
    probabilities.narrow(1, real_columns, columns - real_columns).fill_(-std::numeric_limits<double>::infinity());

    // 1. Subtract the maximum of the whole row; it is finite, as the vocabulary is not empty.
    at::Tensor maximum = probabilities.amax(1, /*keepdim=*/true);
    if (group != nullptr) group->AllReduce(maximum, Reduction::kMax).IgnoreError();
    probabilities.sub_(maximum);

    // 2. The target's logit on the rank that holds it, zero elsewhere; and the sum of exponentials.
    const at::Tensor column = targets.sub(first_column).unsqueeze(1);
    const at::Tensor elsewhere = column.lt(0).logical_or_(column.ge(columns));
    const at::Tensor index = column.masked_fill(elsewhere, 0);
    at::Tensor sums = at::empty({2, logits.size(0), 1}, logits.options());
    sums[0].copy_(probabilities.gather(1, index).masked_fill_(elsewhere, 0));
    probabilities.exp_();
    sums[1].copy_(probabilities.sum(1, /*keepdim=*/true));
    if (group != nullptr) group->AllReduce(sums, Reduction::kSum).IgnoreError();

    probabilities.div_(sums[1]);
    context->save_for_backward({probabilities, index, elsewhere});
    return sums[1].log().sub_(sums[0]).sum();
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor& index = saved[1];
    at::Tensor gradient = saved[0].mul(gradients[0]);
    const at::Tensor at_target = gradients[0].neg().expand(index.sizes()).masked_fill(saved[2], 0);
    gradient.scatter_add_(1, index, at_target);
    return {gradient, at::Tensor(), at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor CopyToGroup(const at::Tensor& input, Communicator* group) {
  return group == nullptr ? input : CopyToGroupFunction::apply(input, group);
}

at::Tensor SumOverGroup(const at::Tensor& partial, Communicator* group) {
  return group == nullptr ? partial : SumOverGroupFunction::apply(partial, group);
}

at::Tensor CrossEntropySum(const at::Tensor& logits, const at::Tensor& targets, int64_t first_column,
                           int64_t real_columns, Communicator* group) {
  return CrossEntropyFunction::apply(logits, targets, first_column, real_columns, group);
}

}  // namespace sail::rt
