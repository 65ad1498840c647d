#include "compiler/driver/fallback_plans.h"

#include <utility>

#include "compiler/base/status_macros.h"
#include "compiler/driver/next_plan.h"
#include "planner/losses.h"
#include "runtime/bundle/trainable.h"

namespace sail::driver {

absl::StatusOr<std::vector<rt::Fallback>> MakeFallbacks(const ir::PlanFile& file) {
  std::vector<rt::Fallback> fallbacks;
  for (const planner::Loss& loss : planner::LossesOf(file.problem, file.plan)) {
    rt::Fallback& fallback = fallbacks.emplace_back();
    if (loss.zone) fallback.zone = loss.zone->index();
    for (const planner::NodeName& node : loss.nodes) {
      fallback.nodes.push_back(rt::NodeName(file.problem.cluster, node.pool, node.node));
    }
    SAIL_ASSIGN_OR_RETURN(const planner::Change change,
                          planner::ApplyMembership(file.problem, file.plan, loss.membership));
    SAIL_ASSIGN_OR_RETURN(const NextOutcome outcome, FindNext(change, {}));
    const auto* answer = std::get_if<NextAnswer>(&outcome);
    if (answer == nullptr || !rt::CheckTrainable(change.problem, answer->replanned.next.plan).ok()) continue;
    fallback.plan_file = ir::PrintPlanFile(change.problem, answer->replanned.next.plan, answer->timeline, {},
                                           OriginOf(change, file.plan_hash));
  }
  return fallbacks;
}

}  // namespace sail::driver
