#include "planner/movement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/base/check.h"
#include "planner/assign_nodes.h"
#include "tests/support/round_problem.h"

namespace sail::planner {
namespace {

using test::MakeStage;
using test::RoundProblem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Parameters: a block 4·32² + 2·32·128 and biases and norms 4·32 + 128 + 32 + 4·32 = 12704; the embedding
// (37 + 16)·32 = 1696; the head 37·32 + 2·32 = 1248. Layers 0..2 are 27104, layers 3..5 are 26656.
constexpr double kFirst = 27104;
constexpr double kSecond = 26656;

// Two pipelines of two stages, on nodes 0, 1 and 2, 3 of pool p.
ir::Plan TwoByTwo() {
  ir::Plan plan;
  for (const int node : {0, 2}) {
    plan.pipelines.push_back({.micro_batch = 1,
                              .micro_batches = 4,
                              .stages = {MakeStage(0, 2, 0, node, {0}), MakeStage(3, 5, 0, node + 1, {0})}});
  }
  return plan;
}

Change Apply(const ir::Problem& problem, const ir::Plan& plan, const Membership& membership) {
  absl::StatusOr<Change> change = ApplyMembership(problem, plan, membership);
  SAIL_CHECK(change.ok()) << change.status().ToString();
  return *std::move(change);
}

NodeName P(int node) { return {.pool = ir::PoolId(0), .node = node}; }

// Node 0 is replaced by a new one: it fetches layers 0..2, 12 bytes a parameter, from node 2 at 2048 B/s.
TEST(Movement, OneStageOfTwoPipelinesIsFetched) {
  const ir::Problem problem = RoundProblem();
  const Change change = Apply(problem, TwoByTwo(), {.nodes = {4, 4}, .lost = {P(0)}});
  const Movement movement = MovementCost(change).Of(TwoByTwo());
  EXPECT_EQ(movement.bytes, 12 * kFirst);
  EXPECT_EQ(movement.checkpoint_bytes, 0);
  EXPECT_DOUBLE_EQ(movement.seconds.value(), 12 * kFirst / 2048);
  EXPECT_EQ(movement.egress.value(), 0);
  EXPECT_EQ(movement.stages, 4);
  EXPECT_EQ(movement.stages_kept, 3);
  EXPECT_EQ(movement.processes_kept, 3);
  EXPECT_EQ(movement.processes_started, 1);
  EXPECT_EQ(movement.processes_ended, 0);
  EXPECT_THAT(movement.nodes, ElementsAre(NodeMove{.node = P(0), .bytes = 12 * kFirst}));
  ASSERT_EQ(movement.links.size(), 1U);
  EXPECT_EQ(movement.links[0].from, ir::ZoneId(0));
  EXPECT_EQ(movement.links[0].to, ir::ZoneId(0));
}

TEST(Movement, WhatStaysFetchesNothing) {
  const ir::Problem problem = RoundProblem();
  const Change change = Apply(problem, TwoByTwo(), {.nodes = {3, 4}, .lost = {P(0)}});
  ir::Plan next = TwoByTwo();
  next.pipelines.erase(next.pipelines.begin());
  // Node 3 is beyond the three nodes that there are: it is called 0 now.
  next.pipelines[0].stages[1].group.node = 0;
  EXPECT_THAT(change.was[0], ElementsAre(3, 1, 2));
  const Movement movement = MovementCost(change).Of(next);
  EXPECT_EQ(movement.bytes, 0);
  EXPECT_EQ(movement.seconds, Seconds(0));
  EXPECT_EQ(movement.stages_kept, 2);
  EXPECT_EQ(movement.processes_ended, 1);
  EXPECT_TRUE(movement.links.empty());
}

// Two new nodes share the outgoing link of the only survivor.
TEST(Movement, SharedLinksBoundTheTime) {
  const ir::Problem problem = RoundProblem();
  const Change change = Apply(problem, TwoByTwo(), {.nodes = {4, 4}, .lost = {P(0), P(1), P(3)}});
  const Movement movement = MovementCost(change).Of([] {
    ir::Plan next = TwoByTwo();
    next.pipelines.push_back(next.pipelines[0]);
    next.pipelines[0].stages = {MakeStage(0, 5, 0, 0, {0})};
    next.pipelines[1].stages = {MakeStage(0, 2, 0, 1, {0}), MakeStage(3, 5, 0, 3, {0})};
    next.pipelines[2].stages = {MakeStage(0, 5, 0, 2, {0})};
    return next;
  }());
  EXPECT_EQ(movement.bytes, 2 * 12 * kFirst);
  EXPECT_EQ(movement.checkpoint_bytes, 3 * 12 * kSecond);  // nobody holds layers 3..5
  EXPECT_DOUBLE_EQ(movement.seconds.value(), 2 * 12 * kFirst / 2048);
}

// Survivors in the zone are nearer than those in another one, and each sends its part.
TEST(Movement, NearestSurvivorsShareTheSending) {
  const ir::Problem problem = RoundProblem();
  ir::Plan plan = TwoByTwo();
  plan.pipelines.push_back({.micro_batch = 1, .micro_batches = 1, .stages = {MakeStage(0, 5, 1, 0, {0})}});
  plan.pipelines[0].stages[0].group.node = 1;  // node 0 idle: both stages of pipeline 0 on node 1
  plan.pipelines[0].stages[1].group.gpus = {1};
  ir::Plan next = plan;
  next.pipelines[0].stages[0].group.node = 0;
  next.pipelines[0].stages[0].group.gpus = {0};
  const Change change = Apply(problem, plan, {.nodes = {4, 4}, .lost = {}});
  const Movement movement = MovementCost(change).Of(next);
  EXPECT_EQ(movement.bytes, 12 * kFirst);
  EXPECT_DOUBLE_EQ(movement.seconds.value(), 12 * kFirst / 2048);  // all of it arrives over one link
  EXPECT_EQ(movement.egress, Usd(0));

  // Both survivors of pool p are lost: the one beyond the ocean sends, at 1024 B/s, after a second, for money.
  const Change far = Apply(problem, plan, {.nodes = {4, 4}, .lost = {P(1), P(2), P(3)}});
  ir::Plan one = plan;
  one.pipelines.resize(1);
  one.pipelines[0].stages = {MakeStage(0, 2, 0, 0, {0}), MakeStage(3, 5, 0, 1, {0})};
  const Movement across = MovementCost(far).Of(one);
  EXPECT_EQ(across.bytes, 12 * (kFirst + kSecond));
  EXPECT_DOUBLE_EQ(across.seconds.value(), 1 + 12 * (kFirst + kSecond) / 1024);
  EXPECT_NEAR(across.egress.value(), 0.001 * 12 * (kFirst + kSecond), 1e-9);
}

// 16-bit weights are copies of fp32 masters: 4 + 2·4 bytes move, as at fp32.
TEST(Movement, MixedPrecisionMovesMasters) {
  ir::Problem problem = RoundProblem();
  problem.job.precision = ir::Precision::kBf16;
  const Change change = Apply(problem, TwoByTwo(), {.nodes = {4, 4}, .lost = {P(0)}});
  EXPECT_EQ(MovementCost(change).Of(TwoByTwo()).bytes, 12 * kFirst);
}

// Each of two pipelines keeps half of the moments, 8 bytes a parameter: those of the lost node are nowhere else.
TEST(Movement, Zero1LosesSlicesOfTheOptimizer) {
  const ir::Problem problem = RoundProblem();
  ir::Plan plan = TwoByTwo();
  plan.optimizer_sharding = ir::OptimizerSharding::kZero1;
  const Change change = Apply(problem, plan, {.nodes = {4, 4}, .lost = {P(0)}});
  const Movement movement = MovementCost(change).Of(plan);
  EXPECT_EQ(movement.bytes, 4 * kFirst);
  EXPECT_EQ(movement.checkpoint_bytes, 8 * kFirst / 2);
}

// The word embedding of a tied head is there once: the node of the head holds it.
TEST(Movement, TiedEmbeddingIsNotFetchedTwice) {
  ir::Problem problem = RoundProblem();
  problem.model.tied_head = true;
  const Change change = Apply(problem, TwoByTwo(), {.nodes = {4, 4}, .lost = {}});
  ir::Plan next = TwoByTwo();
  next.pipelines.resize(1);
  next.pipelines[0].stages = {MakeStage(0, 5, 0, 1, {0})};
  EXPECT_EQ(MovementCost(change).Of(next).bytes, 12 * (kFirst - 37 * 32));
}

TEST(Membership, SaysWhatCannotBe) {
  const ir::Problem problem = RoundProblem();
  const auto message = [&](const Membership& membership) {
    return std::string(ApplyMembership(problem, TwoByTwo(), membership).status().message());
  };
  EXPECT_THAT(message({.nodes = {4}, .lost = {}}), HasSubstr("2 pools"));
  EXPECT_THAT(message({.nodes = {4, -1}, .lost = {}}), HasSubstr("pool 'q' cannot have fewer than 0 nodes"));
  EXPECT_THAT(message({.nodes = {4, 4}, .lost = {P(4)}}), HasSubstr("pool 'p' had no node 4 to lose"));
  EXPECT_THAT(message({.nodes = {4, 4}, .lost = {P(1), P(1)}}), HasSubstr("node 1 of pool 'p' is lost twice"));
  EXPECT_THAT(message({.nodes = {2, 4}, .lost = {P(1)}}), HasSubstr("2 nodes now, but 3 of the plan's nodes there"));
}

// Nodes 0 and 2 are new and miss the same: node 4 sends its layers 0..2 twice.
TEST(Movement, NodesThatMissTheSameShareTheirSource) {
  ir::Problem problem = RoundProblem();
  problem.cluster.pools[0].quota = 6;
  ir::Plan plan = TwoByTwo();
  plan.pipelines.push_back(
      {.micro_batch = 1, .micro_batches = 4, .stages = {MakeStage(0, 2, 0, 4, {0}), MakeStage(3, 5, 0, 5, {0})}});
  const Change change = Apply(problem, plan, {.nodes = {6, 4}, .lost = {P(0), P(2)}});
  const Movement movement = MovementCost(change).Of(plan);
  EXPECT_EQ(movement.bytes, 2 * 12 * kFirst);
  EXPECT_DOUBLE_EQ(movement.seconds.value(), 2 * 12 * kFirst / 2048);
  EXPECT_THAT(movement.nodes,
              ElementsAre(NodeMove{.node = P(0), .bytes = 12 * kFirst}, NodeMove{.node = P(2), .bytes = 12 * kFirst}));
}

TEST(AssignNodes, TheCheapestPairIsNotAlwaysTaken) {
  EXPECT_THAT(CheapestAssignment({{1, 2, 9}, {1, 10, 9}}), ElementsAre(1, 0));
  EXPECT_THAT(CheapestAssignment({{5, 4, 7}, {6, 3, 8}, {9, 9, 1}}), ElementsAre(0, 1, 2));
}

// A plan placed as if nothing had been there: names are chosen so that nothing moves.
TEST(AssignNodes, NodesPlayTheirOldParts) {
  const ir::Problem problem = RoundProblem();
  const Change change = Apply(problem, TwoByTwo(), {.nodes = {4, 4}, .lost = {}});
  const MovementCost movement(change);
  ir::Plan next = TwoByTwo();
  next.pipelines[0].stages[0].group.node = 3;
  next.pipelines[0].stages[1].group.node = 2;
  next.pipelines[1].stages[0].group.node = 1;
  next.pipelines[1].stages[1].group.node = 0;
  EXPECT_GT(movement.Of(next).bytes, 0);
  AssignNodes(movement, next);
  AssignGpus(change, next);
  const Movement none = movement.Of(next);
  EXPECT_EQ(none.bytes, 0);
  EXPECT_EQ(none.stages_kept, 4);
  EXPECT_EQ(none.processes_kept, 4);
}

// Beyond what is assigned exactly: 100 pipelines on 200 nodes, named backwards. Parts and nodes that are alike are
// paired in order.
TEST(AssignNodes, ManyNodesPlayTheirOldParts) {
  constexpr int kPipelines = 100, kNodes = 2 * kPipelines;
  static_assert(kNodes > kExactNodes);
  ir::Problem problem = RoundProblem();
  problem.cluster.pools[0].quota = kNodes;
  ir::Plan previous, next;
  for (int p = 0; p < kPipelines; ++p) {
    previous.pipelines.push_back({.micro_batch = 1,
                                  .micro_batches = 4,
                                  .stages = {MakeStage(0, 2, 0, 2 * p, {0}), MakeStage(3, 5, 0, 2 * p + 1, {0})}});
    next.pipelines.push_back(previous.pipelines.back());
    for (ir::Stage& stage : next.pipelines.back().stages) stage.group.node = kNodes - 1 - stage.group.node;
  }
  const Change change = Apply(problem, previous, {.nodes = {kNodes, 4}, .lost = {}});
  const MovementCost movement(change);
  EXPECT_DOUBLE_EQ(movement.Of(next).bytes, kPipelines * 12 * (kFirst + kSecond));
  AssignNodes(movement, next);
  EXPECT_EQ(movement.Of(next).bytes, 0);
  EXPECT_EQ(next.pipelines[0].stages[0].group.node, kNodes - 2);
  EXPECT_EQ(next.pipelines[kPipelines - 1].stages[0].group.node, 0);
}

}  // namespace
}  // namespace sail::planner
