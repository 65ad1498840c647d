// What the properties of the search share.
#pragma once

#include <cmath>
#include <utility>

#include "planner/planner.h"
#include "simulator/sail_cost_model.h"

namespace sail::planner {

constexpr int64_t kMostPlans = 3'000;
constexpr double kLargestGap = 0.05;
constexpr double kSameValue = 1e-9;  // relative: sums in another order

inline PlanOutcome Find(const ir::Problem& problem) {
  absl::StatusOr<PlanOutcome> outcome = FindPlan(problem, *sim::MakeSailCostModel(problem), {.bound_work = 0});
  SAIL_CHECK(outcome.ok()) << outcome.status().ToString();
  return *std::move(outcome);
}

// By how much `a` is worse than `b` in the first term in which they differ; negative if better.
inline double Gap(const ir::Job& job, const ir::Report& a, const ir::Report& b) {
  for (const ir::ObjectiveTerm& term : job.objective) {
    const double x = ir::Value(a, term.metric), y = ir::Value(b, term.metric);
    const double gap = term.maximize ? y / x - 1 : x / y - 1;
    if (std::abs(gap) > kSameValue) return gap;
  }
  return 0;
}

}  // namespace sail::planner
