#include "simulator/outline.h"

#include "compiler/ir/verify_plan.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "simulator/sail_cost_model.h"
#include "tests/support/round_problem.h"

namespace sail::sim {
namespace {

using test::MakeStage;
using ::testing::HasSubstr;

// Three pipelines of two stages: layers 0–2 on one GPU, 3–5 on two, both on one node of pool p, which holds one
// pipeline (or two, were it larger).
PlanOutline ThreeOnP() {
  PlanOutline outline;
  outline.classes.resize(1);
  PipelineClass& of = outline.classes.front();
  of.count = 3;
  of.micro_batches = 2;
  of.stages = {{.first_layer = 0, .last_layer = 2, .pool = ir::PoolId(0), .tensor = 1, .next_on_node = true},
               {.first_layer = 3, .last_layer = 5, .pool = ir::PoolId(0), .tensor = 2}};
  return outline;
}

TEST(Outline, ExpandsToNodesAndGpusInOrder) {
  PlanOutline outline = ThreeOnP();
  // Five pipelines of one stage, four to a node: node 3 of p is full, node 4 has one.
  outline.classes.push_back({.count = 5, .micro_batch = 2, .micro_batches = 3, .stages = {}});
  outline.classes.back().stages = {{.first_layer = 0, .last_layer = 5, .pool = ir::PoolId(0), .replicas_per_node = 4}};
  ir::Problem problem = test::RoundProblem();
  problem.cluster.pools[0].quota = 5;
  const absl::StatusOr<ir::Plan> plan = Expand(outline, problem);
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_EQ(plan->pipelines.size(), 8u);
  const ir::Pipeline third{
      .micro_batch = 1, .micro_batches = 2, .stages = {MakeStage(0, 2, 0, 2, {0}), MakeStage(3, 5, 0, 2, {1, 2})}};
  EXPECT_EQ(plan->pipelines[2], third);
  const ir::Pipeline last{.micro_batch = 2, .micro_batches = 3, .stages = {MakeStage(0, 5, 0, 4, {0})}};
  EXPECT_EQ(plan->pipelines[7], last);
  EXPECT_EQ(plan->pipelines[6].stages[0].group, (ir::TensorGroup{.pool = ir::PoolId(0), .node = 3, .gpus = {3}}));
}

TEST(Outline, WhatDoesNotFitIsNamed) {
  const ir::Problem problem = test::RoundProblem();
  const auto error = [&](const PlanOutline& outline) {
    return std::string(Expand(outline, problem).status().message());
  };
  PlanOutline many = ThreeOnP();
  many.classes[0].count = 5;
  EXPECT_THAT(error(many), HasSubstr("pool p has 4 nodes, class 0 needs more"));
  PlanOutline wide = ThreeOnP();
  for (StageOutline& stage : wide.classes[0].stages) stage.replicas_per_node = 2;
  EXPECT_THAT(error(wide), HasSubstr("class 0 needs 6 GPUs of a node of pool p"));
  PlanOutline torn = ThreeOnP();
  torn.classes[0].stages[1].pool = ir::PoolId(1);
  EXPECT_THAT(error(torn), HasSubstr("class 0 stage 1 is malformed"));
  PlanOutline open = ThreeOnP();
  open.classes[0].stages[1].next_on_node = true;
  EXPECT_THAT(error(open), HasSubstr("no stage follows the last"));
  PlanOutline elsewhere = ThreeOnP();
  for (StageOutline& stage : elsewhere.classes[0].stages) stage.pool = ir::PoolId(7);
  EXPECT_THAT(error(elsewhere), HasSubstr("names pool 7, the cluster has 2"));
}

// One pipeline of one stage on one node of p: four blocks of 1 + 2 s, twice, and four steps of 0.5 s; nothing to
// reduce. 3.6 USD/h · 26 s = 0.026 USD.
TEST(Outline, OnePipelineByHand) {
  PlanOutline outline;
  outline.classes.push_back({.count = 1, .micro_batch = 1, .micro_batches = 2, .stages = {}});
  outline.classes.back().stages = {{.first_layer = 0, .last_layer = 5, .pool = ir::PoolId(0)}};
  const ir::Problem problem = test::RoundProblem();
  const Estimate estimate = MakeSailCostModel(problem)->MakeEstimator()->Judge(outline);
  EXPECT_DOUBLE_EQ(estimate.iteration, 26);
  EXPECT_DOUBLE_EQ(estimate.cost_per_iteration, 0.026);
  EXPECT_EQ(estimate.nodes, 1);
  EXPECT_EQ(estimate.gpus, 1);
  EXPECT_EQ(estimate.egress_bytes, 0);
}

}  // namespace
}  // namespace sail::sim
