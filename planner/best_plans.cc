#include "planner/best_plans.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "planner/judge.h"

namespace sail::planner {
namespace {

using Kind = std::vector<std::tuple<ir::PoolId, int, ir::Recompute>>;

// How many pipelines of each kind.
std::map<Kind, int> KindsOf(const ir::Plan& plan) {
  std::map<Kind, int> kinds;
  for (const ir::Pipeline& pipeline : plan.pipelines) {
    Kind kind;
    for (const ir::Stage& stage : pipeline.stages) {
      kind.emplace_back(stage.group.pool, stage.group.degree(), stage.recompute);
    }
    ++kinds[std::move(kind)];
  }
  return kinds;
}

}  // namespace

bool IsSameKind(const ir::Plan& a, const ir::Plan& b) {
  return a.optimizer_sharding == b.optimizer_sharding && a.pipelines.size() == b.pipelines.size() &&
         KindsOf(a) == KindsOf(b);
}

void BestPlans::Offer(const Judged& judged) {
  if (judged.violation > 0) return;
  if (entries_.size() == kMost && entries_.back().objective < judged.objective) return;
  Insert({judged.objective, judged.plan});
}

void BestPlans::Insert(Entry entry) {
  const auto same =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return IsSameKind(e.plan, entry.plan); });
  if (same != entries_.end()) {
    if (*same <= entry) return;
    entries_.erase(same);
  }
  entries_.insert(std::upper_bound(entries_.begin(), entries_.end(), entry), std::move(entry));
  if (entries_.size() > kMost) entries_.pop_back();
}

void BestPlans::Merge(const BestPlans& other) {
  for (const Entry& entry : other.entries_) Insert(entry);
}

std::vector<RunnerUp> BestPlans::Others(const ir::Plan& best, const std::vector<ir::ObjectiveTerm>& objective) const {
  std::vector<RunnerUp> others;
  for (const Entry& entry : entries_) {
    if (IsSameKind(entry.plan, best)) continue;
    RunnerUp& other = others.emplace_back(RunnerUp{entry.plan, entry.objective});
    for (size_t i = 0; i < objective.size(); ++i) {
      if (objective[i].maximize) other.objective[i] = -other.objective[i];
    }
  }
  return others;
}

}  // namespace sail::planner
