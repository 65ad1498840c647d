#include "planner/infeasible.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compiler/base/number_text.h"
#include "compiler/base/status_macros.h"
#include "planner/planner.h"
#include "planner/search.h"

namespace sail::planner {
namespace {

std::string GibibytesText(int64_t bytes) {
  return absl::StrFormat("%.1f GiB", static_cast<double>(bytes) / static_cast<double>(int64_t{1} << 30));
}

class Explainer {
 public:
  Explainer(const ir::Problem& problem, const sim::CostModel& costs, int64_t work, int64_t candidates)
      : problem_(problem), costs_(costs), work_(work) {
    infeasible_.candidates = candidates;
  }

  absl::StatusOr<Infeasible> Explain(const SearchScope& scope) {
    all_ = scope_ = scope;
    // 1. The filter.
    SearchScope without = scope_;
    for (int& quota : without.quotas) quota *= kQuotaFactor;
    SAIL_ASSIGN_OR_RETURN(const bool is_quota_needless, DropIfStillInfeasible(std::move(without)));
    without = scope_;
    without.memory = MemoryRule::kIgnored;
    SAIL_ASSIGN_OR_RETURN(const bool is_memory_needless, DropIfStillInfeasible(std::move(without)));
    without = scope_;
    without.keep = {};
    SAIL_ASSIGN_OR_RETURN(const bool is_keep_needless, DropIfStillInfeasible(std::move(without)));
    for (size_t i = 0; i < scope_.constraints.size();) {
      without = scope_;
      without.constraints.erase(without.constraints.begin() + static_cast<std::ptrdiff_t>(i));
      SAIL_ASSIGN_OR_RETURN(const bool is_dropped, DropIfStillInfeasible(std::move(without)));
      if (!is_dropped) ++i;
    }
    // 2. How far each limit of the conflict is missed.
    if (!is_quota_needless) SAIL_RETURN_IF_ERROR(AddQuota());
    if (!is_memory_needless) SAIL_RETURN_IF_ERROR(AddMemory());
    if (!is_keep_needless) infeasible_.limits.push_back({.name = "keep", .detail = "without it there is a plan"});
    for (const ir::Constraint& constraint : scope_.constraints) SAIL_RETURN_IF_ERROR(AddConstraint(constraint));
    if (infeasible_.limits.empty()) AddNothingFits();
    return std::move(infeasible_);
  }

 private:
  absl::StatusOr<SearchResult> Run(const SearchScope& scope) {
    absl::StatusOr<SearchResult> result = Search(problem_, costs_, scope, work_);
    if (result.ok()) infeasible_.candidates += result->candidates;
    return result;
  }

  absl::StatusOr<bool> DropIfStillInfeasible(SearchScope without) {
    without.goal = Goal::kFeasible;
    SAIL_ASSIGN_OR_RETURN(const SearchResult result, Run(without));
    const bool is_feasible = result.best && result.best->violation == 0;
    without.goal = Goal::kBest;
    if (!is_feasible) scope_ = std::move(without);
    return !is_feasible;
  }

  absl::Status AddQuota() {
    for (int factor = 2; factor <= kQuotaFactor; factor *= 2) {
      SearchScope more = scope_;
      for (int& quota : more.quotas) quota *= factor;
      SAIL_ASSIGN_OR_RETURN(const SearchResult result, Run(more));
      if (!result.best || result.best->violation > 0) continue;
      const ir::Report& report = result.best->report;
      std::string nodes;
      for (const ir::PoolCost& pool : report.pools) {
        absl::StrAppend(&nodes, nodes.empty() ? "" : ", ", pool.nodes, " of ", problem_.cluster.pool(pool.pool).name);
      }
      infeasible_.limits.push_back(
          {.name = "quota",
           .best = static_cast<double>(factor),
           .limit = 1,
           .detail = absl::StrCat("enough would be ", CountText(report.nodes, "node"), ": ", nodes)});
      return absl::OkStatus();
    }
    return absl::OkStatus();
  }

  // The stage that misses its limit by most, in the plan without a memory limit that violates memory least.
  absl::Status AddMemory() {
    SearchScope free = scope_;
    free.memory = MemoryRule::kIgnored;
    free.objective = {{.metric = ir::Metric::kPeakMemory, .maximize = false}};
    SAIL_ASSIGN_OR_RETURN(const SearchResult result, Run(free));
    if (!result.best) return absl::OkStatus();
    const ir::StageReport* worst = nullptr;
    for (const ir::StageReport& stage : result.best->report.stages) {
      const auto missing = [](const ir::StageReport& s) { return s.memory_total - s.memory_limit; };
      if (worst == nullptr || missing(stage) > missing(*worst)) worst = &stage;
    }
    const ir::PoolId pool = result.best->plan.pipelines[worst->pipeline].stages[worst->stage].group.pool;
    infeasible_.limits.push_back(
        {.name = "memory",
         .best = static_cast<double>((worst->memory_total - worst->memory_limit).value()),
         .limit = static_cast<double>(worst->memory_limit.value()),
         .gpu = problem_.cluster.machine(pool).gpu,
         .detail = absl::StrCat("closest miss: stage ", worst->stage, " on ", problem_.cluster.gpu(pool).name,
                                " needs ", GibibytesText(worst->memory_total.value()), " of ",
                                GibibytesText(worst->memory_limit.value()))});
    return absl::OkStatus();
  }

  // The best value of the metric of `constraint` in `scope` without it; NaN if no plan keeps the rest.
  absl::StatusOr<double> BestWithout(const ir::Constraint& constraint, SearchScope scope) {
    scope.constraints.erase(std::find(scope.constraints.begin(), scope.constraints.end(), constraint));
    scope.objective = {{.metric = constraint.metric, .maximize = !constraint.at_most}};
    SAIL_ASSIGN_OR_RETURN(const SearchResult result, Run(scope));
    const bool reachable = result.best && result.best->violation == 0;
    return reachable ? ir::Value(result.best->report, constraint.metric) : std::numeric_limits<double>::quiet_NaN();
  }

  absl::Status AddConstraint(const ir::Constraint& constraint) {
    SAIL_ASSIGN_OR_RETURN(const double best, BestWithout(constraint, scope_));
    double relaxed = best;
    if (std::isfinite(best) && !(scope_ == all_)) {
      SearchScope all = all_;
      // A limit of peak_memory is also what a stage may fill: with the one the other is relaxed.
      if (constraint.metric == ir::Metric::kPeakMemory) all.memory = MemoryRule::kIgnored;
      SAIL_ASSIGN_OR_RETURN(relaxed, BestWithout(constraint, std::move(all)));
    }
    infeasible_.limits.push_back({.name = constraint.name,
                                  .is_constraint = true,
                                  .best = best,
                                  .limit = constraint.limit,
                                  .relaxed = relaxed,
                                  .detail = ""});
    return absl::OkStatus();
  }

  // No limit helps: the candidates themselves form no plan.
  void AddNothingFits() {
    int64_t nodes = 0;
    for (const int quota : scope_.quotas) nodes += quota;
    infeasible_.limits.push_back(
        {.name = "quota",
         .best = 0,
         .limit = 0,
         .detail = nodes == 0 ? "no pool has a node"
                              : "no combination of tensor degree, pipeline depth and micro-batch forms a plan on these "
                                "nodes"});
  }

  const ir::Problem& problem_;
  const sim::CostModel& costs_;
  const int64_t work_;
  SearchScope all_;    // every limit of the job
  SearchScope scope_;  // those not dropped yet
  Infeasible infeasible_;
};

}  // namespace

absl::StatusOr<bool> HasPlan(const ir::Problem& problem, const sim::CostModel& costs) {
  SearchScope scope = ScopeOf(problem);
  scope.goal = Goal::kFeasible;
  SAIL_ASSIGN_OR_RETURN(const SearchResult result, Search(problem, costs, scope, PlannerOptions().work_budget));
  return result.best && result.best->violation == 0;
}

absl::StatusOr<Infeasible> ExplainInfeasible(const ir::Problem& problem, const sim::CostModel& costs,
                                             const SearchScope& scope, int64_t work, int64_t candidates) {
  return Explainer(problem, costs, work, candidates).Explain(scope);
}

}  // namespace sail::planner
