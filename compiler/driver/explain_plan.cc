#include "compiler/driver/explain_plan.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "compiler/base/number_text.h"
#include "compiler/base/status_macros.h"
#include "compiler/driver/answer.h"
#include "compiler/driver/infeasible.h"
#include "compiler/driver/quantity_text.h"
#include "compiler/driver/render.h"
#include "compiler/driver/report_tables.h"
#include "compiler/driver/wish.h"
#include "compiler/ir/names.h"
#include "compiler/ir/verify_plan.h"
#include "simulator/simulate.h"

namespace sail::driver {
namespace {

constexpr double kBinding = 0.02;   // a limit with less slack than that binds
constexpr size_t kMostPools = 6;    // whose idle nodes are tried out
constexpr double kNotable = 0.001;  // of a value: less is no difference to speak of

std::string TermText(const ir::ObjectiveTerm& term) {
  return absl::StrCat(term.maximize ? "maximize " : "minimize ", ir::ToString(term.metric));
}

// How much worse `other` is than `plan` in the first term of the objective in which they differ, as a share of the
// plan's; negative if better. Not finite where there is no such share: egress from none, tokens for no money.
double Distance(const ir::Job& job, const ir::Report& plan, const ir::Report& other) {
  for (const ir::ObjectiveTerm& term : job.objective) {
    const double a = ir::Value(plan, term.metric), b = ir::Value(other, term.metric);
    if (a == b || std::abs(b - a) <= kNotable * std::abs(a)) continue;
    return (term.maximize ? a - b : b - a) / std::abs(a);
  }
  return 0;
}

// "2 pipelines: 1 stage of 2 GPUs on fast then 2 stages of 1 GPU on slow": what makes a plan its kind.
std::string KindText(const ir::Problem& problem, const ir::Plan& plan) {
  std::vector<std::pair<std::string, int>> kinds;
  for (const ir::Pipeline& pipeline : plan.pipelines) {
    std::vector<std::string> runs;
    for (size_t s = 0, end = 0; s < pipeline.stages.size(); s = end) {
      const ir::Stage& stage = pipeline.stages[s];
      const auto is_alike = [&](const ir::Stage& other) {
        return other.group.pool == stage.group.pool && other.group.degree() == stage.group.degree() &&
               other.recompute == stage.recompute;
      };
      for (end = s + 1; end < pipeline.stages.size() && is_alike(pipeline.stages[end]);) ++end;
      const std::string recompute = stage.recompute == ir::Recompute::kNone
                                        ? ""
                                        : absl::StrCat(" recompute ", ir::NameOf(ir::kRecomputes, stage.recompute));
      runs.push_back(absl::StrCat(CountText(static_cast<int64_t>(end - s), "stage"), " of ",
                                  CountText(stage.group.degree(), "GPU"), " on ",
                                  problem.cluster.pool(stage.group.pool).name, recompute));
    }
    std::string kind = absl::StrJoin(runs, " then ");
    const auto known = std::find_if(kinds.begin(), kinds.end(), [&](const auto& entry) { return entry.first == kind; });
    if (known == kinds.end()) {
      kinds.emplace_back(std::move(kind), 1);
    } else {
      ++known->second;
    }
  }
  std::vector<std::string> parts;
  for (const auto& [kind, count] : kinds) parts.push_back(absl::StrCat(CountText(count, "pipeline"), ": ", kind));
  if (plan.optimizer_sharding != ir::OptimizerSharding::kNone) {
    parts.push_back(absl::StrCat("optimizer ", ir::NameOf(ir::kOptimizerShardings, plan.optimizer_sharding)));
  }
  return absl::StrJoin(parts, "; ");
}

std::string StageText(const ir::Problem& problem, const ir::Plan& plan, const ir::StageReport& report) {
  const ir::Stage& stage = plan.pipelines[report.pipeline].stages[report.stage];
  return absl::StrCat("pipeline ", report.pipeline, " stage ", report.stage, " (layers ", stage.first_layer, "-",
                      stage.last_layer, ", ", problem.cluster.gpu(stage.group.pool).name, " of ",
                      problem.cluster.pool(stage.group.pool).name, ")");
}

class PlanExplainer {
 public:
  PlanExplainer(const ReadPlanFile& read, const ExplainProgress& progress)
      : problem_(read.file.problem), plan_(read.file.plan), report_(read.report), progress_(progress) {}

  absl::StatusOr<std::string> Explain() {
    const std::vector<int> idle = IdlePools();
    const int searches = 1 + static_cast<int>(std::min(idle.size(), kMostPools));
    SAIL_ASSIGN_OR_RETURN(const Answer answer, Search(problem_, {.bound_work = 0}, searches));
    std::string text =
        absl::StrCat("why this plan of job ", problem_.job.name, "\n\n", Objective(), Limits(), Bottleneck());
    SAIL_ASSIGN_OR_RETURN(const std::string others, Others(answer));
    SAIL_ASSIGN_OR_RETURN(const std::string unused, Idle(idle, searches));
    return absl::StrCat(text, others, unused);
  }

  absl::StatusOr<std::string> ExplainWish(absl::string_view wish) {
    SAIL_ASSIGN_OR_RETURN(const WishedProblem wished, ApplyWish(wish, problem_));
    const std::string title = absl::StrCat("wish for the plan of job ", problem_.job.name, ": ", wish, "\n\n");
    if (IsFulfilled(wished)) return absl::StrCat(title, "  the plan is like that already\n");
    SAIL_ASSIGN_OR_RETURN(const Answer answer, Search(wished.problem, wished.options, /*searches=*/1));
    if (const auto* infeasible = std::get_if<planner::Infeasible>(&answer.outcome)) {
      return absl::StrCat(title, "  no plan like that keeps the limits of the job\n",
                          ConflictText(problem_.job, *infeasible));
    }
    const ir::Plan& plan = std::get<planner::Feasible>(answer.outcome).plan;
    return absl::StrCat(title, Comparison(answer.timeline).Render("  "), "\n  the best plan like that has ",
                        KindText(problem_, plan), "\n");
  }

 private:
  absl::StatusOr<Answer> Search(const ir::Problem& problem, const planner::PlannerOptions& options, int searches) {
    if (progress_) progress_(++searches_, searches);
    return FindAnswer(problem, options);
  }

  std::string Objective() const {
    std::string text;
    for (const ir::ObjectiveTerm& term : problem_.job.objective) {
      absl::StrAppend(&text, text.empty() ? "  objective   " : "  then        ", TermText(term), ": ",
                      MetricText(term.metric, ir::Value(report_, term.metric)), "\n");
    }
    return text;
  }

  std::string Limits() const {
    std::vector<std::string> binding;
    const ir::ConstraintReport* nearest = nullptr;
    for (const ir::ConstraintReport& limit : report_.constraints) {
      if (limit.slack < kBinding) binding.push_back(absl::StrCat(limit.name, " (", PercentText(limit.slack), " left)"));
      if (nearest == nullptr || limit.slack < nearest->slack) nearest = &limit;
    }
    std::string text = "  limits      ";
    if (!binding.empty()) {
      absl::StrAppend(&text, absl::StrJoin(binding, ", "), binding.size() == 1 ? " binds\n" : " bind\n");
    } else if (nearest != nullptr) {
      absl::StrAppend(&text, "none binds; nearest is ", nearest->name, ", with ", PercentText(nearest->slack),
                      " left\n");
    } else {
      absl::StrAppend(&text, "the job sets none\n");
    }
    const auto fullness = [](const ir::StageReport& stage) {
      return static_cast<double>(stage.memory_total.value()) / static_cast<double>(stage.memory_limit.value());
    };
    const ir::StageReport& fullest =
        *std::max_element(report_.stages.begin(), report_.stages.end(),
                          [&](const auto& a, const auto& b) { return fullness(a) < fullness(b); });
    absl::StrAppend(&text, "  memory      ", fullness(fullest) > 1 - kBinding ? "binds: " : "does not bind: ",
                    StageText(problem_, plan_, fullest), " needs ", BytesText(fullest.memory_total), " of ",
                    BytesText(fullest.memory_limit), "\n");
    if (report_.constraints.empty()) return text;
    return absl::StrCat(text, "\n", LimitsTable(problem_, report_).Render("  "), "\n");
  }

  std::string Bottleneck() const {
    const ir::StageReport& busiest = *std::max_element(report_.stages.begin(), report_.stages.end(),
                                                       [](const auto& a, const auto& b) { return a.busy < b.busy; });
    const ir::IterationParts& parts = report_.parts;
    const auto share = [&](Seconds part) { return PercentText(part / report_.iteration); };
    return absl::StrCat("  bottleneck  ", StageText(problem_, plan_, busiest), " computes ", share(busiest.busy),
                        " of the iteration\n", "              filling and draining take ",
                        share(parts.fill + parts.drain), ", gradient synchronisation ", share(parts.gradient_sync),
                        ", the optimizer ", share(parts.optimizer), "\n");
  }

  // The best plans of other kinds, as the timeline sees them.
  absl::StatusOr<std::string> Others(const Answer& answer) const {
    const auto* found = std::get_if<planner::Feasible>(&answer.outcome);
    if (found == nullptr) return std::string("\n  the search finds no plan of its own within these limits\n");
    const ir::Metric metric = problem_.job.objective.front().metric;
    Table table("<>>>><", {"other plans", std::string(ir::ToString(metric)), "worse by", "USD/iter", "GPUs", "what"});
    std::vector<const ir::Plan*> plans;
    for (const planner::RunnerUp& other : found->runners_up) plans.push_back(&other.plan);
    std::string note;
    if (Distance(problem_.job, report_, answer.timeline) < 0) {
      note = "\n  the search now finds a better plan than that of the file:\n";
      plans.insert(plans.begin(), &found->plan);
    }
    for (const ir::Plan* plan : plans) {
      SAIL_ASSIGN_OR_RETURN(const ir::Report report, sim::Simulate(problem_, *plan));
      if (!Holds(report)) continue;
      const double distance = Distance(problem_.job, report_, report);
      table.Add({absl::StrCat(table.rows().size()), MetricText(metric, ir::Value(report, metric)),
                 std::isfinite(distance) ? PercentText(distance) : "-", FourDigits(report.cost_per_iteration.value()),
                 absl::StrCat(report.gpus), KindText(problem_, *plan)});
    }
    if (table.rows().size() == 1) return std::string("\n  the search met no plan of another kind within the limits\n");
    return absl::StrCat(note, "\n", table.Render("  "));
  }

  int NodesUsed(int pool) const {
    for (const ir::PoolCost& used : report_.pools) {
      if (used.pool.index() == pool) return used.nodes;
    }
    return 0;
  }

  // Pools with idle nodes, those with the most first.
  std::vector<int> IdlePools() const {
    const std::vector<ir::Pool>& pools = problem_.cluster.pools;
    std::vector<int> idle;
    for (int p = 0; p < static_cast<int>(pools.size()); ++p) {
      if (NodesUsed(p) < pools[p].quota) idle.push_back(p);
    }
    std::stable_sort(idle.begin(), idle.end(),
                     [&](int a, int b) { return pools[a].quota - NodesUsed(a) > pools[b].quota - NodesUsed(b); });
    return idle;
  }

  // For each of these pools the best plan that uses one more node of it.
  absl::StatusOr<std::string> Idle(const std::vector<int>& idle, int searches) {
    const std::vector<ir::Pool>& pools = problem_.cluster.pools;
    std::string text = IdleGpus();
    for (size_t i = 0; i < std::min(idle.size(), kMostPools); ++i) {
      SAIL_ASSIGN_OR_RETURN(const std::string why, WhyIdle(idle[i], searches));
      absl::StrAppend(&text, "  idle        pool ", pools[idle[i]].name, ": ",
                      pools[idle[i]].quota - NodesUsed(idle[i]), " of ", CountText(pools[idle[i]].quota, "node"), "; ",
                      why, "\n");
    }
    if (idle.size() > kMostPools) {
      absl::StrAppend(&text, "  idle        nodes of ", idle.size() - kMostPools, " more pools\n");
    }
    if (text.empty()) text = "  idle        nothing: every GPU of every pool computes\n";
    return absl::StrCat("\n", text);
  }

  absl::StatusOr<std::string> WhyIdle(int pool, int searches) {
    planner::PlannerOptions options{.bound_work = 0};
    options.least_nodes.assign(problem_.cluster.pools.size(), 0);
    options.least_nodes[pool] = NodesUsed(pool) + 1;
    SAIL_ASSIGN_OR_RETURN(const Answer answer, Search(problem_, options, searches));
    if (const auto* infeasible = std::get_if<planner::Infeasible>(&answer.outcome)) {
      std::vector<std::string> names;
      for (const planner::ConflictingLimit& limit : infeasible->limits) names.push_back(limit.name);
      return absl::StrCat("no plan with one more keeps the limits (", absl::StrJoin(names, ", "), ")");
    }
    std::vector<std::string> changes;
    std::set<ir::Metric> metrics = {ir::Metric::kThroughput, ir::Metric::kCostPerIter};
    for (const ir::ObjectiveTerm& term : problem_.job.objective) metrics.insert(term.metric);
    for (const ir::Metric metric : metrics) {
      const std::string change = ChangeText(ir::Value(report_, metric), ir::Value(answer.timeline, metric));
      if (!change.empty()) changes.push_back(absl::StrCat(ir::ToString(metric), " ", change));
    }
    return absl::StrCat("the best plan with one more: ", absl::StrJoin(changes, ", "));
  }

  // GPUs without work on nodes that are paid for.
  std::string IdleGpus() const {
    int paid = 0;
    for (const ir::PoolCost& used : report_.pools) {
      paid += used.nodes * problem_.cluster.machine(used.pool).gpus_per_node;
    }
    if (paid == report_.gpus) return "";
    return absl::StrCat("  idle        ", CountText(paid - report_.gpus, "GPU"), " of the nodes in use\n");
  }

  bool IsFulfilled(const WishedProblem& wished) const {
    for (size_t p = 0; p < wished.options.least_nodes.size(); ++p) {
      if (NodesUsed(static_cast<int>(p)) < wished.options.least_nodes[p]) return false;
    }
    return ir::VerifyPlanStructure(wished.problem, plan_).ok();
  }

  // Every metric of the objective and the limits, and time and money in any case.
  Table Comparison(const ir::Report& wished) const {
    std::set<ir::Metric> metrics = {ir::Metric::kIterTime, ir::Metric::kCostPerIter, ir::Metric::kNodes,
                                    ir::Metric::kGpus};
    for (const ir::ObjectiveTerm& term : problem_.job.objective) metrics.insert(term.metric);
    for (const ir::Constraint& constraint : problem_.job.constraints) metrics.insert(constraint.metric);
    Table table("<>>>", {"", "this plan", "with the wish", "change"});
    for (const ir::Metric metric : metrics) {
      const double before = ir::Value(report_, metric), after = ir::Value(wished, metric);
      table.Add({std::string(ir::ToString(metric)), MetricText(metric, before), MetricText(metric, after),
                 ChangeText(before, after)});
    }
    return table;
  }

  const ir::Problem& problem_;
  const ir::Plan& plan_;
  const ir::Report& report_;
  const ExplainProgress& progress_;
  int searches_ = 0;  // begun
};

}  // namespace

absl::StatusOr<std::string> ExplainPlan(const ReadPlanFile& plan, const ExplainProgress& progress) {
  return PlanExplainer(plan, progress).Explain();
}

absl::StatusOr<std::string> ExplainWish(const ReadPlanFile& plan, absl::string_view wish,
                                        const ExplainProgress& progress) {
  return PlanExplainer(plan, progress).ExplainWish(wish);
}

}  // namespace sail::driver
