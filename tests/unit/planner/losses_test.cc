#include "planner/losses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/round_problem.h"

namespace sail::planner {
namespace {

using test::MakeStage;
using ::testing::ElementsAre;

NodeName Node(int pool, int node) { return {.pool = ir::PoolId(pool), .node = node}; }

// Pipelines 0 and 1 are equal, on nodes p-0, p-1 and p-2, p-3; pipeline 2 is on q-1. Whichever first stage is lost,
// the plan for it is the same but for names.
TEST(LossesOf, EqualPartsAreListedOnce) {
  ir::Plan plan;
  for (const int node : {0, 2}) {
    plan.pipelines.push_back({.micro_batch = 1,
                              .micro_batches = 3,
                              .stages = {MakeStage(0, 2, 0, node, {0}), MakeStage(3, 5, 0, node + 1, {0})}});
  }
  plan.pipelines.push_back({.micro_batch = 1, .micro_batches = 2, .stages = {MakeStage(0, 5, 1, 1, {0})}});
  const std::vector<Loss> losses = LossesOf(test::RoundProblem(), plan);
  ASSERT_EQ(losses.size(), 5U);
  EXPECT_THAT(losses[0].nodes, ElementsAre(Node(0, 0), Node(0, 2)));
  EXPECT_THAT(losses[0].membership.nodes, ElementsAre(3, 4));
  EXPECT_THAT(losses[0].membership.lost, ElementsAre(Node(0, 0)));
  EXPECT_THAT(losses[1].nodes, ElementsAre(Node(0, 1), Node(0, 3)));
  EXPECT_THAT(losses[2].nodes, ElementsAre(Node(1, 1)));
  EXPECT_EQ(losses[3].zone, ir::ZoneId(0));
  EXPECT_TRUE(losses[3].nodes.empty());
  EXPECT_THAT(losses[3].membership.nodes, ElementsAre(0, 4));
  EXPECT_THAT(losses[3].membership.lost, ElementsAre(Node(0, 0), Node(0, 1), Node(0, 2), Node(0, 3)));
  EXPECT_EQ(losses[4].zone, ir::ZoneId(1));
  EXPECT_THAT(losses[4].membership.lost, ElementsAre(Node(1, 1)));
}

// A node with another neighbour, or with more micro-batches, plays another part.
TEST(LossesOf, UnequalPartsAreListedApart) {
  ir::Plan plan;
  plan.pipelines.push_back({.micro_batch = 1, .micro_batches = 3, .stages = {MakeStage(0, 5, 0, 0, {0})}});
  plan.pipelines.push_back({.micro_batch = 1, .micro_batches = 3, .stages = {MakeStage(0, 5, 0, 1, {0})}});
  plan.pipelines.push_back({.micro_batch = 1, .micro_batches = 3, .stages = {MakeStage(0, 5, 0, 1, {1})}});
  const std::vector<Loss> losses = LossesOf(test::RoundProblem(), plan);
  ASSERT_EQ(losses.size(), 3U);
  EXPECT_THAT(losses[0].nodes, ElementsAre(Node(0, 0)));
  EXPECT_THAT(losses[1].nodes, ElementsAre(Node(0, 1)));
}

}  // namespace
}  // namespace sail::planner
