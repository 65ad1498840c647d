#include "planner/exhaustive_planner.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "compiler/ir/verify_plan.h"

namespace sail::planner {
namespace {

// Calls `visit` with every plan until it returns false.
class Enumerator {
 public:
  Enumerator(const ir::Problem& problem, std::function<bool(const ir::Plan&)> visit)
      : problem_(problem), visit_(std::move(visit)) {
    for (const ir::Pool& pool : problem.cluster.pools) used_.emplace_back(std::max(pool.quota, 0), 0);
    for (const int micro_batch : problem.job.micro_batches) {
      ir::Pipeline pipeline{.micro_batch = micro_batch, .stages = {}};
      ListDescriptions(pipeline, 0);
    }
  }

  void Run() {
    for (const ir::OptimizerSharding sharding : problem_.job.optimizer_shardings) {
      plan_.optimizer_sharding = sharding;
      AddPipeline(0, 1, problem_.job.global_batch);
    }
  }

 private:
  // Every micro-batch size, cut and (pool, degree, recomputation) by stage; nodes are chosen later.
  void ListDescriptions(ir::Pipeline& pipeline, int first_layer) {
    const ir::Job& job = problem_.job;
    if (first_layer == problem_.model.layer_count()) {
      const int depth = static_cast<int>(pipeline.stages.size());
      if (std::count(job.pipeline_depths.begin(), job.pipeline_depths.end(), depth) > 0) {
        descriptions_.push_back(pipeline);
      }
      return;
    }
    if (static_cast<int>(pipeline.stages.size()) == job.pipeline_depths.back()) return;
    for (int last = first_layer; last < problem_.model.layer_count(); ++last) {
      for (int p = 0; p < static_cast<int>(problem_.cluster.pools.size()); ++p) {
        for (const int tensor : job.tensor_degrees) {
          if (!ir::CanDivide(problem_.model, tensor)) continue;
          for (const ir::Recompute recompute : job.recomputes) {
            pipeline.stages.push_back({.first_layer = first_layer,
                                       .last_layer = last,
                                       .group = {.pool = ir::PoolId(p), .gpus = std::vector<int>(tensor, 0)},
                                       .recompute = recompute});
            ListDescriptions(pipeline, last + 1);
            pipeline.stages.pop_back();
          }
        }
      }
    }
  }

  // Adds a pipeline that is not below (first_description, least_count), while samples are left.
  void AddPipeline(size_t first_description, int least_count, int64_t samples_left) {
    if (is_stopped_) return;
    if (samples_left == 0) {
      if (IsOneBackend()) is_stopped_ = !visit_(plan_);
      return;
    }
    for (size_t d = first_description; d < descriptions_.size() && !is_stopped_; ++d) {
      const ir::Pipeline& description = descriptions_[d];
      if (!HasRoom(description)) continue;
      for (int count = d == first_description ? least_count : 1;
           int64_t{count} * description.micro_batch <= samples_left; ++count) {
        plan_.pipelines.push_back(description);
        plan_.pipelines.back().micro_batches = count;
        PlaceStage(0, d, samples_left - plan_.pipelines.back().samples());
        plan_.pipelines.pop_back();
      }
    }
  }

  // Every node for stage `stage` of the last pipeline and the stages after it.
  void PlaceStage(size_t stage, size_t description, int64_t samples_left) {
    const size_t current = plan_.pipelines.size() - 1;
    if (stage == plan_.pipelines[current].stages.size()) {
      AddPipeline(description, plan_.pipelines[current].micro_batches, samples_left);
      return;
    }
    const ir::PoolId pool = plan_.pipelines[current].stages[stage].group.pool;
    std::vector<int>& used = used_[pool.index()];
    for (size_t node = 0; node < used.size() && !is_stopped_; ++node) {
      ir::TensorGroup& group = plan_.pipelines[current].stages[stage].group;
      const bool is_new = used[node] == 0;
      if (used[node] + group.degree() <= problem_.cluster.machine(pool).gpus_per_node) {
        group.node = static_cast<int>(node);
        for (int& gpu : group.gpus) gpu = used[node]++;
        PlaceStage(stage + 1, description, samples_left);
        used[node] -= plan_.pipelines[current].stages[stage].group.degree();
      }
      if (is_new) break;
    }
  }

  // Whether the pools have that many GPUs left, wherever they are: saves looking at placements that cannot exist.
  bool HasRoom(const ir::Pipeline& pipeline) const {
    for (size_t p = 0; p < used_.size(); ++p) {
      const int per_node = problem_.cluster.machine(ir::PoolId(static_cast<int>(p))).gpus_per_node;
      int left = static_cast<int>(used_[p].size()) * per_node;
      for (const int used : used_[p]) left -= used;
      for (const ir::Stage& stage : pipeline.stages) {
        if (stage.group.pool.index() == static_cast<int>(p)) left -= stage.group.degree();
      }
      if (left < 0) return false;
    }
    return true;
  }

  bool IsOneBackend() const {
    const auto backend = [&](const ir::Stage& stage) { return problem_.cluster.gpu(stage.group.pool).backend; };
    for (const ir::Pipeline& pipeline : plan_.pipelines) {
      for (const ir::Stage& stage : pipeline.stages) {
        if (backend(stage) != backend(plan_.pipelines.front().stages.front())) return false;
      }
    }
    return true;
  }

  const ir::Problem& problem_;
  const std::function<bool(const ir::Plan&)> visit_;
  std::vector<ir::Pipeline> descriptions_;
  std::vector<std::vector<int>> used_;  // GPUs, by pool and node
  ir::Plan plan_;
  bool is_stopped_ = false;
};

std::vector<double> ObjectiveOf(const ir::Job& job, const ir::Report& report) {
  std::vector<double> values;
  for (const ir::ObjectiveTerm& term : job.objective) {
    values.push_back(ir::Value(report, term.metric) * (term.maximize ? -1 : 1));
  }
  return values;
}

}  // namespace

int64_t CountPlans(const ir::Problem& problem, int64_t most) {
  int64_t count = 0;
  Enumerator(problem, [&](const ir::Plan&) { return ++count < most; }).Run();
  return count;
}

absl::StatusOr<ExhaustiveResult> FindPlanExhaustively(const ir::Problem& problem, const sim::CostModel& costs) {
  ExhaustiveResult best;
  absl::Status status;
  Enumerator(problem, [&](const ir::Plan& enumerated) {
    ++best.plans;
    ir::Plan plan = enumerated;
    ir::Canonicalize(plan);
    absl::StatusOr<ir::Report> report = costs.Evaluate(plan);
    if (!report.ok()) {
      status = report.status();
      return false;
    }
    const bool is_better = !best.report || ObjectiveOf(problem.job, *report) < ObjectiveOf(problem.job, *best.report);
    if (is_better && ir::VerifyPlan(problem, plan, *report).ok()) {
      best.plan = std::move(plan);
      best.report = *std::move(report);
    }
    return true;
  }).Run();
  if (!status.ok()) return status;
  return best;
}

}  // namespace sail::planner
