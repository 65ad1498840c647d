#include "planner/share_plan.h"

#include <algorithm>
#include <optional>

#include "planner/near.h"
#include "planner/plan_outline.h"
#include "planner/share.h"

namespace sail::planner {

PipelineRate RateOf(const StageTable& table, const ir::Pipeline& pipeline) {
  const Team team = TeamOf(table, pipeline);
  return RateOf(table, team.micro, team.slots, team.counts, [&](size_t s) { return HasNextOnNode(pipeline, s); });
}

std::vector<PipelineRate> RatesOf(const StageTable& table, const ir::Plan& plan) {
  std::vector<PipelineRate> rates;
  for (size_t p = 0; p < plan.pipelines.size(); ++p) {
    const bool is_known = p > 0 && IsPlacedAlike(plan.pipelines[p - 1], plan.pipelines[p]);
    rates.push_back(is_known ? rates.back() : RateOf(table, plan.pipelines[p]));
  }
  return rates;
}

// Pipelines of equal rates share as a team, of which the last ones run more.
bool ShareByRates(const StageTable& table, const std::vector<PipelineRate>& rates, ir::Plan& plan) {
  std::vector<RatedTeam> teams;
  std::vector<size_t> team_of;  // by pipeline
  for (const PipelineRate& rate : rates) {
    const auto it = std::find_if(teams.begin(), teams.end(), [&](const RatedTeam& team) { return team.rate == rate; });
    team_of.push_back(static_cast<size_t>(it - teams.begin()));
    if (it == teams.end()) {
      teams.push_back({.rate = rate});
    } else {
      ++it->pipelines;
    }
  }
  const std::optional<Shares> shares = ShareBatch(teams, table.problem().job.global_batch);
  if (!shares) return false;
  std::vector<TeamShare> left(shares->begin(), shares->end());
  for (size_t p = rates.size(); p-- > 0;) {
    const auto share = std::find_if(left.begin(), left.end(), [&](const TeamShare& of) {
      return of.team == static_cast<int>(team_of[p]) && of.pipelines > 0;
    });
    --share->pipelines;
    plan.pipelines[p].micro_batches = share->micro_batches;
  }
  return true;
}

bool Share(const StageTable& table, ir::Plan& plan) { return ShareByRates(table, RatesOf(table, plan), plan); }

}  // namespace sail::planner
