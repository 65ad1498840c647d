// What must hold of the search whatever the problem. Failures print the seed: test::RandomProblem(seed, kMostPlans) is
// the problem.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "compiler/ir/verify_plan.h"
#include "planner/random_planner.h"
#include "tests/property/find_plan.h"
#include "tests/support/random_problem.h"

namespace sail::planner {
namespace {

TEST(SearchProperty, NamesAndOrderOfPoolsChangeNothing) {
  for (int seed = 1000; seed < 1030; ++seed) {
    SCOPED_TRACE(seed);
    const ir::Problem problem = test::RandomProblem(seed, kMostPlans);
    const PlanOutcome outcome = Find(problem);
    ExpectAlike(problem.job, outcome, Find(Backwards(problem)));
    ExpectAlike(problem.job, outcome, Find(Renamed(problem)));
  }
}

TEST(SearchProperty, MoreNodesOrMemoryNeverHurt) {
  for (int seed = 2000; seed < 2040; ++seed) {
    SCOPED_TRACE(seed);
    const ir::Problem problem = test::RandomProblem(seed, kMostPlans);
    const PlanOutcome outcome = Find(problem);
    const auto* found = std::get_if<Feasible>(&outcome);
    if (found == nullptr) continue;
    ir::Problem more_nodes = problem, more_memory = problem;
    ++more_nodes.cluster.pools[0].quota;
    for (ir::Gpu& gpu : more_memory.cluster.gpus) gpu.memory = gpu.memory * 2;
    for (const ir::Problem& richer : {more_nodes, more_memory}) {
      // A share of a larger memory is a looser limit in bytes and a smaller value of the same plan: also no worse.
      const PlanOutcome better = Find(richer);
      ASSERT_TRUE(std::holds_alternative<Feasible>(better));
      EXPECT_LE(Gap(problem.job, std::get<Feasible>(better).report, found->report), kLargestGap);
    }
  }
}

TEST(SearchProperty, TighterLimitsStayInfeasible) {
  int checked = 0;
  for (int seed = 3000; seed < 3100; ++seed) {
    SCOPED_TRACE(seed);
    ir::Problem problem = test::RandomProblem(seed, kMostPlans);
    if (std::holds_alternative<Feasible>(Find(problem))) continue;
    for (ir::Constraint& constraint : problem.job.constraints) constraint.limit *= constraint.at_most ? 0.9 : 1.1;
    problem.job.memory_limit *= 0.9;
    EXPECT_TRUE(std::holds_alternative<Infeasible>(Find(problem)));
    ++checked;
  }
  EXPECT_GE(checked, 10);
}

TEST(SearchProperty, TwoRunsGiveOnePlan) {
  for (int seed = 4000; seed < 4020; ++seed) {
    SCOPED_TRACE(seed);
    const ir::Problem problem = test::RandomProblem(seed, kMostPlans);
    const PlanOutcome a = Find(problem), b = Find(problem);
    ASSERT_EQ(a.index(), b.index());
    const auto* found = std::get_if<Feasible>(&a);
    if (found == nullptr) continue;
    EXPECT_EQ(found->plan, std::get<Feasible>(b).plan);
  }
}

TEST(RandomPlannerProperty, DrawsSoundPlans) {
  int drawn = 0;
  for (int seed = 5000; seed < 5080; ++seed) {
    SCOPED_TRACE(seed);
    const ir::Problem problem = test::RandomProblem(seed, kMostPlans);
    Rng rng(seed);
    for (int i = 0; i < 10; ++i) {
      const std::optional<ir::Plan> plan = DrawPlan(problem, rng);
      if (!plan) continue;
      ++drawn;
      const absl::Status sound = ir::VerifyPlanStructure(problem, *plan);
      EXPECT_TRUE(sound.ok()) << sound;
    }
  }
  EXPECT_GE(drawn, 600);
}

}  // namespace
}  // namespace sail::planner
