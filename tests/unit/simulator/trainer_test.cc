// What a plan or a trainer changes: recomputation, ZeRO-1, overlapped reductions, order and slices of sends, trees.
// Numbers are derived by hand on tests/support/round_problem.h: a block takes 1 + 2 s and 0.5 s to step, a boundary
// crossing inside a zone 1 s each way. Every expectation is of both levels, the closed form and the timeline.
#include "gtest/gtest.h"
#include "simulator/collective_cost.h"
#include "simulator/sail_cost_model.h"
#include "simulator/schedule.h"
#include "simulator/simulate.h"
#include "simulator/spot_model.h"
#include "simulator/transfer_cost.h"
#include "tests/support/round_problem.h"

namespace sail::sim {
namespace {

using test::MakeStage;

void ExpectIteration(const ir::Problem& problem, const ir::Plan& plan, double seconds) {
  EXPECT_NEAR(MakeSailCostModel(problem)->Evaluate(plan)->iteration.value(), seconds, 1e-9 * seconds);
  EXPECT_NEAR(Simulate(problem, plan)->iteration.value(), seconds, 1e-9 * seconds);
}

// `replicas` pipelines of one stage, each on a node of its own, `micro_batches` each.
ir::Plan Replicas(int replicas, int micro_batches) {
  ir::Plan plan;
  for (int node = 0; node < replicas; ++node) {
    plan.pipelines.push_back(
        {.micro_batch = 1, .micro_batches = micro_batches, .stages = {MakeStage(0, 5, 0, node, {0})}});
  }
  return plan;
}

ir::Plan TwoStages(int micro_batches) {
  ir::Plan plan;
  plan.pipelines = {{.micro_batch = 1,
                     .micro_batches = micro_batches,
                     .stages = {MakeStage(0, 2, 0, 0, {0}), MakeStage(3, 5, 0, 1, {0})}}};
  return plan;
}

// Backward of a block becomes 2 + 1 s: 3 · 4 · (1 + 3) + 4 · 0.5.
TEST(Recompute, FullRunsTheForwardAgain) {
  ir::Plan plan = Replicas(1, 3);
  plan.pipelines[0].stages[0].recompute = ir::Recompute::kFull;
  ExpectIteration(test::RoundProblem(), plan, 48 + 2);
}

// Attention is 4·16²·32 of 425984 FLOPs of a block, 1/13 of its forward.
TEST(Recompute, SelectiveRunsTheAttentionAgain) {
  ir::Plan plan = Replicas(1, 3);
  plan.pipelines[0].stages[0].recompute = ir::Recompute::kSelective;
  ExpectIteration(test::RoundProblem(), plan, 3 * 4 * (3 + 1.0 / 13) + 2);
}

TEST(Recompute, SelectiveAddsNothingToAFusedKernel) {
  ir::Problem problem = test::RoundProblem();
  problem.job.trainer.attention = ir::AttentionKernel::kFused;
  ir::Plan plan = Replicas(1, 3);
  plan.pipelines[0].stages[0].recompute = ir::Recompute::kSelective;
  ExpectIteration(problem, plan, 36 + 2);
}

// Only the second stage recomputes: (1 + 2) · 2 and (1 + 3) · 2 s. Its last backward ends at 2 + 2 · 8, from there the
// first stage's takes 4; steps of two blocks.
TEST(Recompute, IsAChoiceOfEachStage) {
  ir::Plan plan = TwoStages(2);
  plan.pipelines[0].stages[1].recompute = ir::Recompute::kFull;
  ExpectIteration(test::FastLinkProblem(), plan, 2 + 16 + 4 + 1);
}

// Two owners step half of the state each: 2 s become 1.
TEST(Zero1, OwnersShareTheStep) {
  ir::Plan plan = Replicas(2, 4);
  ExpectIteration(test::FastLinkProblem(), plan, 48 + 2);
  plan.optimizer_sharding = ir::OptimizerSharding::kZero1;
  ExpectIteration(test::FastLinkProblem(), plan, 48 + 1);
}

// A reduce-scatter of gradients and an all-gather of parameters move the mean of both sizes.
TEST(Zero1, ReducesTheMeanOfGradientAndParameterBytes) {
  ir::Job job;
  job.precision = ir::Precision::kBf16;
  EXPECT_EQ(ReducedBytesPerElement(job, ir::OptimizerSharding::kNone), 2);
  EXPECT_EQ(ReducedBytesPerElement(job, ir::OptimizerSharding::kZero1), 2);
  job.trainer.gradients = ir::GradientPrecision::kFp32;
  EXPECT_EQ(ReducedBytesPerElement(job, ir::OptimizerSharding::kNone), 4);
  EXPECT_EQ(ReducedBytesPerElement(job, ir::OptimizerSharding::kZero1), 3);
  job.precision = ir::Precision::kFp32;
  EXPECT_EQ(ReducedBytesPerElement(job, ir::OptimizerSharding::kZero1), 4);
}

// Blocks of 50 MB, one bucket each. Two replicas exchange each byte once, 1 s for a block. Without overlap all of it is
// exposed. With overlap a block's bucket hides behind the 2 s of the backward before it; the first block's and the
// embedding's, which the backward ends with, stick out.
TEST(Overlap, OnlyWhatTheBackwardEndsWithIsExposed) {
  ir::Problem problem = test::RoundProblem();
  problem.model.hidden = 1024;
  problem.model.feed_forward = 4096;
  problem.model.embedding_width = 1024;
  const auto bytes = [&](ir::LayerKind kind) {
    return 4.0 * static_cast<double>(ir::ParametersOnRank(problem.model, kind, 1, 1).total());
  };
  const double block = bytes(ir::LayerKind::kBlock);
  for (auto& row : problem.cluster.links) {
    for (ir::Link& link : row) link = {.bandwidth = BytesPerSecond(block), .latency = Seconds(0)};
  }
  const double ends = bytes(ir::LayerKind::kEmbedding) / block;
  const ir::Plan plan = Replicas(2, 3);
  ExpectIteration(problem, plan, 36 + 4 + ends + bytes(ir::LayerKind::kHead) / block + 2);
  problem.job.trainer.overlap_gradients = true;
  ExpectIteration(problem, plan, 36 + 1 + ends + 2);
}

// Stage 0 forwards at 0–2 and 2–4, but sends the second activation only with the gradient of the first: stage 1 works
// 3–9, its gradient is there at 10, the activation at 11, stage 1 works 11–17, stage 0 ends 18–22. Else it is 20
// (pipeline_time_test).
TEST(PairedSends, AnActivationWaitsForAGradient) {
  ir::Problem problem = test::RoundProblem();
  ExpectIteration(problem, TwoStages(2), 20 + 1);
  problem.job.trainer.paired_sends = true;
  ExpectIteration(problem, TwoStages(2), 22 + 1);
}

// With one micro-batch nothing is paired: 2 + 1 + 6 + 1 + 4.
TEST(PairedSends, WarmUpSendsAtOnce) {
  ir::Problem problem = test::RoundProblem();
  problem.job.trainer.paired_sends = true;
  ExpectIteration(problem, TwoStages(1), 14 + 1);
}

// 2048 bytes between groups of two over links of 2048 B/s per flow: two slices take 0.5 s, a whole activation 1; the
// receivers gather half of it: 130 us + 1024 / 2048e3.
TEST(Boundaries, AWholeActivationTakesOneLink) {
  ir::Problem problem = test::RoundProblem();
  problem.cluster.links[0][0].share = ir::LinkShare::kPerFlow;
  const auto seconds = [&] {
    return MakeTransfer(problem, ir::PoolId(0), ir::PoolId(0), 2, 2, 1, /*same_node=*/false).SecondsAlone();
  };
  EXPECT_NEAR(seconds(), 0.5 + 130e-6 + 0.0005, 1e-12);
  problem.job.trainer.whole_boundaries = true;
  EXPECT_NEAR(seconds(), 1 + 130e-6 + 0.0005, 1e-12);
}

// Eight nodes of GPUs, 1 ms and 1 GB/s between them. One ring reaches 0.455 of it.
//   1 GB   ring 14 · 1 ms + 1.75 GB / 0.455 GB/s
//   1 kB   a double tree goes up and down 3 levels: 6 ms instead of 14, 2 kB instead of 1.75
TEST(Collectives, SmallMessagesBetweenGpusTakeTrees) {
  ir::Problem problem = test::RoundProblem();
  problem.cluster.gpus[0].backend = ir::Backend::kCuda;
  problem.cluster.pools[0].quota = 8;
  problem.cluster.links[0][0] = {.bandwidth = BytesPerSecond(1e9), .latency = Seconds(1e-3)};
  const ir::Placement placement(Replicas(8, 1));
  const Network network(problem.cluster, placement);
  const AllReduce shape = MakeAllReduce(network, {0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_NEAR(AllReduceSeconds(shape, 1e9), 14e-3 + 1.75e9 / 0.455e9, 1e-9);
  EXPECT_NEAR(AllReduceSeconds(shape, 1e3), 6e-3 + 2e3 / 0.455e9, 1e-12);
}

// Three rings of tensor ranks fill the card that one does not: weight 3 at 0.455 each is the whole card.
TEST(Collectives, SeveralRingsFillACard) {
  ir::Problem problem = test::RoundProblem();
  problem.cluster.gpus[0].backend = ir::Backend::kCuda;
  problem.cluster.links[0][0] = {.bandwidth = BytesPerSecond(1e9), .latency = Seconds(0)};
  problem.cluster.machines[0].intra_node = BytesPerSecond(1e30);
  ir::Plan plan;
  for (int node = 0; node < 2; ++node) {
    for (int gpu = 0; gpu < 3; ++gpu) {
      plan.pipelines.push_back({.micro_batch = 1, .micro_batches = 1, .stages = {MakeStage(0, 5, 0, node, {gpu})}});
    }
  }
  const ir::Placement placement(plan);
  const Network network(problem.cluster, placement);
  // Inside each node 4 steps of 5 us, then 1 GB over the card once.
  EXPECT_NEAR(AllReduceSeconds(MakeAllReduce(network, {0, 0, 0, 1, 1, 1}), 1e9), 20e-6 + 1, 1e-9);
  EXPECT_NEAR(AllReduceSeconds(MakeAllReduce(network, {0, 1}), 1e9), 1 / 0.455, 1e-9);
}

// √(2 · 2 s · 100 s) = 20 s.
TEST(Spot, IntervalIsYoungs) { EXPECT_NEAR(CheckpointInterval(Seconds(2), Seconds(100)).value(), 20, 1e-12); }

// 20 / (100 · e^0.6 · (e^0.22 − 1)) = 0.2 / (1.822119 · 0.246077) = 0.446049. Without failures 20 / 22.
TEST(Spot, GoodputIsDalys) {
  EXPECT_NEAR(Goodput(Seconds(20), Seconds(2), Seconds(60), Seconds(100)), 0.446049, 1e-6);
  EXPECT_NEAR(Goodput(Seconds(20), Seconds(2), Seconds(60), Seconds(1e12)), 20.0 / 22, 1e-9);
}

// Two spot nodes of 1000 s each: one failure in 500 s. The expected cost is the raw one over the goodput. Pool q is on
// demand.
TEST(Spot, NodesOfAPlanFailIndependently) {
  ir::Problem problem = test::RoundProblem();
  EXPECT_FALSE(Simulate(problem, Replicas(2, 4))->spot);
  problem.cluster.pools[0].market = ir::Market::kSpot;
  problem.cluster.pools[0].mean_lifetime = Seconds(1000);
  const ir::Report report = *Simulate(problem, Replicas(2, 4));
  ASSERT_TRUE(report.spot);
  EXPECT_NEAR(report.spot->mean_time_between_failures.value(), 500, 1e-9);
  // One replica writes its parameters three times in fp32 at 1 GB/s.
  const double bytes = 12.0 * static_cast<double>(ir::TotalParameters(problem.model));
  EXPECT_NEAR(report.spot->checkpoint.value(), bytes / 1e9, 1e-15);
  EXPECT_NEAR(report.spot->cost_per_iteration.value(), report.cost_per_iteration.value() / report.spot->goodput, 1e-15);
}

// Two stages on one node write through its one way out, all of the state; on two nodes each writes its own.
TEST(Spot, StagesOfANodeShareItsWayToTheStore) {
  ir::Problem problem = test::RoundProblem();
  problem.cluster.pools[0].market = ir::Market::kSpot;
  problem.cluster.pools[0].mean_lifetime = Seconds(1000);
  ir::Plan plan = TwoStages(4);
  const double apart = Simulate(problem, plan)->spot->checkpoint.value();
  plan.pipelines[0].stages[1].group = {.pool = ir::PoolId(0), .node = 0, .gpus = {1}};
  EXPECT_GT(Simulate(problem, plan)->spot->checkpoint.value(), 1.5 * apart);
}

// Of unequal pipelines the one whose fullest node writes longest is taken, wherever it stands: one of a single stage,
// whose node writes the whole model.
TEST(Spot, TheSlowestPipelineWrites) {
  ir::Problem problem = test::RoundProblem();
  problem.cluster.pools[0].market = ir::Market::kSpot;
  problem.cluster.pools[0].mean_lifetime = Seconds(1000);
  ir::Plan plan = TwoStages(2);
  plan.pipelines.push_back(Replicas(3, 2).pipelines.back());
  const double bytes = 12.0 * static_cast<double>(ir::TotalParameters(problem.model));
  EXPECT_NEAR(Simulate(problem, plan)->spot->checkpoint.value(), bytes / 1e9, 1e-15);
  std::swap(plan.pipelines[0], plan.pipelines[1]);
  EXPECT_NEAR(Simulate(problem, plan)->spot->checkpoint.value(), bytes / 1e9, 1e-15);
}

}  // namespace
}  // namespace sail::sim
