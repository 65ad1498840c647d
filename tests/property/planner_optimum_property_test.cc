// The search against the exhaustive planner. Failures print the seed: test::RandomProblem(seed, kMostPlans) is the
// problem.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "compiler/ir/verify_plan.h"
#include "planner/exhaustive_planner.h"
#include "tests/property/find_plan.h"
#include "tests/support/random_problem.h"

namespace sail::planner {
namespace {

constexpr int kInstances = 320;
constexpr int kInstancesWithChoices = 40;
constexpr double kLeastEqualShare = 0.98;

void ExpectTheExhaustiveOptimum(int first_seed, int instances, int64_t most_plans, test::Variety variety) {
  int equal = 0, infeasible = 0;
  double largest = 0;
  for (int seed = first_seed; seed < first_seed + instances; ++seed) {
    SCOPED_TRACE(seed);
    const ir::Problem problem = test::RandomProblem(seed, most_plans, variety);
    const absl::StatusOr<ExhaustiveResult> oracle = FindPlanExhaustively(problem, *sim::MakeSailCostModel(problem));
    ASSERT_TRUE(oracle.ok()) << oracle.status();
    const PlanOutcome outcome = Find(problem);
    const auto* found = std::get_if<Feasible>(&outcome);
    ASSERT_EQ(found != nullptr, oracle->plan.has_value());
    if (found == nullptr) {
      EXPECT_FALSE(std::get<Infeasible>(outcome).limits.empty());
      ++infeasible;
      ++equal;
      continue;
    }
    EXPECT_TRUE(ir::VerifyPlan(problem, found->plan, found->report).ok());
    const double gap = Gap(problem.job, found->report, *oracle->report);
    EXPECT_GE(gap, 0) << "the oracle has missed a plan";
    EXPECT_LE(gap, kLargestGap);
    largest = std::max(largest, gap);
    if (gap == 0) ++equal;
  }
  std::cout << equal << " of " << instances << " equal the optimum (" << infeasible
            << " of them infeasible), largest gap " << largest << "\n";
  EXPECT_GE(equal, kLeastEqualShare * instances);
  EXPECT_GE(infeasible, instances / 20);  // the generator draws both kinds
  EXPECT_LE(infeasible, instances / 2);
}

TEST(SearchProperty, EqualsTheExhaustiveOptimum) {
  ExpectTheExhaustiveOptimum(0, kInstances, kMostPlans, test::Variety::kPlain);
}

TEST(SearchProperty, EqualsTheExhaustiveOptimumOverRecomputationAndZero1) {
  ExpectTheExhaustiveOptimum(6000, kInstancesWithChoices, kMostPlans, test::Variety::kChoices);
}

}  // namespace
}  // namespace sail::planner
