#include "simulator/sail_outline.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "simulator/memory_model.h"
#include "simulator/outline_sync.h"
#include "simulator/sync_bound.h"
#include "simulator/transfer_cost.h"

namespace sail::sim {
namespace {

constexpr double kRounding = 1e-9;  // relative, of bounds

class SailEstimator : public OutlineEstimator {
 public:
  explicit SailEstimator(const StageCosts& stage_costs)
      : stage_costs_(stage_costs), problem_(stage_costs.problem()), sync_(problem_) {
    for (const auto& row : problem_.cluster.links) {
      for (const ir::Link& link : row) has_egress_ = has_egress_ || link.egress.value() > 0;
    }
  }

  // The cheapest bounds on the iteration first: what most outlines of a search fail at.
  Estimate JudgeWithin(const PlanOutline& outline, double most_seconds) override {
    Begin(outline);
    Estimate estimate{.iteration = std::numeric_limits<double>::infinity()};
    const size_t classes = outline.classes.size();
    if (costs_.size() < classes) costs_.resize(classes);
    if (seconds_.size() < classes) seconds_.resize(classes);
    // 1. With bounds on the ends of pipelines.
    const double most_bounded = most_seconds * (1 + kRounding);
    for (size_t c = 0; c < classes; ++c) {
      if (IsEmptier(outline, c)) {
        costs_[c] = costs_[c - 1];
        continue;
      }
      AddStages(outline.classes[c], costs_[c], seconds_[c]);
      BoundPipelineTime(seconds_[c], outline.classes[c].micro_batches, costs_[c].time);
      if (LastStep(costs_[c]) > most_bounded) return estimate;
    }
    sync_.Begin(outline);
    if (std::isfinite(most_seconds) && sync_.EndWithin(costs_, most_bounded) > most_bounded) return estimate;
    // 2. With the exact ends.
    for (size_t c = 0; c < classes; ++c) {
      if (IsEmptier(outline, c)) {
        costs_[c].time = costs_[c - 1].time;
        continue;
      }
      ComputePipelineTime(seconds_[c], outline.classes[c].micro_batches, problem_.job.trainer.paired_sends,
                          costs_[c].time);
      if (LastStep(costs_[c]) > most_seconds) return estimate;
    }
    const double end = sync_.EndWithin(costs_, most_seconds);
    if (end > most_seconds) return estimate;
    estimate.iteration = end;
    for (const PipelineClass& of : outline.classes) {
      AddMemory(of, estimate);
      if (has_egress_) AddBoundaryTraffic(of);
    }
    if (has_egress_) sync_.AddTraffic(traffic_);
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

  void AddStages(const PipelineClass& of, ClassCosts& costs, std::vector<StageSeconds>& seconds) const {
    costs.stages.clear();
    seconds.clear();
    for (const StageOutline& stage : of.stages) {
      const StageTimes times = stage_costs_.Times({.first_layer = stage.first_layer,
                                                   .last_layer = stage.last_layer,
                                                   .pool = stage.pool,
                                                   .tensor = stage.tensor,
                                                   .micro_batch = of.micro_batch,
                                                   .recompute = stage.recompute,
                                                   .optimizer_shards = optimizer_shards_});
      costs.stages.push_back(times);
      seconds.push_back({.forward = times.forward, .backward = times.backward});
    }
    for (size_t s = 0; s + 1 < of.stages.size(); ++s) AddBoundary(of, of.stages[s], of.stages[s + 1], seconds[s]);
  }

  // Whether the class is like the one before with fewer micro-batches, such as the pipelines of a team that have one
  // less. Nothing waits for such a class: each of its stages ends before that of the other, with which it takes part in
  // the same all-reduces and loads its cards no more. It is played as if it ended with it.
  static bool IsEmptier(const PlanOutline& outline, size_t c) {
    if (c == 0) return false;
    const PipelineClass& of = outline.classes[c];
    const PipelineClass& before = outline.classes[c - 1];
    return of.micro_batch == before.micro_batch && of.micro_batches <= before.micro_batches &&
           of.stages == before.stages;
  }

  static double LastStep(const ClassCosts& costs) {
    double end = 0;
    for (size_t s = 0; s < costs.stages.size(); ++s) {
      end = std::max(end, costs.time.backward_end[s] + costs.stages[s].optimizer);
    }
    return end;
  }

  void AddBoundary(const PipelineClass& of, const StageOutline& from, const StageOutline& to,
                   StageSeconds& seconds) const {
    const auto transfer = [&](const StageOutline& sender, const StageOutline& receiver) {
      return MakeTransfer(problem_, sender.pool, receiver.pool, sender.tensor, receiver.tensor, of.micro_batch,
                          from.next_on_node);
    };
    const Transfer activation = transfer(from, to);
    const bool is_symmetric = from.pool == to.pool && from.tensor == to.tensor;
    const Transfer gradient = is_symmetric ? activation : transfer(to, from);
    seconds.send_activation = activation.SecondsAlone();
    seconds.send_gradient = gradient.SecondsAlone();
  }

  void AddBoundaryTraffic(const PipelineClass& of) {
    const auto boundary = BoundaryBytes(problem_.model, problem_.job.precision, of.micro_batch);
    const double bytes = static_cast<double>(of.count) * of.micro_batches * static_cast<double>(boundary.value());
    const size_t zones = problem_.cluster.zones.size();
    for (size_t s = 0; s + 1 < of.stages.size(); ++s) {
      if (of.stages[s].next_on_node) continue;
      const size_t a = problem_.cluster.pool(of.stages[s].pool).zone.index();
      const size_t b = problem_.cluster.pool(of.stages[s + 1].pool).zone.index();
      traffic_[a * zones + b] += bytes;
      traffic_[b * zones + a] += bytes;
    }
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
  std::vector<std::vector<StageSeconds>> seconds_;  // by class; may be longer
  std::vector<ClassCosts> costs_;                   // the same
};

}  // namespace

std::unique_ptr<OutlineEstimator> MakeSailEstimator(const StageCosts& stage_costs) {
  return std::make_unique<SailEstimator>(stage_costs);
}

}  // namespace sail::sim
