#include "compiler/ir/placement.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "compiler/base/check.h"

namespace sail::ir {

Placement::Placement(const Plan& plan) {
  for (int p = 0; p < static_cast<int>(plan.pipelines.size()); ++p) {
    const Pipeline& pipeline = plan.pipelines[p];
    for (int s = 0; s < static_cast<int>(pipeline.stages.size()); ++s) {
      const TensorGroup& group = pipeline.stages[s].group;
      for (int t = 0; t < group.degree(); ++t) {
        ranks_.push_back({.pool = group.pool,
                          .node = group.node,
                          .gpu = group.gpus[t],
                          .pipeline = p,
                          .stage = s,
                          .tensor_rank = t});
      }
    }
  }
  const auto device = [](const RankPlace& place) { return std::tie(place.pool, place.node, place.gpu); };
  std::sort(ranks_.begin(), ranks_.end(), [&](const auto& a, const auto& b) { return device(a) < device(b); });

  by_stage_.resize(plan.pipelines.size());
  for (size_t p = 0; p < plan.pipelines.size(); ++p) {
    for (const Stage& stage : plan.pipelines[p].stages) {
      by_stage_[p].emplace_back(stage.group.gpus.size(), Rank(-1));
    }
  }
  for (int rank = 0; rank < rank_count(); ++rank) {
    const RankPlace& place = ranks_[rank];
    SAIL_CHECK(rank == 0 || device(ranks_[rank - 1]) < device(place)) << "a GPU is used twice";
    by_stage_[place.pipeline][place.stage][place.tensor_rank] = Rank(rank);
  }
}

int Placement::StageOf(const Plan& plan, int pipeline, int layer) const {
  const std::vector<Stage>& stages = plan.pipelines[pipeline].stages;
  for (int s = 0; s < static_cast<int>(stages.size()); ++s) {
    if (layer >= stages[s].first_layer && layer <= stages[s].last_layer) return s;
  }
  SAIL_CHECK(false) << "no stage of pipeline " << pipeline << " holds layer " << layer;
}

namespace {

int DegreeOf(const Plan& plan, const Placement& placement, int pipeline, int layer) {
  return plan.pipelines[pipeline].stages[placement.StageOf(plan, pipeline, layer)].group.degree();
}

int LargestDegree(const Plan& plan, const Placement& placement, int layer) {
  int largest = 1;
  for (int p = 0; p < static_cast<int>(plan.pipelines.size()); ++p) {
    largest = std::max(largest, DegreeOf(plan, placement, p, layer));
  }
  return largest;
}

bool HoldsTiedWeight(const Model& model, int layer) {
  return model.tied_head && model.kind(layer) != LayerKind::kBlock;
}

// The owners of shard k of T over every pipeline's copy of each of `layers`, one entry per rank.
std::vector<GradientOwner> ShardOwners(const Plan& plan, const Placement& placement, const std::vector<int>& layers,
                                       int shard, int shards) {
  std::map<Rank, GradientOwner> owners;
  for (int p = 0; p < static_cast<int>(plan.pipelines.size()); ++p) {
    for (const int layer : layers) {
      const int stage = placement.StageOf(plan, p, layer);
      const int degree = plan.pipelines[p].stages[stage].group.degree();
      const int per_rank = shards / degree;
      const Rank rank = placement.rank(p, stage, shard / per_rank);
      owners.insert({rank, {.rank = rank, .slice = shard % per_rank, .slices = per_rank}});
    }
  }
  std::vector<GradientOwner> sorted;
  for (const auto& [rank, owner] : owners) sorted.push_back(owner);
  return sorted;
}

}  // namespace

int ShardCount(const Model& model, const Plan& plan, int layer) {
  const Placement placement(plan);
  if (!HoldsTiedWeight(model, layer)) return LargestDegree(plan, placement, layer);
  return std::max(LargestDegree(plan, placement, 0), LargestDegree(plan, placement, model.layer_count() - 1));
}

std::vector<GradientGroup> GradientGroups(const Model& model, const Plan& plan, const Placement& placement) {
  std::vector<GradientGroup> groups;
  for (int layer = 0; layer < model.layer_count(); ++layer) {
    const bool tied = HoldsTiedWeight(model, layer);
    // 1. Sharded parameters; of a tied layer nothing is left but the word embedding, which has its own group.
    if (!tied) {
      const int shards = LargestDegree(plan, placement, layer);
      for (int k = 0; k < shards; ++k) {
        groups.push_back({.scope = GradientScope::kLayerSharded,
                          .layer = layer,
                          .shard = k,
                          .shards = shards,
                          .owners = ShardOwners(plan, placement, {layer}, k, shards)});
      }
    }
    // 2. Replicated parameters: tensor rank 0 of each pipeline owns them, which is where shard 0 of 1 lands.
    if (ParametersOnRank(model, model.kind(layer), 1, 1).replicated > 0) {
      GradientGroup group{.scope = GradientScope::kLayerReplicated, .layer = layer, .owners = {}};
      for (int p = 0; p < static_cast<int>(plan.pipelines.size()); ++p) {
        group.owners.push_back({.rank = placement.rank(p, placement.StageOf(plan, p, layer), 0)});
      }
      std::sort(group.owners.begin(), group.owners.end(),
                [](const GradientOwner& a, const GradientOwner& b) { return a.rank < b.rank; });
      groups.push_back(std::move(group));
    }
    // 3. The tied word embedding, once, under the embedding layer.
    if (tied && layer == 0) {
      const int head = model.layer_count() - 1;
      const int shards = std::max(LargestDegree(plan, placement, 0), LargestDegree(plan, placement, head));
      for (int k = 0; k < shards; ++k) {
        groups.push_back({.scope = GradientScope::kTiedEmbedding,
                          .layer = 0,
                          .shard = k,
                          .shards = shards,
                          .owners = ShardOwners(plan, placement, {0, head}, k, shards)});
      }
    }
  }
  return groups;
}

}  // namespace sail::ir
