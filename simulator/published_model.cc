#include "simulator/published_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "compiler/base/status_macros.h"
#include "simulator/network.h"
#include "simulator/plan_costs.h"
#include "simulator/price_model.h"
#include "simulator/published_groups.h"
#include "simulator/published_outline.h"

namespace sail::sim {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class PublishedCostModel : public CostModel {
 public:
  PublishedCostModel(const ir::Problem& problem, const PublicModel& model, const PublicNetwork& network)
      : problem_(problem), model_(model), network_(network) {}

  Seconds StageTime(const StageShape& stage) const override {
    const std::vector<PublicLayerTime>* times = TimesOf(stage);
    if (times == nullptr) return Seconds(kInfinity);
    double seconds = 0;
    for (int layer = stage.first_layer; layer <= stage.last_layer; ++layer) {
      seconds += (*times)[layer].forward + (*times)[layer].backward;
    }
    return Seconds(seconds);
  }

  Bytes StageMemory(const StageShape& stage, int in_flight) const override {
    Bytes total = Bytes::Zero();
    for (const ir::MemoryTerm& term : MemoryOf(stage, in_flight)) total += term.bytes;
    return total;
  }

  Bytes MemoryLimit(ir::PoolId pool) const override { return problem_.cluster.gpu(pool).memory; }

  Seconds BoundaryTime(ir::PoolId from, ir::PoolId to, int from_tensor, int to_tensor, int micro_batch,
                       bool /*same_node*/) const override {
    const LinkEnd a = EndOf(from, from_tensor);
    const LinkEnd b = EndOf(to, to_tensor);
    return Seconds(Transfer(a, b, BoundaryBytes(micro_batch)) + Transfer(b, a, BoundaryBytes(micro_batch)));
  }

  Seconds OptimizerTime(const StageShape& stage) const override {
    const std::vector<PublicLayerTime>* times = TimesOf(stage);
    return Seconds(times == nullptr ? kInfinity : (*times)[stage.first_layer].update);
  }

  PipelineForm form() const override { return PipelineForm::kClassic; }
  Seconds ForwardTime(const StageShape& /*stage*/) const override { return Seconds(0); }

  Seconds SendTime(ir::PoolId from, ir::PoolId to, int from_tensor, int to_tensor, int micro_batch) const override {
    return Seconds(Transfer(EndOf(from, from_tensor), EndOf(to, to_tensor), BoundaryBytes(micro_batch)));
  }

  absl::StatusOr<ir::Report> Evaluate(const ir::Plan& plan) const override;

  std::unique_ptr<OutlineEstimator> MakeEstimator() const override {
    return MakePublishedEstimator(problem_, model_, network_);
  }
  std::unique_ptr<CostModel> Reordered(const ir::Problem& problem, const std::vector<ir::PoolId>&) const override {
    return std::make_unique<PublishedCostModel>(problem, model_, network_);
  }

 private:
  const std::vector<PublicLayerTime>* TimesOf(const StageShape& stage) const {
    return model_.Times(problem_.cluster.gpu(stage.pool).name, stage.tensor, stage.micro_batch);
  }

  double BoundaryBytes(int micro_batch) const {
    return static_cast<double>(micro_batch * problem_.model.seq_len * problem_.model.hidden * kFloatBytes);
  }

  // A machine as the network's measurements name it; degree 1 also stands for its members of a ring.
  LinkEnd EndOf(ir::PoolId pool, int tensor) const {
    return {.gpu = problem_.cluster.gpu(pool).name,
            .zone = problem_.cluster.zones[problem_.cluster.pool(pool).zone.index()].name,
            .gpus = std::min(tensor, problem_.cluster.machine(pool).gpus_per_node)};
  }

  double Transfer(const LinkEnd& from, const LinkEnd& to, double bytes) const {
    const LinkCurve* curve = network_.Between(from, to);
    return curve == nullptr ? kInfinity : curve->FittedSeconds(bytes);
  }

  std::vector<ir::MemoryTerm> MemoryOf(const StageShape& stage, int in_flight) const;
  StageShape ShapeOf(const ir::Pipeline& pipeline, const ir::Stage& stage) const;
  absl::Status CheckMeasured(const ir::Plan& plan) const;
  std::vector<double> StageSeconds(const ir::Plan& plan, const ir::Pipeline& pipeline) const;
  std::vector<double> ChargedTransfers(const ir::Pipeline& pipeline) const;
  double Synchronisation(const PublishedReduction& reduced) const;
  Traffic TrafficOf(const ir::Plan& plan, const std::vector<PublishedReduction>& reductions) const;
  std::vector<ir::StageReport> StageReports(const ir::Plan& plan, double iteration) const;

  const ir::Problem& problem_;
  const PublicModel& model_;
  const PublicNetwork& network_;
};

StageShape PublishedCostModel::ShapeOf(const ir::Pipeline& pipeline, const ir::Stage& stage) const {
  return {.first_layer = stage.first_layer,
          .last_layer = stage.last_layer,
          .pool = stage.group.pool,
          .tensor = stage.group.degree(),
          .micro_batch = pipeline.micro_batch};
}

std::vector<ir::MemoryTerm> PublishedCostModel::MemoryOf(const StageShape& stage, int in_flight) const {
  const std::vector<PublicLayerSize>* sizes = model_.Sizes(stage.tensor);
  if (sizes == nullptr || TimesOf(stage) == nullptr) return {{.what = "not measured", .bytes = kMoreThanAnyGpu}};
  int64_t parameters = 0;
  int64_t kept = 0;
  for (int layer = stage.first_layer; layer <= stage.last_layer; ++layer) {
    parameters += (*sizes)[layer].parameters;
    kept += (*sizes)[layer].kept;
  }
  constexpr auto kMeasured = ir::Provenance::kMeasured;
  return {{"parameters and states", Bytes(kStateBytes * parameters), kMeasured},
          {"activations", Bytes(kept) * kFloatBytes * stage.micro_batch * in_flight, kMeasured},
          {"framework", FrameworkBytes(stage.tensor), ir::Provenance::kAssumed}};
}

absl::Status PublishedCostModel::CheckMeasured(const ir::Plan& plan) const {
  for (const ir::Pipeline& pipeline : plan.pipelines) {
    for (const ir::Stage& stage : pipeline.stages) {
      const StageShape shape = ShapeOf(pipeline, stage);
      if (TimesOf(shape) != nullptr && model_.Sizes(shape.tensor) != nullptr) continue;
      return absl::NotFoundError(absl::StrCat("the published profile of ", model_.name, " lacks ",
                                              problem_.cluster.gpu(shape.pool).name, ", tensor ", shape.tensor,
                                              ", micro-batch ", shape.micro_batch));
    }
  }
  return absl::OkStatus();
}

// t_i of the pipeline's stages.
std::vector<double> PublishedCostModel::StageSeconds(const ir::Plan& plan, const ir::Pipeline& pipeline) const {
  std::vector<double> seconds(pipeline.stages.size(), 0.0);
  std::set<std::tuple<size_t, ir::GpuId, int>> seen;  // replicas are mostly alike
  for (const ir::Pipeline& other : plan.pipelines) {
    if (!IsSameShape(pipeline, other)) continue;
    for (size_t i = 0; i < seconds.size(); ++i) {
      const ir::TensorGroup& group = other.stages[i].group;
      if (!seen.insert({i, problem_.cluster.gpu_id(group.pool), group.degree()}).second) continue;
      seconds[i] = std::max(seconds[i], StageTime(ShapeOf(other, other.stages[i])).value());
    }
  }
  return seconds;
}

// c_i of the pipeline's stages.
std::vector<double> PublishedCostModel::ChargedTransfers(const ir::Pipeline& pipeline) const {
  const int depth = static_cast<int>(pipeline.stages.size());
  std::vector<double> charged(depth, 0.0);
  if (depth == 1) return charged;
  const double bytes = BoundaryBytes(pipeline.micro_batch);
  const auto send = [&](int from, int to) {
    const ir::TensorGroup& a = pipeline.stages[from].group;
    const ir::TensorGroup& b = pipeline.stages[to].group;
    return Transfer(EndOf(a.pool, a.degree()), EndOf(b.pool, b.degree()), bytes);
  };
  charged.front() = send(0, 1) * (depth <= 3 ? 1 : 2);
  for (int i = 1; i + 1 < depth; ++i) charged[i] = send(i, i + 1) + send(i, i - 1);
  charged.back() = 2 * send(depth - 1, depth - 2);
  return charged;
}

double PublishedCostModel::Synchronisation(const PublishedReduction& reduced) const {
  const auto n = static_cast<double>(reduced.owners.size());
  if (n < 2) return 0;
  int smallest = kLargestDivisor;
  for (const auto& stages : reduced.owners) {
    for (const ir::Stage* stage : stages) smallest = std::min(smallest, stage->group.degree());
  }
  std::set<std::pair<ir::PoolId, ir::PoolId>> neighbours;
  for (size_t p = 0; p + 1 < reduced.owners.size(); ++p) {
    for (const ir::Stage* a : reduced.owners[p]) {
      for (const ir::Stage* b : reduced.owners[p + 1]) neighbours.insert({a->group.pool, b->group.pool});
    }
  }
  const auto ring = [&](double bytes) {
    double slowest = 0;
    for (const auto& [a, b] : neighbours) slowest = std::max(slowest, Transfer(EndOf(a, 1), EndOf(b, 1), bytes / n));
    return 2 * (n - 1) * slowest;
  };
  const double bytes = kFloatBytes * model_.Parameters(reduced.first_layer, reduced.last_layer) / smallest;
  return SecondsInChunks(bytes, ring);
}

// Activations and gradients, and a closed ring over all weights.
Traffic PublishedCostModel::TrafficOf(const ir::Plan& plan, const std::vector<PublishedReduction>& reductions) const {
  const size_t zones = problem_.cluster.zones.size();
  Traffic traffic(zones * zones, 0.0);
  const auto add = [&](const ir::Stage& from, const ir::Stage& to, double bytes) {
    const size_t a = problem_.cluster.pool(from.group.pool).zone.index();
    const size_t b = problem_.cluster.pool(to.group.pool).zone.index();
    traffic[a * zones + b] += bytes;
  };
  for (const ir::Pipeline& pipeline : plan.pipelines) {
    const double bytes = BoundaryBytes(pipeline.micro_batch) * pipeline.micro_batches;
    for (size_t s = 0; s + 1 < pipeline.stages.size(); ++s) {
      add(pipeline.stages[s], pipeline.stages[s + 1], bytes);
      add(pipeline.stages[s + 1], pipeline.stages[s], bytes);
    }
  }
  for (const PublishedReduction& reduced : reductions) {
    const size_t n = reduced.owners.size();
    if (n < 2) continue;
    const double bytes = 2.0 * static_cast<double>(n - 1) / static_cast<double>(n) * kFloatBytes *
                         model_.Parameters(reduced.first_layer, reduced.last_layer);
    for (size_t p = 0; p < n; ++p) add(*reduced.owners[p].front(), *reduced.owners[(p + 1) % n].front(), bytes);
  }
  return traffic;
}

std::vector<ir::StageReport> PublishedCostModel::StageReports(const ir::Plan& plan, double iteration) const {
  std::vector<ir::StageReport> reports;
  for (size_t p = 0; p < plan.pipelines.size(); ++p) {
    const ir::Pipeline& pipeline = plan.pipelines[p];
    const int depth = static_cast<int>(pipeline.stages.size());
    for (int s = 0; s < depth; ++s) {
      const StageShape shape = ShapeOf(pipeline, pipeline.stages[s]);
      ir::StageReport& report = reports.emplace_back(ir::StageReport{.pipeline = static_cast<int>(p), .stage = s});
      report.memory = MemoryOf(shape, depth - s);
      for (const ir::MemoryTerm& term : report.memory) report.memory_total += term.bytes;
      report.memory_limit = MemoryLimit(shape.pool);
      report.busy = StageTime(shape) * pipeline.micro_batches;
      report.idle = Seconds(iteration) - report.busy;
    }
  }
  return reports;
}

absl::StatusOr<ir::Report> PublishedCostModel::Evaluate(const ir::Plan& plan) const {
  SAIL_RETURN_IF_ERROR(CheckMeasured(plan));
  ir::Report report;
  double update = 0;
  double pipelines = 0;
  for (const ir::Pipeline& pipeline : plan.pipelines) {
    for (const ir::Stage& stage : pipeline.stages) {
      update = std::max(update, OptimizerTime(ShapeOf(pipeline, stage)).value());
    }
    const std::vector<double> times = StageSeconds(plan, pipeline);
    const std::vector<double> transfers = ChargedTransfers(pipeline);
    double sum = 0;
    double slowest = 0;
    for (size_t i = 0; i < times.size(); ++i) {
      sum += times[i] + transfers[i];
      slowest = std::max(slowest, times[i] + transfers[i]);
    }
    const double steady = (pipeline.micro_batches - 1) * slowest;
    if (sum + steady <= pipelines) continue;
    pipelines = sum + steady;
    report.parts.fill = Seconds(sum);
    report.parts.steady = Seconds(steady);
  }
  const std::vector<PublishedReduction> reductions = PublishedReductions(plan, model_.layers);
  double sync = 0;
  for (const PublishedReduction& reduced : reductions) sync = std::max(sync, Synchronisation(reduced));
  const double iteration = pipelines + update + sync;
  if (!std::isfinite(iteration)) return absl::NotFoundError("the published network file lacks a link of the plan");

  report.iteration = Seconds(iteration);
  report.steps = problem_.job.steps;
  report.parts.gradient_sync = Seconds(sync);
  report.parts.optimizer = Seconds(update);
  report.stages = StageReports(plan, iteration);
  for (const ir::StageReport& stage : report.stages) {
    report.peak_memory = std::max(report.peak_memory, static_cast<double>(stage.memory_total.value()) /
                                                          static_cast<double>(stage.memory_limit.value()));
  }
  const ir::Placement placement(plan);
  report.gpus = placement.rank_count();
  report.samples_per_second = static_cast<double>(problem_.job.global_batch) / iteration;
  report.tokens_per_second = report.samples_per_second * static_cast<double>(problem_.model.seq_len);
  report.timing = ir::Provenance::kMeasured;
  AddMoney(Network(problem_.cluster, placement), TrafficOf(plan, reductions), report);
  AddConstraints(problem_.job, report);
  return report;
}

}  // namespace

absl::StatusOr<std::unique_ptr<CostModel>> MakePublishedCostModel(const ir::Problem& problem, const PublicModel& model,
                                                                  const PublicNetwork& network) {
  if (problem.model.layer_count() != model.layers) {
    return absl::InvalidArgumentError(absl::StrCat("model ", problem.model.name, " has ", problem.model.layer_count(),
                                                   " layers, the published ", model.name, " ", model.layers));
  }
  if (model.Sizes(1) == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("the published ", model.name, " has no sizes at degree 1"));
  }
  return std::make_unique<PublishedCostModel>(problem, model, network);
}

}  // namespace sail::sim
