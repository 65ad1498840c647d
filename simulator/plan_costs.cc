#include "simulator/plan_costs.h"

#include <algorithm>

#include "simulator/memory_model.h"
#include "simulator/price_model.h"
#include "simulator/spot_model.h"

namespace sail::sim {
namespace {

// Each gradient has one owner in every pipeline; they share its optimizer state.
int OptimizerShards(const ir::Plan& plan) {
  return plan.optimizer_sharding == ir::OptimizerSharding::kZero1 ? static_cast<int>(plan.pipelines.size()) : 1;
}

std::vector<StageTimes> TimesOf(const StageCosts& stage_costs, const ir::Pipeline& pipeline, int optimizer_shards) {
  std::vector<StageTimes> times;
  times.reserve(pipeline.stages.size());
  for (const ir::Stage& stage : pipeline.stages) {
    times.push_back(stage_costs.Times({.first_layer = stage.first_layer,
                                       .last_layer = stage.last_layer,
                                       .pool = stage.group.pool,
                                       .tensor = stage.group.degree(),
                                       .micro_batch = pipeline.micro_batch,
                                       .recompute = stage.recompute,
                                       .optimizer_shards = optimizer_shards}));
  }
  return times;
}

Boundary BoundaryBetween(const ir::Problem& problem, const Network& network, const ir::Placement& placement,
                         const ir::Pipeline& pipeline, int p, int s) {
  const ir::TensorGroup& from = pipeline.stages[s].group;
  const ir::TensorGroup& to = pipeline.stages[s + 1].group;
  Boundary boundary;
  boundary.activation_hop = {.from = network.NodeOf(placement.rank(p, s, 0)),
                             .to = network.NodeOf(placement.rank(p, s + 1, 0))};
  boundary.same_node = boundary.activation_hop.from == boundary.activation_hop.to;
  boundary.activation =
      MakeTransfer(problem, from.pool, to.pool, from.degree(), to.degree(), pipeline.micro_batch, boundary.same_node);
  boundary.gradient =
      MakeTransfer(problem, to.pool, from.pool, to.degree(), from.degree(), pipeline.micro_batch, boundary.same_node);
  return boundary;
}

// Multiples to which vocabularies are padded: tied embeddings and heads share one.
struct VocabMultiples {
  int embedding = 1;
  int head = 1;
};

VocabMultiples MultiplesOf(const ir::Model& model, const ir::Plan& plan) {
  VocabMultiples multiples;
  for (const ir::Pipeline& pipeline : plan.pipelines) {
    multiples.embedding = std::max(multiples.embedding, pipeline.stages.front().group.degree());
    multiples.head = std::max(multiples.head, pipeline.stages.back().group.degree());
  }
  if (model.tied_head) multiples.embedding = multiples.head = std::max(multiples.embedding, multiples.head);
  return multiples;
}

}  // namespace

PlanCosts::PlanCosts(const StageCosts& stage_costs, const ir::Plan& plan)
    : placement(plan), network(stage_costs.problem().cluster, placement) {
  stages.reserve(plan.pipelines.size());
  boundaries.resize(plan.pipelines.size());
  for (size_t p = 0; p < plan.pipelines.size(); ++p) {
    const ir::Pipeline& pipeline = plan.pipelines[p];
    stages.push_back(TimesOf(stage_costs, pipeline, OptimizerShards(plan)));
    for (size_t s = 0; s + 1 < pipeline.stages.size(); ++s) {
      boundaries[p].push_back(BoundaryBetween(stage_costs.problem(), network, placement, pipeline, static_cast<int>(p),
                                              static_cast<int>(s)));
    }
  }
}

double GradientLead(const ir::Plan& plan, const PlanCosts& costs, ir::Rank rank, int layer) {
  const ir::RankPlace& place = costs.placement.place(rank);
  const ir::Stage& stage = plan.pipelines[place.pipeline].stages[place.stage];
  const int held = layer < stage.first_layer ? stage.last_layer : layer;
  return costs.stages[place.pipeline][place.stage].BackwardBefore(stage.first_layer, held);
}

Traffic BoundaryTraffic(const PlanCosts& costs, const ir::Plan& plan) {
  const size_t zones = costs.network.cluster().zones.size();
  Traffic traffic(zones * zones, 0.0);
  for (size_t p = 0; p < plan.pipelines.size(); ++p) {
    for (const Boundary& boundary : costs.boundaries[p]) {
      if (boundary.same_node) continue;
      const size_t from = costs.network.zone(boundary.activation_hop.from).index();
      const size_t to = costs.network.zone(boundary.activation_hop.to).index();
      traffic[from * zones + to] += plan.pipelines[p].micro_batches * boundary.activation.bytes;
      traffic[to * zones + from] += plan.pipelines[p].micro_batches * boundary.gradient.bytes;
    }
  }
  return traffic;
}

void AddAllReduceTraffic(const Network& network, const AllReduce& shape, double bytes, Traffic& traffic) {
  const size_t zones = network.cluster().zones.size();
  const auto add = [&](const Flow& flow) {
    for (const Hop hop : flow.hops) {
      traffic[network.zone(hop.from).index() * zones + network.zone(hop.to).index()] += flow.factor * bytes;
    }
  };
  for (const Flow& ring : shape.zone_rings) add(ring);
  for (const Flow& ring : shape.cross_ring) add(ring);
}

namespace {

ir::IterationParts PartsOf(const PlanTimes& times) {
  const PipelineTime* slowest = &times.pipelines.front();
  for (const PipelineTime& pipeline : times.pipelines) {
    if (pipeline.backward_end.front() > slowest->backward_end.front()) slowest = &pipeline;
  }
  const double end = slowest->backward_end.front();
  // The rank that ends the iteration may sit in another stage and have begun its step before `end`.
  const double optimizer = std::min(times.optimizer, times.iteration - end);
  return {.fill = Seconds(slowest->last_stage_start),
          .steady = Seconds(slowest->last_stage_end - slowest->last_stage_start),
          .drain = Seconds(end - slowest->last_stage_end),
          .gradient_sync = Seconds(times.iteration - end - optimizer),
          .optimizer = Seconds(optimizer)};
}

ir::StageReport StageReportOf(const StageCosts& stage_costs, const ir::Plan& plan, const PlanCosts& costs,
                              const VocabMultiples& multiples, int p, int s, Seconds iteration) {
  const ir::Problem& problem = stage_costs.problem();
  const ir::Pipeline& pipeline = plan.pipelines[p];
  const ir::Stage& stage = pipeline.stages[s];
  const StageTimes& times = costs.stages[p][s];
  const ir::Gpu& gpu = problem.cluster.gpu(stage.group.pool);
  const int depth = static_cast<int>(pipeline.stages.size());
  const MemoryShape shape{.first_layer = stage.first_layer,
                          .last_layer = stage.last_layer,
                          .tensor = stage.group.degree(),
                          .vocab_multiple = stage.first_layer == 0 ? multiples.embedding : multiples.head,
                          .micro_batch = pipeline.micro_batch,
                          .in_flight = std::min(pipeline.micro_batches, depth - s),
                          .recompute = stage.recompute,
                          .optimizer_shards = OptimizerShards(plan)};
  const MemoryBreakdown memory =
      ComputeMemory(problem.model, problem.job, gpu, shape,
                    stage_costs.Activations(stage.group.pool, shape.tensor, shape.micro_batch));
  ir::StageReport report{.pipeline = p, .stage = s, .memory = {}};
  report.busy = Seconds(pipeline.micro_batches * (times.forward + times.backward) + times.optimizer);
  report.idle = iteration - report.busy;
  report.memory = MemoryTerms(memory);
  report.memory_total = memory.Total();
  report.memory_limit = MemoryLimitOf(gpu, problem.job);
  return report;
}

}  // namespace

ir::Report MakeReport(const StageCosts& stage_costs, const ir::Plan& plan, const PlanCosts& costs,
                      const PlanTimes& times, const Traffic& traffic) {
  const ir::Problem& problem = stage_costs.problem();
  ir::Report report;
  report.iteration = Seconds(times.iteration);
  report.steps = problem.job.steps;
  report.parts = PartsOf(times);
  report.timing = ir::Provenance::kMeasured;
  const VocabMultiples multiples = MultiplesOf(problem.model, plan);
  report.stages.reserve(costs.placement.rank_count());
  for (size_t p = 0; p < plan.pipelines.size(); ++p) {
    for (size_t s = 0; s < plan.pipelines[p].stages.size(); ++s) {
      report.stages.push_back(StageReportOf(stage_costs, plan, costs, multiples, static_cast<int>(p),
                                            static_cast<int>(s), report.iteration));
      const ir::Gpu& gpu = problem.cluster.gpu(plan.pipelines[p].stages[s].group.pool);
      const double usable = static_cast<double>(gpu.memory.value()) * gpu.usable_memory;
      report.peak_memory =
          std::max(report.peak_memory, static_cast<double>(report.stages.back().memory_total.value()) / usable);
      if (!costs.stages[p][s].is_measured) report.timing = ir::Provenance::kDerived;
    }
  }
  report.gpus = costs.placement.rank_count();
  report.samples_per_second = static_cast<double>(problem.job.global_batch) / times.iteration;
  report.tokens_per_second = report.samples_per_second * static_cast<double>(problem.model.seq_len);
  AddMoney(costs.network, traffic, report);
  AddSpot(problem, plan, report);
  AddConstraints(problem.job, report);
  return report;
}

}  // namespace sail::sim
