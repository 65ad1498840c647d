#include "compiler/ir/placement.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/compiler/ir/small_problem.h"

namespace sail::ir {
namespace {

using ::testing::ElementsAre;

TEST(Placement, NumbersRanksByPoolNodeGpu) {
  const Plan plan = SmallPlan();
  const Placement placement(plan);
  ASSERT_EQ(placement.rank_count(), 5);
  EXPECT_THAT(placement.tensor_group(0, 0), ElementsAre(Rank(0), Rank(1)));
  EXPECT_THAT(placement.tensor_group(0, 1), ElementsAre(Rank(2), Rank(3)));
  EXPECT_THAT(placement.tensor_group(1, 0), ElementsAre(Rank(4)));
  EXPECT_EQ(placement.place(Rank(3)).tensor_rank, 1);
  EXPECT_EQ(placement.StageOf(plan, 0, 3), 1);
}

// Case rank0-moves: ranks follow pool and node, not the order in which pipelines are written.
TEST(Placement, OrderOfPipelinesDoesNotMatter) {
  Plan plan = SmallPlan();
  std::swap(plan.pipelines[0], plan.pipelines[1]);
  EXPECT_EQ(Placement(plan).rank(0, 0, 0), Rank(4));
  EXPECT_EQ(Placement(plan).place(Rank(0)).pipeline, 1);
}

std::vector<GradientGroup> GroupsOf(const std::vector<GradientGroup>& groups, GradientScope scope, int layer) {
  std::vector<GradientGroup> result;
  for (const GradientGroup& group : groups) {
    if (group.scope == scope && group.layer == layer) result.push_back(group);
  }
  return result;
}

// Layer 1 is a block: pipeline 0 holds it with degree 2 (ranks 0, 1), pipeline 1 with degree 1 (rank 4). T = 2:
// shard 0 = all of rank 0's half and the first half of rank 4's whole; shard 1 = rank 1 and the second half.
TEST(GradientGroups, CutsAtTheFinestTensorDegree) {
  const Plan plan = SmallPlan();
  const auto groups =
      GroupsOf(GradientGroups(SmallProblem().model, plan, Placement(plan)), GradientScope::kLayerSharded, 1);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_THAT(groups[0].owners, ElementsAre(GradientOwner{Rank(0), 0, 1}, GradientOwner{Rank(4), 0, 2}));
  EXPECT_THAT(groups[1].owners, ElementsAre(GradientOwner{Rank(1), 0, 1}, GradientOwner{Rank(4), 1, 2}));
}

TEST(GradientGroups, ReplicatedParametersHaveOneOwnerPerPipeline) {
  const Plan plan = SmallPlan();
  const auto groups =
      GroupsOf(GradientGroups(SmallProblem().model, plan, Placement(plan)), GradientScope::kLayerReplicated, 4);
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_THAT(groups[0].owners, ElementsAre(GradientOwner{Rank(2), 0, 1}, GradientOwner{Rank(4), 0, 1}));
}

// Case tied-missing: the word embedding is summed over the first and the last stage; rank 4 holds both layers, once.
TEST(GradientGroups, TiedEmbeddingSpansFirstAndLastStage) {
  const Plan plan = SmallPlan();
  const auto groups =
      GroupsOf(GradientGroups(SmallProblem().model, plan, Placement(plan)), GradientScope::kTiedEmbedding, 0);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_THAT(groups[0].owners,
              ElementsAre(GradientOwner{Rank(0), 0, 1}, GradientOwner{Rank(2), 0, 1}, GradientOwner{Rank(4), 0, 2}));
  EXPECT_THAT(groups[1].owners,
              ElementsAre(GradientOwner{Rank(1), 0, 1}, GradientOwner{Rank(3), 0, 1}, GradientOwner{Rank(4), 1, 2}));
  EXPECT_TRUE(
      GroupsOf(GradientGroups(SmallProblem().model, plan, Placement(plan)), GradientScope::kLayerSharded, 5).empty());
}

TEST(GradientGroups, UntiedHeadIsALayerOfItsOwn) {
  Model model = SmallProblem().model;
  model.tied_head = false;
  const Plan plan = SmallPlan();
  const auto groups = GradientGroups(model, plan, Placement(plan));
  EXPECT_TRUE(GroupsOf(groups, GradientScope::kTiedEmbedding, 0).empty());
  EXPECT_EQ(GroupsOf(groups, GradientScope::kLayerSharded, 5).size(), 2u);
}

// The embedding has degree 1 in pipeline 0 and the tied head degree 4: the table is cut into 4.
TEST(ShardCount, OfTiedLayersIsTheLargerOfBoth) {
  Plan plan;
  plan.pipelines = {{.stages = {{.first_layer = 0, .last_layer = 2, .group = {PoolId(1), 0, {0}}},
                                {.first_layer = 3, .last_layer = 5, .group = {PoolId(0), 0, {0, 1, 2, 3}}}}}};
  EXPECT_EQ(ShardCount(SmallProblem().model, plan, 0), 4);
  EXPECT_EQ(ShardCount(SmallProblem().model, plan, 1), 1);
}

}  // namespace
}  // namespace sail::ir
