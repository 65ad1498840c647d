// BoundChecks over random problems under our own cost model.
#pragma once

#include <string>

#include "simulator/sail_cost_model.h"
#include "tests/property/bound_checks.h"
#include "tests/support/random_problem.h"

namespace sail::planner {

constexpr int64_t kMostPlans = 120;
constexpr double kLeastEqual = 0.95;

// `least`: so many of the instances have a plan, at least.
inline void CheckRandomProblems(int first_seed, int instances, int least, int64_t most_plans, test::Variety variety,
                                const std::string& name) {
  BoundChecks checks;
  for (int seed = first_seed; seed < first_seed + instances; ++seed) {
    SCOPED_TRACE(seed);
    const ir::Problem problem = test::RandomProblem(seed, most_plans, variety);
    checks.Check(problem, *sim::MakeSailCostModel(problem));
    if (::testing::Test::HasFatalFailure()) return;
  }
  checks.Finish(name, kLeastEqual, least);
}

}  // namespace sail::planner
