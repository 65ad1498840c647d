#include "planner/node_state.h"

#include <algorithm>

#include "planner/membership.h"

namespace sail::planner {
namespace {

constexpr int kFp32Bytes = 4;

// Sorts and joins what overlaps or touches.
void Tidy(Pieces& pieces) {
  std::sort(pieces.begin(), pieces.end());
  size_t kept = 0;
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].begin == pieces[i].end) continue;
    if (kept > 0 && pieces[kept - 1].space == pieces[i].space && pieces[kept - 1].end >= pieces[i].begin) {
      pieces[kept - 1].end = std::max(pieces[kept - 1].end, pieces[i].end);
    } else {
      pieces[kept++] = pieces[i];
    }
  }
  pieces.resize(kept);
}

Pieces Without(const Pieces& pieces, const Pieces& taken) {
  Pieces left;
  size_t t = 0;
  for (Piece piece : pieces) {
    while (t < taken.size() &&
           (taken[t].space < piece.space || (taken[t].space == piece.space && taken[t].end <= piece.begin))) {
      ++t;
    }
    for (size_t i = t; i < taken.size() && taken[i].space == piece.space && taken[i].begin < piece.end; ++i) {
      if (taken[i].begin > piece.begin) left.push_back({piece.space, piece.begin, taken[i].begin});
      piece.begin = std::min(piece.end, taken[i].end);
    }
    if (piece.begin < piece.end) left.push_back(piece);
  }
  return left;
}

double Count(const Pieces& pieces) {
  int64_t parameters = 0;
  for (const Piece& piece : pieces) parameters += piece.end - piece.begin;
  return static_cast<double>(parameters);
}

}  // namespace

StateSpaces::StateSpaces(const ir::Problem& problem) : is_tied_(problem.model.tied_head) {
  const ir::Model& model = problem.model;
  layers_ = model.layer_count();
  for (int layer = 0; layer < layers_; ++layer) {
    const ir::LayerParameters parameters = ir::ParametersOnRank(model, model.kind(layer), 1, 1);
    const bool is_table_elsewhere = is_tied_ && model.kind(layer) != ir::LayerKind::kBlock;
    sizes_.push_back(is_table_elsewhere ? parameters.replicated : parameters.total());
  }
  if (is_tied_) sizes_.push_back(ir::ParametersOnRank(model, ir::LayerKind::kEmbedding, 1, 1).sharded);
  const int element = ir::BytesPerElement(problem.job.precision);
  has_masters_ = element < kFp32Bytes;
  weight_bytes_ = element;
  optimizer_bytes_ = 2 * std::max(element, kFp32Bytes) + (has_masters_ ? kFp32Bytes : 0);
}

std::vector<int> StateSpaces::Of(int first_layer, int last_layer) const {
  std::vector<int> spaces;
  for (int layer = first_layer; layer <= last_layer; ++layer) spaces.push_back(layer);
  if (is_tied_ && (first_layer == 0 || last_layer == layers_ - 1)) spaces.push_back(layers_);
  return spaces;
}

std::vector<NodeState> StateSpaces::Of(const ir::Plan& plan, const std::vector<int>& offsets) const {
  std::vector<NodeState> nodes(offsets.back());
  const auto pipelines = static_cast<int64_t>(plan.pipelines.size());
  const bool is_sliced = plan.optimizer_sharding == ir::OptimizerSharding::kZero1;
  for (int64_t p = 0; p < pipelines; ++p) {
    for (const ir::Stage& stage : plan.pipelines[p].stages) {
      if (stage.group.node == kNoNode) continue;
      NodeState& node = nodes[offsets[stage.group.pool.index()] + stage.group.node];
      for (const int space : Of(stage.first_layer, stage.last_layer)) {
        const int64_t size = sizes_[space];
        node.weights.push_back({space, 0, size});
        node.optimizer.push_back(is_sliced ? Piece{space, size * p / pipelines, size * (p + 1) / pipelines}
                                           : Piece{space, 0, size});
      }
    }
  }
  for (NodeState& node : nodes) {
    Tidy(node.weights);
    Tidy(node.optimizer);
  }
  return nodes;
}

NodeState StateSpaces::Missing(const NodeState& need, const NodeState& have) const {
  NodeState missing{.weights = Without(need.weights, have.weights),
                    .optimizer = Without(need.optimizer, have.optimizer)};
  if (has_masters_) missing.weights = Without(Without(missing.weights, need.optimizer), have.optimizer);
  return missing;
}

double StateSpaces::Bytes(const NodeState& state) const {
  return weight_bytes_ * Count(state.weights) + optimizer_bytes_ * Count(state.optimizer);
}

std::vector<int> NodeOffsets(const ir::Cluster& cluster) {
  std::vector<int> offsets = {0};
  for (const ir::Pool& pool : cluster.pools) offsets.push_back(offsets.back() + pool.quota);
  return offsets;
}

}  // namespace sail::planner
