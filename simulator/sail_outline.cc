#include "simulator/sail_outline.h"

#include <algorithm>

#include "simulator/memory_model.h"
#include "simulator/outline_sync.h"
#include "simulator/sync_bound.h"
#include "simulator/transfer_cost.h"

namespace sail::sim {
namespace {

class SailEstimator : public OutlineEstimator {
 public:
  explicit SailEstimator(const StageCosts& stage_costs)
      : stage_costs_(stage_costs), problem_(stage_costs.problem()), sync_(problem_) {
    for (const auto& row : problem_.cluster.links) {
      for (const ir::Link& link : row) has_egress_ = has_egress_ || link.egress.value() > 0;
    }
  }

  Estimate Judge(const PlanOutline& outline) override {
    Begin(outline);
    Estimate estimate;
    if (costs_.size() < outline.classes.size()) costs_.resize(outline.classes.size());
    for (size_t c = 0; c < outline.classes.size(); ++c) {
      AddTimes(outline.classes[c], costs_[c]);
      AddMemory(outline.classes[c], estimate);
    }
    estimate.iteration = sync_.End(outline, costs_, has_egress_ ? &traffic_ : nullptr);
    AddNodes(outline, problem_.cluster, estimate);
    AddProgress(outline, problem_, estimate);
    AddCost(problem_.cluster, traffic_, estimate);
    return estimate;
  }

  double SyncAtLeast(const StageShape& stage, int replicas) override {
    return LeastSyncSeconds(problem_, stage, replicas);
  }

 private:
  void Begin(const PlanOutline& outline) {
    const size_t zones = problem_.cluster.zones.size();
    traffic_.assign(zones * zones, 0.0);
    optimizer_shards_ = 0;
    embedding_multiple_ = head_multiple_ = 1;
    for (const PipelineClass& of : outline.classes) {
      optimizer_shards_ += of.count;
      embedding_multiple_ = std::max(embedding_multiple_, of.stages.front().tensor);
      head_multiple_ = std::max(head_multiple_, of.stages.back().tensor);
    }
    if (problem_.model.tied_head) embedding_multiple_ = head_multiple_ = std::max(embedding_multiple_, head_multiple_);
    if (outline.sharding == ir::OptimizerSharding::kNone) optimizer_shards_ = 1;
  }

  void AddTimes(const PipelineClass& of, ClassCosts& costs) {
    costs.stages.clear();
    seconds_.clear();
    for (size_t s = 0; s < of.stages.size(); ++s) {
      const StageOutline& stage = of.stages[s];
      const StageTimes times = stage_costs_.Times({.first_layer = stage.first_layer,
                                                   .last_layer = stage.last_layer,
                                                   .pool = stage.pool,
                                                   .tensor = stage.tensor,
                                                   .micro_batch = of.micro_batch,
                                                   .recompute = stage.recompute,
                                                   .optimizer_shards = optimizer_shards_});
      costs.stages.push_back(times);
      seconds_.push_back({.forward = times.forward, .backward = times.backward});
      if (s + 1 < of.stages.size()) AddBoundary(of, stage, of.stages[s + 1]);
    }
    ComputePipelineTime(seconds_, of.micro_batches, problem_.job.trainer.paired_sends, costs.time);
  }

  void AddBoundary(const PipelineClass& of, const StageOutline& from, const StageOutline& to) {
    const auto transfer = [&](const StageOutline& sender, const StageOutline& receiver) {
      return MakeTransfer(problem_, sender.pool, receiver.pool, sender.tensor, receiver.tensor, of.micro_batch,
                          from.next_on_node);
    };
    const Transfer activation = transfer(from, to);
    const bool is_symmetric = from.pool == to.pool && from.tensor == to.tensor;
    const Transfer gradient = is_symmetric ? activation : transfer(to, from);
    seconds_.back().send_activation = activation.SecondsAlone();
    seconds_.back().send_gradient = gradient.SecondsAlone();
    if (from.next_on_node || !has_egress_) return;
    const size_t zones = problem_.cluster.zones.size();
    const size_t a = problem_.cluster.pool(from.pool).zone.index();
    const size_t b = problem_.cluster.pool(to.pool).zone.index();
    traffic_[a * zones + b] += static_cast<double>(of.count) * of.micro_batches * activation.bytes;
    traffic_[b * zones + a] += static_cast<double>(of.count) * of.micro_batches * gradient.bytes;
  }

  void AddMemory(const PipelineClass& of, Estimate& estimate) const {
    const int depth = static_cast<int>(of.stages.size());
    for (int s = 0; s < depth; ++s) {
      const StageOutline& stage = of.stages[s];
      const ir::Gpu& gpu = problem_.cluster.gpu(stage.pool);
      const MemoryShape shape{.first_layer = stage.first_layer,
                              .last_layer = stage.last_layer,
                              .tensor = stage.tensor,
                              .vocab_multiple = stage.first_layer == 0 ? embedding_multiple_ : head_multiple_,
                              .micro_batch = of.micro_batch,
                              .in_flight = std::min(of.micro_batches, depth - s),
                              .recompute = stage.recompute,
                              .optimizer_shards = optimizer_shards_};
      const MemoryBreakdown memory = ComputeMemory(problem_.model, problem_.job, gpu, shape,
                                                   stage_costs_.Activations(stage.pool, stage.tensor, of.micro_batch));
      const auto total = static_cast<double>(memory.Total().value());
      const auto limit = static_cast<double>(MemoryLimitOf(gpu, problem_.job).value());
      const double usable = static_cast<double>(gpu.memory.value()) * gpu.usable_memory;
      estimate.peak_memory = std::max(estimate.peak_memory, total / usable);
      if (total > limit) estimate.memory_excess += of.count * (total / limit - 1);
    }
  }

  const StageCosts& stage_costs_;
  const ir::Problem& problem_;
  OutlineSync sync_;
  bool has_egress_ = false;
  // Of the outline that is judged:
  int optimizer_shards_ = 1;
  int embedding_multiple_ = 1;  // vocabularies are padded to multiples of these
  int head_multiple_ = 1;
  std::vector<double> traffic_;
  std::vector<StageSeconds> seconds_;  // of one class
  std::vector<ClassCosts> costs_;      // by class; may be longer
};

}  // namespace

std::unique_ptr<OutlineEstimator> MakeSailEstimator(const StageCosts& stage_costs) {
  return std::make_unique<SailEstimator>(stage_costs);
}

}  // namespace sail::sim
