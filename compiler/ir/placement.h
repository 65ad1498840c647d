// What follows from a plan: ranks, and which ranks sum which gradients.
#pragma once

#include <string>
#include <vector>

#include "compiler/base/ids.h"
#include "compiler/ir/model.h"
#include "compiler/ir/plan.h"

namespace sail::ir {

SAIL_DEFINE_ID(Rank);

// One worker process, one GPU. Ranks are numbered by (pool, node, local gpu).
struct RankPlace {
  PoolId pool = PoolId(-1);
  int node = 0;
  int gpu = 0;
  int pipeline = 0;     // index into plan.pipelines
  int stage = 0;        // index into its stages
  int tensor_rank = 0;  // index into its tensor group
};

class Placement {
 public:
  // Requires a plan that uses no GPU twice.
  explicit Placement(const Plan& plan);

  int rank_count() const { return static_cast<int>(ranks_.size()); }
  const RankPlace& place(Rank rank) const { return ranks_[rank.index()]; }
  Rank rank(int pipeline, int stage, int tensor_rank) const { return by_stage_[pipeline][stage][tensor_rank]; }
  const std::vector<Rank>& tensor_group(int pipeline, int stage) const { return by_stage_[pipeline][stage]; }
  // The stage of `pipeline` that holds `layer`.
  int StageOf(const Plan& plan, int pipeline, int layer) const;

 private:
  std::vector<RankPlace> ranks_;
  std::vector<std::vector<std::vector<Rank>>> by_stage_;  // [pipeline][stage][tensor rank]
};

// A parameter set that is summed together: all of a layer, except that tied word embeddings belong to a group of their
// own.
enum class GradientScope {
  kLayerSharded,     // the layer's tensor-sharded parameters, tied word embedding excluded
  kLayerReplicated,  // the layer's parameters that each tensor rank holds whole: one owner per pipeline (tensor rank 0)
  kTiedEmbedding,    // the word embedding held by the embedding layer and by a tied head
};

// One sum-all-reduce. Owner i contributes and receives slice `slice` of `slices` equal slices of its own tensor shard:
// with T = `shards` and a tensor degree t, a rank owns T/t consecutive shards.
//   shard k belongs to tensor rank floor(k·t/T), as its slice k mod (T/t) of T/t.
struct GradientOwner {
  Rank rank = Rank(-1);
  int slice = 0;
  int slices = 1;
  friend bool operator==(const GradientOwner&, const GradientOwner&) = default;
};
struct GradientGroup {
  GradientScope scope = GradientScope::kLayerSharded;
  int layer = 0;   // the embedding layer for kTiedEmbedding
  int shard = 0;   // k
  int shards = 1;  // T = the largest degree with which a pipeline holds the layer (both layers for tied)
  std::vector<GradientOwner> owners;  // ascending rank; a rank appears once even if it holds both tied layers
};

// All gradient groups in canonical order (layer, scope, shard), those with a single owner included (they need no
// communication but are still parameters). A rank that holds embedding and tied head at once owns the shard once: it
// has one copy of the weight. Complexity O(layers · pipelines · T).
std::vector<GradientGroup> GradientGroups(const Model& model, const Plan& plan, const Placement& placement);

// T of the layer's gradient groups: the vocabulary is padded to a multiple of it.
int ShardCount(const Model& model, const Plan& plan, int layer);

}  // namespace sail::ir
