#include "planner/best_plans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planner/judge.h"
#include "tests/support/builders.h"

namespace sail::planner {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::vector<ir::ObjectiveTerm> kIterTime = {{.metric = ir::Metric::kIterTime, .maximize = false}};

// As many pipelines of one GPU of the pool. Kinds differ by this number.
ir::Plan Singles(int pipelines, int pool = 0) {
  ir::Plan plan;
  for (int p = 0; p < pipelines; ++p) plan.pipelines.push_back({.stages = {test::MakeStage(0, 5, pool, p, {0})}});
  return plan;
}

Judged Worth(ir::Plan plan, double seconds, double violation = 0) {
  return {.plan = std::move(plan), .report = {}, .violation = violation, .objective = {seconds}};
}

std::vector<double> SecondsOf(const BestPlans& best, const ir::Plan& except = {}) {
  std::vector<double> seconds;
  for (const RunnerUp& other : best.Others(except, kIterTime)) seconds.push_back(other.objective.front());
  return seconds;
}

TEST(IsSameKind, CutsMicroBatchesAndNodesDoNotMatter) {
  const ir::Plan plan = test::TinyPlan();
  ir::Plan other = plan;
  other.pipelines[0].micro_batch = 1;
  other.pipelines[0].stages = {test::MakeStage(0, 3, 0, 1, {2, 3}), test::MakeStage(4, 5, 0, 0, {0, 1})};
  std::swap(other.pipelines[0], other.pipelines[1]);
  EXPECT_TRUE(IsSameKind(plan, other));
}

TEST(IsSameKind, PoolsDegreesRecomputationNumberAndShardingMatter) {
  const ir::Plan plan = test::TinyPlan();
  ir::Plan other = plan;
  other.pipelines[1].stages[0].group.pool = ir::PoolId(0);
  EXPECT_FALSE(IsSameKind(plan, other));
  other = plan;
  other.pipelines[0].stages[1].group.gpus = {0};
  EXPECT_FALSE(IsSameKind(plan, other));
  other = plan;
  other.pipelines[0].stages[0].recompute = ir::Recompute::kFull;
  EXPECT_FALSE(IsSameKind(plan, other));
  other = plan;
  other.optimizer_sharding = ir::OptimizerSharding::kZero1;
  EXPECT_FALSE(IsSameKind(plan, other));
  EXPECT_FALSE(IsSameKind(Singles(1), Singles(2)));
  // The same stages in other pipelines.
  ir::Plan ab, aa;
  ab.pipelines = {Singles(1, 0).pipelines[0], Singles(1, 1).pipelines[0], Singles(1, 1).pipelines[0]};
  aa.pipelines = {Singles(1, 0).pipelines[0], Singles(1, 0).pipelines[0], Singles(1, 1).pipelines[0]};
  EXPECT_FALSE(IsSameKind(ab, aa));
}

TEST(BestPlans, KeepsTheBestOfEachKind) {
  BestPlans best;
  best.Offer(Worth(Singles(1), 9));
  ir::Plan moved = Singles(1);
  moved.pipelines[0].stages[0].group.node = 1;
  best.Offer(Worth(moved, 7));
  best.Offer(Worth(Singles(1), 8));
  const std::vector<RunnerUp> others = best.Others({}, kIterTime);
  ASSERT_EQ(others.size(), 1U);
  EXPECT_EQ(others[0].plan, moved);
  EXPECT_THAT(others[0].objective, ElementsAre(7));
}

TEST(BestPlans, KeepsFourKindsBestFirst) {
  BestPlans best;
  const std::vector<double> seconds = {5, 3, 6, 4, 2, 7};
  for (int i = 0; i < 6; ++i) best.Offer(Worth(Singles(i + 1), seconds[i]));
  EXPECT_THAT(SecondsOf(best), ElementsAre(2, 3, 4, 5));
  EXPECT_THAT(SecondsOf(best, Singles(2)), ElementsAre(2, 4, 5));  // those of 3 s
}

TEST(BestPlans, IgnoresPlansBeyondALimit) {
  BestPlans best;
  best.Offer(Worth(Singles(1), 1, 0.1));
  EXPECT_THAT(SecondsOf(best), IsEmpty());
}

TEST(BestPlans, MergesWhatOthersMet) {
  BestPlans best, other;
  for (const int i : {1, 2, 3}) best.Offer(Worth(Singles(i), 10 * i));
  for (const int i : {2, 3, 4, 5}) other.Offer(Worth(Singles(i), 9 * i));
  best.Merge(other);
  EXPECT_THAT(SecondsOf(best), ElementsAre(10, 18, 27, 36));
}

// What is maximised is kept as its negative, and reported as it is.
TEST(BestPlans, ReportsValuesAsTheyAre) {
  BestPlans best;
  Judged judged = Worth(Singles(1), 0);
  judged.objective = {-4, 3};
  best.Offer(judged);
  const std::vector<RunnerUp> others =
      best.Others({}, {{.metric = ir::Metric::kThroughput, .maximize = true}, kIterTime.front()});
  ASSERT_EQ(others.size(), 1U);
  EXPECT_THAT(others[0].objective, ElementsAre(4, 3));
}

}  // namespace
}  // namespace sail::planner
