#include "simulator/sail_cost_model.h"

#include <algorithm>
#include <limits>

#include "compiler/base/status_macros.h"
#include "simulator/gradient_sync.h"
#include "simulator/memory_model.h"
#include "simulator/plan_costs.h"
#include "simulator/sail_outline.h"
#include "simulator/simulate.h"

namespace sail::sim {
namespace {

std::vector<StageSeconds> SecondsOf(const std::vector<StageTimes>& stages, const std::vector<Boundary>& boundaries) {
  std::vector<StageSeconds> seconds;
  seconds.reserve(stages.size());
  for (size_t s = 0; s < stages.size(); ++s) {
    seconds.push_back({.forward = stages[s].forward, .backward = stages[s].backward});
    if (s + 1 < stages.size()) {
      seconds.back().send_activation = boundaries[s].activation.SecondsAlone();
      seconds.back().send_gradient = boundaries[s].gradient.SecondsAlone();
    }
  }
  return seconds;
}

// Replicas are mostly equal and canonical plans list equal ones side by side: each distinct one is played once.
std::vector<PipelineTime> PipelineTimes(const PlanCosts& costs, const ir::Plan& plan, bool paired_sends) {
  std::vector<PipelineTime> times;
  times.reserve(plan.pipelines.size());
  std::vector<StageSeconds> previous;
  for (size_t p = 0; p < plan.pipelines.size(); ++p) {
    std::vector<StageSeconds> stages = SecondsOf(costs.stages[p], costs.boundaries[p]);
    const int micro_batches = plan.pipelines[p].micro_batches;
    if (p > 0 && micro_batches == plan.pipelines[p - 1].micro_batches && stages == previous) {
      times.push_back(times.back());
    } else {
      times.push_back(ComputePipelineTime(stages, micro_batches, paired_sends));
      previous = std::move(stages);
    }
  }
  return times;
}

// The end of the iteration: every rank's gradients, then its step; no node's card done before its bytes are through.
void AddSyncAndStep(const ir::Plan& plan, const PlanCosts& costs, const GradientSync& sync, bool overlaps,
                    PlanTimes& times) {
  const ir::Placement& placement = costs.placement;
  std::vector<double> ready(placement.rank_count());
  std::vector<double> node_end(costs.network.node_count(), std::numeric_limits<double>::infinity());
  for (int rank = 0; rank < placement.rank_count(); ++rank) {
    const ir::RankPlace& place = placement.place(ir::Rank(rank));
    ready[rank] = times.pipelines[place.pipeline].backward_end[place.stage];
    const double overlapped = overlaps ? costs.stages[place.pipeline][place.stage].backward : 0;
    double& end = node_end[costs.network.NodeOf(ir::Rank(rank))];
    end = std::min(end, ready[rank] - overlapped);
  }
  AddCardBound(costs.network, sync, node_end);
  const std::vector<double> backward_end = ready;
  AdvanceThroughSync(
      sync,
      [&](ir::Rank rank, int layer) {
        return backward_end[rank.index()] - (overlaps ? GradientLead(plan, costs, rank, layer) : 0);
      },
      ready);

  std::vector<double> node_step(costs.network.node_count(), std::numeric_limits<double>::infinity());
  for (int rank = 0; rank < placement.rank_count(); ++rank) {
    const ir::RankPlace& place = placement.place(ir::Rank(rank));
    const double step = costs.stages[place.pipeline][place.stage].optimizer;
    double& least = node_step[costs.network.NodeOf(ir::Rank(rank))];
    least = std::min(least, step);
    if (ready[rank] + step > times.iteration) {
      times.iteration = ready[rank] + step;
      times.optimizer = step;
    }
  }
  for (int node = 0; node < costs.network.node_count(); ++node) {
    if (node_end[node] + node_step[node] > times.iteration) {
      times.iteration = node_end[node] + node_step[node];
      times.optimizer = node_step[node];
    }
  }
}

class SailCostModel : public CostModel {
 public:
  explicit SailCostModel(const ir::Problem& problem) : problem_(problem), stage_costs_(problem) {}

  Seconds StageTime(const StageShape& stage) const override {
    const StageTimes times = stage_costs_.Times(stage);
    return Seconds(times.forward + times.backward);
  }

  // Pads the vocabulary for the job's largest tensor degree, whatever the other pipelines will be: never less than
  // Evaluate reports.
  Bytes StageMemory(const StageShape& stage, int in_flight) const override {
    return Memory(stage, in_flight, stage_costs_.largest_tensor());
  }
  Bytes StageMemoryAtLeast(const StageShape& stage, int in_flight) const override {
    return Memory(stage, in_flight, stage.tensor);
  }

  Bytes MemoryLimit(ir::PoolId pool) const override { return MemoryLimitOf(problem_.cluster.gpu(pool), problem_.job); }

  Seconds BoundaryTime(ir::PoolId from, ir::PoolId to, int from_tensor, int to_tensor, int micro_batch,
                       bool same_node) const override {
    const Transfer activation = MakeTransfer(problem_, from, to, from_tensor, to_tensor, micro_batch, same_node);
    const Transfer gradient = MakeTransfer(problem_, to, from, to_tensor, from_tensor, micro_batch, same_node);
    return Seconds(activation.SecondsAlone() + gradient.SecondsAlone());
  }

  Seconds OptimizerTime(const StageShape& stage) const override { return Seconds(stage_costs_.Times(stage).optimizer); }

  PipelineForm form() const override { return PipelineForm::kEvents; }
  Seconds ForwardTime(const StageShape& stage) const override { return Seconds(stage_costs_.Times(stage).forward); }
  Seconds SendTime(ir::PoolId, ir::PoolId, int, int, int) const override { return Seconds(0); }

  absl::StatusOr<ir::Report> Evaluate(const ir::Plan& plan) const override {
    SAIL_RETURN_IF_ERROR(stage_costs_.CheckProfile(plan));
    const PlanCosts costs(stage_costs_, plan);
    PlanTimes times;
    times.pipelines = PipelineTimes(costs, plan, problem_.job.trainer.paired_sends);
    const GradientSync sync = ComputeGradientSync(problem_, plan, costs.placement, costs.network);
    AddSyncAndStep(plan, costs, sync, problem_.job.trainer.overlap_gradients, times);
    Traffic traffic = BoundaryTraffic(costs, plan);
    for (const OwnerSet& set : sync.sets) AddAllReduceTraffic(costs.network, set.shape, set.bytes, traffic);
    return MakeReport(stage_costs_, plan, costs, times, traffic);
  }

  std::unique_ptr<OutlineEstimator> MakeEstimator() const override { return MakeSailEstimator(stage_costs_); }
  std::unique_ptr<CostModel> Reordered(const ir::Problem& problem, const std::vector<ir::PoolId>&) const override {
    return MakeSailCostModel(problem);
  }

 private:
  Bytes Memory(const StageShape& stage, int in_flight, int vocab_multiple) const {
    return ComputeMemory(problem_.model, problem_.job, problem_.cluster.gpu(stage.pool),
                         {.first_layer = stage.first_layer,
                          .last_layer = stage.last_layer,
                          .tensor = stage.tensor,
                          .vocab_multiple = vocab_multiple,
                          .micro_batch = stage.micro_batch,
                          .in_flight = in_flight,
                          .recompute = stage.recompute,
                          .optimizer_shards = stage.optimizer_shards},
                         stage_costs_.Activations(stage.pool, stage.tensor, stage.micro_batch))
        .Total();
  }

  const ir::Problem& problem_;
  const StageCosts stage_costs_;
};

class TimelineCostModel : public SailCostModel {
 public:
  explicit TimelineCostModel(const ir::Problem& problem) : SailCostModel(problem), problem_(problem) {}
  absl::StatusOr<ir::Report> Evaluate(const ir::Plan& plan) const override { return Simulate(problem_, plan); }
  std::unique_ptr<CostModel> Reordered(const ir::Problem& problem, const std::vector<ir::PoolId>&) const override {
    return MakeTimelineCostModel(problem);
  }

 private:
  const ir::Problem& problem_;
};

}  // namespace

std::unique_ptr<CostModel> MakeTimelineCostModel(const ir::Problem& problem) {
  return std::make_unique<TimelineCostModel>(problem);
}

std::unique_ptr<CostModel> MakeSailCostModel(const ir::Problem& problem) {
  return std::make_unique<SailCostModel>(problem);
}

}  // namespace sail::sim
