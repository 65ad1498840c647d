// The search against the exhaustive planner, and what must hold whatever the problem. Failures print the seed:
// test::RandomProblem(seed, kMostPlans) is the problem.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>

#include "compiler/ir/verify_plan.h"
#include "planner/exhaustive_planner.h"
#include "planner/planner.h"
#include "planner/random_planner.h"
#include "simulator/sail_cost_model.h"
#include "tests/support/random_problem.h"

namespace sail::planner {
namespace {

constexpr int kInstances = 320;
constexpr int64_t kMostPlans = 3'000;
constexpr int kInstancesWithChoices = 40;
constexpr double kLeastEqualShare = 0.98;
constexpr double kLargestGap = 0.05;
constexpr double kSameValue = 1e-9;  // relative: sums in another order

PlanOutcome Find(const ir::Problem& problem) {
  absl::StatusOr<PlanOutcome> outcome = FindPlan(problem, *sim::MakeSailCostModel(problem), {});
  SAIL_CHECK(outcome.ok()) << outcome.status().ToString();
  return *std::move(outcome);
}

// By how much `a` is worse than `b` in the first term in which they differ; negative if better.
double Gap(const ir::Job& job, const ir::Report& a, const ir::Report& b) {
  for (const ir::ObjectiveTerm& term : job.objective) {
    const double x = ir::Value(a, term.metric), y = ir::Value(b, term.metric);
    const double gap = term.maximize ? y / x - 1 : x / y - 1;
    if (std::abs(gap) > kSameValue) return gap;
  }
  return 0;
}

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

TEST(SearchProperty, NamesAndOrderOfPoolsChangeNothing) {
  for (int seed = 1000; seed < 1040; ++seed) {
    SCOPED_TRACE(seed);
    const ir::Problem problem = test::RandomProblem(seed, kMostPlans);
    ir::Problem permuted = problem;
    std::reverse(permuted.cluster.pools.begin(), permuted.cluster.pools.end());
    for (ir::Pool& pool : permuted.cluster.pools) pool.name += "_renamed";
    const PlanOutcome a = Find(problem), b = Find(permuted);
    const auto* found = std::get_if<Feasible>(&a);
    const auto* other = std::get_if<Feasible>(&b);
    ASSERT_EQ(found != nullptr, other != nullptr);
    if (found != nullptr) {
      EXPECT_LE(std::abs(Gap(problem.job, found->report, other->report)), kLargestGap);
    }
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
