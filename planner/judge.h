// What the search looks for, and the only place that says which of two plans is better.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_set>
#include <vector>

#include "absl/status/status.h"
#include "compiler/ir/plan.h"
#include "compiler/ir/problem.h"
#include "compiler/ir/report.h"
#include "planner/best_plans.h"
#include "planner/stage_table.h"
#include "simulator/cost_model.h"

namespace sail::planner {

enum class Goal {
  kBest,
  kFeasible,  // any plan that keeps the limits ends the search
};

// The limits of one search: those of the job, or fewer when a conflict is explained.
struct SearchScope {
  std::vector<int> quotas;       // nodes by pool
  std::vector<int> least_nodes;  // by pool, what a plan must use at least; empty: nothing
  MemoryRule memory = MemoryRule::kEnforced;
  ir::Keep keep;
  std::vector<ir::Constraint> constraints;
  std::vector<ir::ObjectiveTerm> objective;
  Goal goal = Goal::kBest;
  friend bool operator==(const SearchScope&, const SearchScope&) = default;
};

// The limits and the objective of the job, and all its nodes.
SearchScope ScopeOf(const ir::Problem& problem);

struct Judged {
  ir::Plan plan;  // canonical
  ir::Report report;
  double violation = 0;  // sum of the shares by which limits and stage memories are exceeded or least nodes are
                         // missed, and of what `keep` forbids; 0 if all hold
  std::vector<double> objective;  // smaller is better, lexicographic
};

// Fewer violations, then a better objective, then the smaller plan. Exact comparisons: no tolerance decides a plan.
bool IsBetter(const Judged& a, const Judged& b);

// Whether a plan that takes longer is worse, whatever else it does.
bool IsTimeFirst(const std::vector<ir::ObjectiveTerm>& objective);

// By how much the value exceeds the limit, as a share of it; 0 if it holds.
double ExcessOver(const ir::Constraint& constraint, double value);

// How often a pipeline goes beyond `keep`: neighbouring stages, and pairs with stages of `first` that hold a layer of
// theirs, that are too far apart.
int ExcessesOver(const ir::Keep& keep, const ir::Cluster& cluster, const ir::Pipeline& pipeline,
                 const ir::Pipeline& first);

// The violation of a plan (Judged) but for `keep`. `memory_excess`: sum of shares; `pools`: elements with a pool and
// its nodes in use; `value_of`: the plan's value of a metric.
template <typename Pools, typename ValueOf>
double ViolationOf(const SearchScope& scope, double memory_excess, const Pools& pools, const ValueOf& value_of) {
  double violation = scope.memory == MemoryRule::kEnforced ? memory_excess : 0;
  for (size_t p = 0; p < scope.least_nodes.size(); ++p) {
    int nodes = 0;
    for (const auto& used : pools) nodes += used.pool.index() == static_cast<int>(p) ? used.nodes : 0;
    const int wanted = scope.least_nodes[p];
    violation += nodes < wanted ? static_cast<double>(wanted - nodes) / wanted : 0;
  }
  for (const ir::Constraint& constraint : scope.constraints) {
    violation += ExcessOver(constraint, value_of(constraint.metric));
  }
  return violation;
}

// Numbers nodes and GPUs in order of use and sorts pipelines: plans that differ only in names of equal nodes and GPUs
// become equal. Expects groups with valid nodes and as many GPUs as their degree, the GPUs themselves unassigned.
void Normalize(ir::Plan& plan);

class Judge {
 public:
  // `work` is the budget: judging a plan costs the number of its GPUs.
  Judge(const ir::Problem& problem, const sim::CostModel& costs, const SearchScope& scope, int64_t work);

  // Normalizes and judges; nullopt if the plan was judged before or the search should end.
  std::optional<Judged> Evaluate(ir::Plan plan);

  // Takes what other judgements of plans cost off the budget.
  void Spend(int64_t work) { work_ -= work; }

  // Whether the search should end: the budget is used up, the goal reached, or an error occurred.
  bool is_exhausted() const { return work_ <= 0 || is_goal_reached_ || !status_.ok(); }
  int64_t candidates() const { return candidates_; }  // plans judged
  const absl::Status& status() const { return status_; }
  const SearchScope& scope() const { return scope_; }
  const BestPlans& best_plans() const { return best_plans_; }  // of all judged

 private:
  double Violation(const ir::Report& report) const;
  double Spread(const ir::Plan& plan) const;

  const ir::Problem& problem_;
  const sim::CostModel& costs_;
  const SearchScope& scope_;
  int64_t work_;
  bool is_goal_reached_ = false;
  int64_t candidates_ = 0;
  std::unordered_set<uint64_t> seen_;  // hashes of plans; only ever asked, never iterated
  BestPlans best_plans_;
  absl::Status status_;
};

}  // namespace sail::planner
