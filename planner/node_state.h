// What nodes hold of the training state: parameters and what the optimizer keeps of them.
//
// The GPUs of a tensor group share a node, so a node that has a stage has its layers whole; how they are cut into
// shards inside the node is no matter of moving between nodes. State is counted in parameters of spaces:
//   one space for each layer, its own parameters, the vocabulary not padded;
//   one for a tied word embedding, which the embedding and the head both hold.
// Each parameter has a weight, at the job's precision, and optimizer state: two moments in fp32 or wider and, at 16
// bit, an fp32 master weight, of which the 16-bit weight is a copy that need not be moved. Under ZeRO-1 the i-th of n
// pipelines keeps the optimizer state of the i-th of n equal slices of each space that it holds.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "compiler/ir/plan.h"
#include "compiler/ir/problem.h"

namespace sail::planner {

struct Piece {
  int space = 0;
  int64_t begin = 0;  // parameters of the space
  int64_t end = 0;
  friend auto operator<=>(const Piece&, const Piece&) = default;
};
using Pieces = std::vector<Piece>;  // ascending, disjoint

struct NodeState {
  Pieces weights;
  Pieces optimizer;
  friend auto operator<=>(const NodeState&, const NodeState&) = default;
};

class StateSpaces {
 public:
  explicit StateSpaces(const ir::Problem& problem);

  int count() const { return static_cast<int>(sizes_.size()); }
  double weight_bytes() const { return weight_bytes_; }        // of one parameter
  double optimizer_bytes() const { return optimizer_bytes_; }  // of one parameter
  // Spaces of layers first..last, ascending.
  std::vector<int> Of(int first_layer, int last_layer) const;
  int64_t size(int space) const { return sizes_[space]; }

  // By node, [offsets[pool] + node] with `offsets` from NodeOffsets; stages on kNoNode belong to none.
  std::vector<NodeState> Of(const ir::Plan& plan, const std::vector<int>& offsets) const;

  // What `need` lacks when `have` is there. Weights are not missing where the node has or gets their masters.
  NodeState Missing(const NodeState& need, const NodeState& have) const;
  double Bytes(const NodeState& state) const;

 private:
  int layers_ = 0;
  bool is_tied_ = false;
  bool has_masters_ = false;
  double weight_bytes_ = 0;
  double optimizer_bytes_ = 0;
  std::vector<int64_t> sizes_;
};

// Nodes of all pools in a row: where each pool begins, and, last, how many there are.
std::vector<int> NodeOffsets(const ir::Cluster& cluster);

}  // namespace sail::planner
