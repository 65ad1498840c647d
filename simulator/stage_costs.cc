#include "simulator/stage_costs.h"

#include <algorithm>

#include "compiler/ir/names.h"

namespace sail::sim {
namespace {

constexpr int kKinds = 3;

// Numbers the marked values 0, 1, … in ascending order; returns how many there are.
int NumberMarked(std::vector<int>& index) {
  int count = 0;
  for (int& entry : index) entry = entry == 0 ? count++ : -1;
  return count;
}

void Mark(std::vector<int>& index, int value) {
  if (static_cast<int>(index.size()) <= value) index.resize(value + 1, -1);
  index[value] = 0;
}

}  // namespace

StageCosts::StageCosts(const ir::Problem& problem) : problem_(problem) {
  for (const auto& [key, time] : problem.profile.times()) {
    Mark(tensor_index_, key.tensor);
    Mark(micro_index_, key.micro_batch);
  }
  tensor_count_ = NumberMarked(tensor_index_);
  micro_count_ = NumberMarked(micro_index_);
  table_.resize(problem.cluster.gpus.size() * tensor_count_ * micro_count_ * kKinds, nullptr);
  for (const auto& [key, time] : problem.profile.times()) {
    const int row =
        (key.gpu.index() * tensor_count_ + tensor_index_[key.tensor]) * micro_count_ + micro_index_[key.micro_batch];
    table_[row * kKinds + static_cast<int>(key.kind)] = &time;
    has_activations_ = has_activations_ || time.activations.has_value();
  }
  for (const int degree : problem.job.tensor_degrees) largest_tensor_ = std::max(largest_tensor_, degree);
  const ir::Model& model = problem.model;
  // A fused kernel always computes the scores again; its backward has that time already.
  if (problem.job.trainer.attention == ir::AttentionKernel::kUnfused) {
    const double seq_len = static_cast<double>(model.seq_len);
    attention_share_ = 4 * seq_len * seq_len * static_cast<double>(model.attention_width()) /
                       ir::ForwardFlopsPerSample(model, ir::LayerKind::kBlock);
  }
}

const ir::LayerTime* StageCosts::Find(ir::LayerKind kind, ir::GpuId gpu, int tensor, int micro_batch) const {
  const auto index = [](const std::vector<int>& table, int value) {
    return value >= 0 && value < static_cast<int>(table.size()) ? table[value] : -1;
  };
  const int t = index(tensor_index_, tensor);
  const int b = index(micro_index_, micro_batch);
  if (t < 0 || b < 0) return nullptr;
  return table_[((gpu.index() * tensor_count_ + t) * micro_count_ + b) * kKinds + static_cast<int>(kind)];
}

MeasuredActivations StageCosts::Activations(ir::PoolId pool, int tensor, int micro_batch) const {
  if (!has_activations_) return {};
  const ir::GpuId gpu = problem_.cluster.gpu_id(pool);
  const auto of = [&](ir::LayerKind kind) -> std::optional<Bytes> {
    const ir::LayerTime* layer = Find(kind, gpu, tensor, micro_batch);
    return layer != nullptr ? layer->activations : std::nullopt;
  };
  return {
      .embedding = of(ir::LayerKind::kEmbedding), .block = of(ir::LayerKind::kBlock), .head = of(ir::LayerKind::kHead)};
}

absl::Status StageCosts::CheckProfile(const ir::Plan& plan) const {
  for (const ir::Pipeline& pipeline : plan.pipelines) {
    for (const ir::Stage& stage : pipeline.stages) {
      const ir::GpuId gpu = problem_.cluster.gpu_id(stage.group.pool);
      for (const auto& [kind, name] : ir::kLayerKinds) {
        if (Find(kind, gpu, stage.group.degree(), pipeline.micro_batch) != nullptr) continue;
        return problem_.profile
            .Get({.kind = kind, .gpu = gpu, .tensor = stage.group.degree(), .micro_batch = pipeline.micro_batch},
                 problem_.cluster)
            .status();
      }
    }
  }
  return absl::OkStatus();
}

StageTimes StageCosts::Times(const StageShape& stage) const {
  const ir::Model& model = problem_.model;
  const ir::GpuId gpu = problem_.cluster.gpu_id(stage.pool);
  StageTimes times;
  const auto find = [&](ir::LayerKind kind) -> const ir::LayerTime& {
    const ir::LayerTime* layer = Find(kind, gpu, stage.tensor, stage.micro_batch);
    SAIL_CHECK(layer != nullptr) << "no profile entry for " << ir::ToString(kind) << " on "
                                 << problem_.cluster.gpus[gpu.index()].name << ", tensor " << stage.tensor
                                 << ", micro-batch " << stage.micro_batch;
    times.is_measured = times.is_measured && layer->provenance == ir::Provenance::kMeasured;
    return *layer;
  };
  const bool has_embedding = stage.first_layer == 0;
  const bool has_head = stage.last_layer == model.layer_count() - 1;
  if (has_embedding) {
    const ir::LayerTime& embedding = find(ir::LayerKind::kEmbedding);
    times.forward += embedding.forward.value();
    times.backward += times.embedding_backward = embedding.backward.value();
    times.optimizer += embedding.optimizer.value();
  }
  const int blocks = stage.last_layer - stage.first_layer + 1 - (has_embedding ? 1 : 0) - (has_head ? 1 : 0);
  if (blocks > 0) {
    const ir::LayerTime& block = find(ir::LayerKind::kBlock);
    times.block_backward = block.backward.value() + RepeatedShare(stage.recompute) * block.forward.value();
    times.forward += blocks * block.forward.value();
    times.backward += blocks * times.block_backward;
    times.optimizer += blocks * block.optimizer.value();
  }
  if (has_head) {
    const ir::LayerParameters parameters =
        ir::ParametersOnRank(model, ir::LayerKind::kHead, stage.tensor, stage.tensor);
    const double own = static_cast<double>(parameters.replicated) / static_cast<double>(parameters.total());
    const ir::LayerTime& head = find(ir::LayerKind::kHead);
    times.forward += head.forward.value();
    times.backward += head.backward.value();
    times.optimizer += head.optimizer.value() * (has_embedding && model.tied_head ? own : 1);
  }
  times.optimizer /= stage.optimizer_shards;
  return times;
}

double StageCosts::RepeatedShare(ir::Recompute recompute) const {
  switch (recompute) {
    case ir::Recompute::kNone:
      return 0;
    case ir::Recompute::kSelective:
      return attention_share_;
    case ir::Recompute::kFull:
      return 1;
  }
  SAIL_CHECK(false) << "recompute " << static_cast<int>(recompute);
}

}  // namespace sail::sim
