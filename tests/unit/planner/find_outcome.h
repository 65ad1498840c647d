// The planner's answer to a sound problem, and the round numbers of the fake ones.
#pragma once

#include <cstdint>
#include <utility>

#include "compiler/base/check.h"
#include "planner/planner.h"

namespace sail::test {

inline constexpr int64_t kPlenty = 1'000'000;  // bytes: more than any stage of FakeCostModel needs
inline constexpr double kUsdPerSecond = 3600;  // as USD/h

inline planner::PlanOutcome FindOutcome(const ir::Problem& problem, const sim::CostModel& costs,
                                        const planner::PlannerOptions& options = {}) {
  absl::StatusOr<planner::PlanOutcome> outcome = planner::FindPlan(problem, costs, options);
  SAIL_CHECK(outcome.ok()) << outcome.status().ToString();
  return *std::move(outcome);
}

}  // namespace sail::test
