// Collectives inside an autograd graph, for layers that a tensor group shares (Shoeybi et al. 2019, "f" and "g").
//
// `group` is null for a tensor degree of one; then nothing is moved. A graph cannot return a status: when a collective
// fails, the tensor keeps this rank's part, and the caller looks at group->status() before it uses any result.
#pragma once

#include "ATen/core/Tensor.h"
#include "runtime/comm/communicator.h"

namespace sail::rt {

// f: forward the same tensor; backward the sum of the members' gradients. Before a column-parallel layer.
at::Tensor CopyToGroup(const at::Tensor& input, Communicator* group);

// g: forward the sum of the members' tensors; backward the same gradient. After a row-parallel layer.
at::Tensor SumOverGroup(const at::Tensor& partial, Communicator* group);

// Sum over tokens of the cross entropy, the vocabulary divided among the group.
//   logits   [tokens, columns]: this rank's columns, the first of which is word `first_column`
//   targets  [tokens] int64, words of the whole vocabulary
//   real_columns  how many of the columns are words; the rest is padding and takes no part
// returns a scalar, the same on every member. Two collectives: the maximum, and (sum of exponentials, target's logit).
at::Tensor CrossEntropySum(const at::Tensor& logits, const at::Tensor& targets, int64_t first_column,
                           int64_t real_columns, Communicator* group);

}  // namespace sail::rt
