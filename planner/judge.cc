#include "planner/judge.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "compiler/base/rng.h"
#include "compiler/base/tolerance.h"
#include "planner/plan_outline.h"

namespace sail::planner {
namespace {

uint64_t HashOf(const ir::Plan& plan) {
  uint64_t hash = 0;
  const auto add = [&](int value) { hash = Mix64(hash ^ static_cast<uint64_t>(value)); };
  add(static_cast<int>(plan.optimizer_sharding));
  for (const ir::Pipeline& pipeline : plan.pipelines) {
    add(pipeline.micro_batch);
    add(pipeline.micro_batches);
    for (const ir::Stage& stage : pipeline.stages) {
      add(stage.last_layer);
      add(stage.group.pool.index());
      add(stage.group.node);
      add(stage.group.degree());
      add(static_cast<int>(stage.recompute));
    }
    add(-1);
  }
  return hash;
}

// Order that names of nodes do not influence.
bool ComesBefore(const ir::Pipeline& a, const ir::Pipeline& b) {
  const auto key = [](const ir::Stage& stage) {
    return std::make_tuple(stage.first_layer, stage.last_layer, stage.group.pool, stage.group.degree(),
                           stage.recompute);
  };
  const size_t common = std::min(a.stages.size(), b.stages.size());
  for (size_t s = 0; s < common; ++s) {
    if (key(a.stages[s]) != key(b.stages[s])) return key(a.stages[s]) < key(b.stages[s]);
  }
  return std::make_tuple(a.stages.size(), a.micro_batch, a.micro_batches) <
         std::make_tuple(b.stages.size(), b.micro_batch, b.micro_batches);
}

ir::Reach SpanOfGroups(const ir::Cluster& cluster, const ir::TensorGroup& a, const ir::TensorGroup& b) {
  return IsSameNode(a, b) ? ir::Reach::kNode : SpanOf(cluster, a.pool, b.pool);
}

}  // namespace

bool IsTimeFirst(const std::vector<ir::ObjectiveTerm>& objective) {
  static constexpr ir::Metric kTimes[] = {ir::Metric::kThroughput, ir::Metric::kIterTime, ir::Metric::kSampleRate,
                                          ir::Metric::kTokenRate, ir::Metric::kJobTime};
  return !objective.empty() &&
         std::find(std::begin(kTimes), std::end(kTimes), objective.front().metric) != std::end(kTimes);
}

double ExcessOver(const ir::Constraint& constraint, double value) {
  const double excess = constraint.at_most ? value - constraint.limit : constraint.limit - value;
  if (excess <= kLimitRelativeTolerance * std::abs(constraint.limit)) return 0;
  return constraint.limit != 0 ? excess / std::abs(constraint.limit) : 1 + excess;
}

int ExcessesOver(const ir::Keep& keep, const ir::Cluster& cluster, const ir::Pipeline& pipeline,
                 const ir::Pipeline& first) {
  int excesses = 0;
  const std::vector<ir::Stage>&stages = pipeline.stages, &others = first.stages;
  for (size_t s = 1; s < stages.size(); ++s) {
    if (SpanOfGroups(cluster, stages[s - 1].group, stages[s].group) > keep.pipeline) ++excesses;
  }
  // To compare with the first pipeline is enough: being within one place is transitive.
  for (size_t s = 0, other = 0; s < stages.size() && other < others.size();) {
    if (SpanOfGroups(cluster, stages[s].group, others[other].group) > keep.data) ++excesses;
    const int end = stages[s].last_layer, other_end = others[other].last_layer;
    if (end <= other_end) ++s;
    if (other_end <= end) ++other;
  }
  return excesses;
}

SearchScope ScopeOf(const ir::Problem& problem) {
  SearchScope scope{.quotas = {},
                    .keep = problem.job.keep,
                    .constraints = problem.job.constraints,
                    .objective = problem.job.objective};
  for (const ir::Pool& pool : problem.cluster.pools) scope.quotas.push_back(pool.quota);
  return scope;
}

bool IsBetter(const Judged& a, const Judged& b) {
  if (a.violation != b.violation) return a.violation < b.violation;
  if (a.objective != b.objective) return a.objective < b.objective;
  return a.plan < b.plan;
}

void Normalize(ir::Plan& plan) {
  std::stable_sort(plan.pipelines.begin(), plan.pipelines.end(), ComesBefore);
  std::map<std::pair<ir::PoolId, int>, std::pair<int, int>> nodes;  // old name: new name, GPUs given out
  std::map<ir::PoolId, int> next;
  for (ir::Pipeline& pipeline : plan.pipelines) {
    for (ir::Stage& stage : pipeline.stages) {
      const auto [it, is_new] = nodes.insert({{stage.group.pool, stage.group.node}, {0, 0}});
      auto& [node, used] = it->second;
      if (is_new) node = next[stage.group.pool]++;
      stage.group.node = node;
      for (int& gpu : stage.group.gpus) gpu = used++;
    }
  }
  ir::Canonicalize(plan);
}

Judge::Judge(const ir::Problem& problem, const sim::CostModel& costs, const SearchScope& scope, int64_t work)
    : problem_(problem), costs_(costs), scope_(scope), work_(work) {}

std::optional<Judged> Judge::Evaluate(ir::Plan plan) {
  if (is_exhausted()) return std::nullopt;
  Normalize(plan);
  if (!seen_.insert(HashOf(plan)).second) return std::nullopt;
  for (const ir::Pipeline& pipeline : plan.pipelines) {
    for (const ir::Stage& stage : pipeline.stages) work_ -= stage.group.degree();
  }
  ++candidates_;
  absl::StatusOr<ir::Report> report = costs_.Evaluate(plan);
  if (!report.ok()) {
    status_ = report.status();
    return std::nullopt;
  }
  Judged judged{.plan = std::move(plan), .report = *std::move(report), .objective = {}};
  judged.violation = Violation(judged.report) + Spread(judged.plan);
  is_goal_reached_ = scope_.goal == Goal::kFeasible && judged.violation == 0;
  for (const ir::ObjectiveTerm& term : scope_.objective) {
    const double value = ir::Value(judged.report, term.metric);
    judged.objective.push_back(term.maximize ? -value : value);
  }
  best_plans_.Offer(judged);
  return judged;
}

double Judge::Spread(const ir::Plan& plan) const {
  const ir::Keep& keep = scope_.keep;
  if (keep.pipeline == ir::Reach::kAny && keep.data == ir::Reach::kAny) return 0;
  int excesses = 0;
  for (const ir::Pipeline& pipeline : plan.pipelines) {
    excesses += ExcessesOver(keep, problem_.cluster, pipeline, plan.pipelines.front());
  }
  return excesses;
}

double Judge::Violation(const ir::Report& report) const {
  double memory_excess = 0;
  for (const ir::StageReport& stage : report.stages) {
    if (stage.memory_total <= stage.memory_limit) continue;
    const auto limit = static_cast<double>(stage.memory_limit.value());
    memory_excess += static_cast<double>(stage.memory_total.value()) / limit - 1;
  }
  return ViolationOf(scope_, memory_excess, report.pools, [&](ir::Metric metric) { return ir::Value(report, metric); });
}

}  // namespace sail::planner
