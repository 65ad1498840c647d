// The cost model on problems whose numbers can be redone by hand (tests/support/round_problem.h): a block takes
// t = 1 + 2 s and 0.5 s to step, a boundary crossing inside a zone 1 s each way.
#include "simulator/cost_model.h"

#include "gtest/gtest.h"
#include "simulator/collective_cost.h"
#include "simulator/gradient_sync.h"
#include "simulator/sail_cost_model.h"
#include "simulator/simulate.h"
#include "simulator/transfer_cost.h"
#include "tests/support/builders.h"
#include "tests/support/round_problem.h"

namespace sail::sim {
namespace {

using test::MakeStage;

constexpr double kRelative = 1e-9;
void ExpectNear(double value, double expected) {
  EXPECT_NEAR(value, expected, kRelative * (std::abs(expected) + 1e-30));
}

ir::Report Evaluate(const ir::Problem& problem, const ir::Plan& plan) {
  return *MakeSailCostModel(problem)->Evaluate(plan);
}

ir::Plan PlanOf(std::vector<ir::Pipeline> pipelines) {
  ir::Plan plan;
  plan.pipelines = std::move(pipelines);
  return plan;
}

// Layers 0..2 (two blocks) on node 0 and 3..5 (two blocks) on node 1.
ir::Plan TwoStages(int micro_batches) {
  return PlanOf({{.micro_batch = 1,
                  .micro_batches = micro_batches,
                  .stages = {MakeStage(0, 2, 0, 0, {0}), MakeStage(3, 5, 0, 1, {0})}}});
}

// Both levels must give `seconds`.
void ExpectIteration(const ir::Problem& problem, const ir::Plan& plan, double seconds) {
  ExpectNear(Evaluate(problem, plan).iteration.value(), seconds);
  ExpectNear(Simulate(problem, plan)->iteration.value(), seconds);
}

// 3 micro-batches · 4 blocks · 3 s + 4 · 0.5 s.
TEST(CostModel, OneStage) {
  ExpectIteration(test::RoundProblem(),
                  PlanOf({{.micro_batch = 1, .micro_batches = 3, .stages = {MakeStage(0, 5, 0, 0, {0})}}}), 36 + 2);
}

// No communication: (M + P − 1) · t + step = (4 + 1) · 6 + 2 · 0.5.
TEST(CostModel, TwoBalancedStagesWithoutCommunication) {
  ExpectIteration(test::FastLinkProblem(), TwoStages(4), 30 + 1);
}

// pipeline_time_test derives the 20 s of two stages with 1 s transfers and M = 2.
TEST(CostModel, TwoStagesWithTransfers) {
  const ir::Problem problem = test::RoundProblem();
  ExpectIteration(problem, TwoStages(2), 20 + 1);
  const ir::Report report = Evaluate(problem, TwoStages(2));
  // Fill until the last stage starts at 3, steady until it ends at 15, drain until the first ends at 20, step 1.
  ExpectNear(report.parts.fill.value(), 3);
  ExpectNear(report.parts.steady.value(), 12);
  ExpectNear(report.parts.drain.value(), 5);
  ExpectNear(report.parts.gradient_sync.value(), 0);
  ExpectNear(report.parts.optimizer.value(), 1);
  // Each stage works 2 · 6 + 1 of 21 s.
  ExpectNear(report.stages[0].busy.value(), 13);
  ExpectNear(report.stages[1].idle.value(), 8);
}

// The crossing of two samples carries 4096 bytes: 2 s each way.
TEST(CostModel, BoundaryTimeGrowsWithTheMicroBatch) {
  const ir::Problem problem = test::RoundProblem();
  const auto costs = MakeSailCostModel(problem);
  ExpectNear(costs->BoundaryTime(ir::PoolId(0), ir::PoolId(0), 1, 1, 1, false).value(), 2);
  ExpectNear(costs->BoundaryTime(ir::PoolId(0), ir::PoolId(0), 1, 1, 2, false).value(), 4);
  // Between zones: 1 s latency + 2048 / 1024 each way.
  ExpectNear(costs->BoundaryTime(ir::PoolId(0), ir::PoolId(1), 1, 1, 1, false).value(), 6);
  // On one node: 130 us + 2048 / 2048e3 each way.
  ExpectNear(costs->BoundaryTime(ir::PoolId(0), ir::PoolId(0), 1, 1, 1, true).value(), 2 * (130e-6 + 1e-3));
}

// Degree 1 → 2 cuts the activation into two slices that share the sender's card (per node): still 1 s, and then the two
// receivers gather: 130 us + half of 2048 bytes at 2048e3. Back, one receiver: nothing to gather.
TEST(CostModel, SlicesOfOneTransferShareTheCardAndAreGathered) {
  const ir::Problem problem = test::RoundProblem();
  const Transfer forward = MakeTransfer(problem, ir::PoolId(0), ir::PoolId(0), 1, 2, 1, false);
  EXPECT_EQ(forward.slices, 2);
  ExpectNear(forward.SecondsAlone(), 1 + 130e-6 + 0.5e-3);
  ExpectNear(MakeTransfer(problem, ir::PoolId(0), ir::PoolId(0), 2, 1, 1, false).SecondsAlone(), 1);
}

// Per flow, each slice has 2048 B/s of its own: half the time; a card of 1024 B/s is the limit of all: twice the time.
TEST(CostModel, LinksPerFlowAddUpToTheCard) {
  ir::Problem problem = test::RoundProblem();
  problem.cluster.links[0][0].share = ir::LinkShare::kPerFlow;
  ExpectNear(MakeTransfer(problem, ir::PoolId(0), ir::PoolId(0), 2, 1, 1, false).SecondsAlone(), 0.5);
  problem.cluster.machines[0].nic = BytesPerSecond(1024);
  ExpectNear(MakeTransfer(problem, ir::PoolId(0), ir::PoolId(0), 2, 1, 1, false).SecondsAlone(), 2);
}

// 400 MB over 4 ranks, 100 Gbps, 5 us: 2·3·5e-6 + 2·3/4 · 400e6 / 12.5e9 = 0.00003 + 0.048.
TEST(AllReduce, Ring) {
  ExpectNear(RingAllReduceTime(Bytes(400'000'000), 4, Seconds(5e-6), BytesPerSecond(12.5e9)).value(), 0.04803);
  EXPECT_EQ(RingAllReduceTime(Bytes(400), 1, Seconds(1), BytesPerSecond(1)), Seconds(0));
}

// One-GPU pipelines on chosen nodes, and the all-reduce over all of their ranks.
struct Group {
  ir::Problem problem = test::RoundProblem();
  std::vector<ir::Pipeline> pipelines;
  void Add(int pool, int node, int ranks) {
    for (int gpu = 0; gpu < ranks; ++gpu) {
      pipelines.push_back({.micro_batch = 1, .micro_batches = 1, .stages = {MakeStage(0, 5, pool, node, {gpu})}});
    }
  }
  double Seconds(double bytes) const {
    const ir::Placement placement(PlanOf(pipelines));
    const Network network(problem.cluster, placement);
    std::vector<ir::Rank> owners;
    for (int rank = 0; rank < placement.rank_count(); ++rank) owners.push_back(ir::Rank(rank));
    return AllReduceSeconds(AllReduceOver(network, owners), bytes);
  }
};

// Four ranks of one node: 6 · 130 us + 6/4 · 2048 / 2048e3.
TEST(AllReduce, InsideANode) {
  Group group;
  group.Add(0, 0, 4);
  ExpectNear(group.Seconds(2048), 6 * 130e-6 + 1.5e-3);
}

// One rank on each of three nodes: 2 · 2/3 of 2048 bytes leave each card at 2048 B/s.
TEST(AllReduce, AcrossNodes) {
  Group group;
  for (const int node : {0, 1, 2}) group.Add(0, node, 1);
  ExpectNear(group.Seconds(2048), 4.0 / 3);
}

// Two ranks on each of two nodes: inside 2 · 130 us + 1 · 2048 / 2048e3, then the nodes' ring of 2 · 1/2.
TEST(AllReduce, HierarchicalOverNodes) {
  Group group;
  for (const int node : {0, 1}) group.Add(0, node, 2);
  ExpectNear(group.Seconds(2048), 260e-6 + 1e-3 + 1);
}

// Two nodes in zone a, one in zone b. The ring of zone a takes 1 s; between the zones, with as many lanes as the
// smaller zone has nodes (1): 2 steps of 1 s and 2 · 1/2 · 2048 / 1024.
TEST(AllReduce, HierarchicalOverZones) {
  Group group;
  group.Add(0, 0, 1);
  group.Add(0, 1, 1);
  group.Add(1, 0, 1);
  ExpectNear(group.Seconds(2048), 1 + 2 + 2);
}

// With two nodes in each zone two lanes carry half of it each: 1 + 2 + 1.
TEST(AllReduce, LanesBetweenZonesWorkSideBySide) {
  Group group;
  for (const int pool : {0, 1}) {
    for (const int node : {0, 1}) group.Add(pool, node, 1);
  }
  ExpectNear(group.Seconds(2048), 1 + 2 + 1);
}

// Two replicas on two nodes. All parameters of the untied model, in fp32, are one bucket (architecture: owners equal):
// block 12h² + 13h = 12704, embedding (37 + 16) · 32 = 1696, head 37 · 32 + 2 · 32 = 1248: 53760 · 4 bytes, ring of
// two: all of them over each card at 2048 B/s = 105 s after 12 s of work and before 2 s of step.
TEST(CostModel, GradientsAreSummedAcrossNodes) {
  const ir::Problem problem = test::RoundProblem();
  const ir::Plan plan = PlanOf({{.micro_batch = 1, .micro_batches = 1, .stages = {MakeStage(0, 5, 0, 0, {0})}},
                                {.micro_batch = 1, .micro_batches = 1, .stages = {MakeStage(0, 5, 0, 1, {0})}}});
  ASSERT_EQ(ir::TotalParameters(problem.model), 53760);
  ExpectIteration(problem, plan, 12 + 105 + 2);
  ExpectNear(Evaluate(problem, plan).parts.gradient_sync.value(), 105);
  // Each node sends and receives all of it once: 2 · 215040 bytes inside zone a, which cost nothing.
  const ir::Report report = Evaluate(problem, plan);
  ASSERT_EQ(report.traffic.size(), 1u);
  EXPECT_EQ(report.traffic[0].bytes, Bytes(2 * 215040));
  EXPECT_EQ(report.traffic[0].egress, Usd(0));
}

// Tensor degree 2 on both replicas: two shards, each summed by its own pair of ranks over the same two cards. Alone a
// shard takes half of the bytes; together they take what the card needs for all of them. Sharded parameters 12512 · 4 +
// 38 · 32 · 2 = 52480, replicated 192 · 4 + 512 + 64 = 1344: (52480 + 1344) · 4 / 2048 = 105.125 s.
TEST(CostModel, TensorRanksShareTheCardOfTheirNode) {
  const ir::Problem problem = test::RoundProblem();
  const ir::Plan plan = PlanOf({{.micro_batch = 1, .micro_batches = 1, .stages = {MakeStage(0, 5, 0, 0, {0, 1})}},
                                {.micro_batch = 1, .micro_batches = 1, .stages = {MakeStage(0, 5, 0, 1, {0, 1})}}});
  ExpectIteration(problem, plan, 12 + 105.125 + 2);
}

// A tied word embedding on both ends of one pipeline: 37 · 32 · 4 = 4736 bytes over a ring of two nodes.
TEST(CostModel, TiedEmbeddingIsSummedOverItsStages) {
  ir::Problem problem = test::RoundProblem();
  problem.model.tied_head = true;
  ExpectIteration(problem, TwoStages(2), 20 + 4736.0 / 2048 + 1);
  problem.model.tied_head = false;
  ExpectIteration(problem, TwoStages(2), 21);
}

// Shares of 3 and 1 micro-batches on one node: the larger one's 36 s count; the sum over two ranks of one node is
// 2 · 130 us + 215040 / 2048e3 = 0.10526 s, the step 2 s.
TEST(CostModel, SlowestShareCounts) {
  const ir::Plan plan = PlanOf({{.micro_batch = 1, .micro_batches = 3, .stages = {MakeStage(0, 5, 0, 0, {0})}},
                                {.micro_batch = 1, .micro_batches = 1, .stages = {MakeStage(0, 5, 0, 0, {1})}}});
  ExpectIteration(test::RoundProblem(), plan, 36 + 0.10526 + 2);
}

// Two pipelines whose stages lie on the same two nodes send their activations at the same moment: the card gives each
// half, 2 s instead of 1 s, and back again. Without sharing: F 0–2, over 3, F+B 3–9, back 10, B 10–14. With it: over 4,
// F+B 4–10, back 12, B 12–16. Then the two ranks of a node sum their stage: of stage 0 embedding and two blocks
// (1696 + 25408) · 4 = 108416 bytes, 260 us + 108416 / 2048e3 = 0.0531975 s; stage 1 is done by then. Step 1 s.
TEST(Simulate, TransfersOnOneCardShareIt) {
  const ir::Problem problem = test::RoundProblem();
  ir::Plan plan = TwoStages(1);
  plan.pipelines.push_back(plan.pipelines.front());
  for (ir::Stage& stage : plan.pipelines.back().stages) stage.group.gpus = {1};
  const double sum = 260e-6 + 108416 / 2048e3;
  ExpectNear(Evaluate(problem, plan).iteration.value(), 14 + sum + 1);
  ExpectNear(Simulate(problem, plan)->iteration.value(), 16 + sum + 1);
}

// The same with links per flow and no card in the way: nobody waits.
TEST(Simulate, FlowsWithLinksOfTheirOwnDoNotWait) {
  ir::Problem problem = test::RoundProblem();
  problem.cluster.links[0][0].share = ir::LinkShare::kPerFlow;
  ir::Plan plan = TwoStages(1);
  plan.pipelines.push_back(plan.pipelines.front());
  for (ir::Stage& stage : plan.pipelines.back().stages) stage.group.gpus = {1};
  ExpectNear(Simulate(problem, plan)->iteration.value(), 14 + 260e-6 + 108416 / 2048e3 + 1);
}

// A link that is slower than the stage that feeds it (forward 1 s, crossing 4 s alone), three stages, M = 2. Gradients
// find the links as slow. Only the timeline sees the second activation on its link together with the first:
//   link 0→1: first 1–…, second from 2; from 2 to 8 both halve 512 B/s: the first (512 B moved by 2) needs 1536 B at
//   256 B/s, until 8; the second has 512 B left, alone until 9. Alone they would arrive at 5 and 6.
//   stage 1 (two blocks): F0 8–10, F1 10–12; link 1→2: first from 10, second from 12; the first has
//   1024 B left at 12, at 256 B/s until 16; the second 1024 B left, alone until 18.
//   stage 2 (one block): F0 16–17, B0 17–19, F1 19–20, B1 20–22; link 2→1: 19–23 alone until 22, from 22 both: the
//   first has 512 B left, until 24; the second 1536 B left, alone until 27. stage 1: B0 24–28, B1 28–32; link 1→0:
//   first 28–32, second 32–36 (no overlap); stage 0: B0 32–34, B1 36–38; step 0.5.
TEST(Simulate, OneLinkCarriesSuccessiveActivationsTogether) {
  ir::Problem problem = test::RoundProblem();
  problem.cluster.links[0][0].bandwidth = BytesPerSecond(512);
  const ir::Plan plan =
      PlanOf({{.micro_batch = 1,
               .micro_batches = 2,
               .stages = {MakeStage(0, 1, 0, 0, {0}), MakeStage(2, 3, 0, 1, {0}), MakeStage(4, 5, 0, 2, {0})}}});
  ExpectNear(Simulate(problem, plan)->iteration.value(), 38.5);
  EXPECT_LT(Evaluate(problem, plan).iteration, Simulate(problem, plan)->iteration);
}

// Stage 0 in zone a, stage 1 in zone b, M = 2: 2 · 2048 bytes each way at 0.001 USD/B = 4.096 USD each. One node of 3.6
// and one of 7.2 USD/h, i.e. 0.001 and 0.002 USD/s.
//   stage 0: F0 0–2, F1 2–4; activations take 1 + 2 s: 5 and 7 (the second starts after the first is through)
//   stage 1: F0 5–7, B0 7–11, F1 11–13, B1 13–17; gradients 14, 20;  stage 0: B0 14–18, B1 20–24; step 1: 25 s
TEST(CostModel, MoneyIsWholeNodesAndEgress) {
  const ir::Problem problem = test::RoundProblem();
  const ir::Plan plan = PlanOf(
      {{.micro_batch = 1, .micro_batches = 2, .stages = {MakeStage(0, 2, 0, 0, {0}), MakeStage(3, 5, 1, 0, {0})}}});
  ExpectIteration(problem, plan, 25);
  const ir::Report report = Evaluate(problem, plan);
  EXPECT_EQ(report.nodes, 2);
  EXPECT_EQ(report.gpus, 2);
  ASSERT_EQ(report.pools.size(), 2u);
  ExpectNear(report.pools[0].per_iteration.value(), 0.025);
  ExpectNear(report.pools[1].per_iteration.value(), 0.050);
  ASSERT_EQ(report.traffic.size(), 2u);
  for (const ir::LinkTraffic& link : report.traffic) {
    EXPECT_NE(link.from, link.to);
    EXPECT_EQ(link.bytes, Bytes(4096));
    ExpectNear(link.egress.value(), 4.096);
  }
  ExpectNear(report.cost_per_iteration.value(), 0.075 + 8.192);
}

// Replicas in two zones: the cross-zone ring of two carries the whole gradient (215040 bytes) each way.
TEST(CostModel, AllReduceAcrossZonesPaysEgress) {
  const ir::Problem problem = test::RoundProblem();
  const ir::Report report =
      Evaluate(problem, PlanOf({{.micro_batch = 1, .micro_batches = 1, .stages = {MakeStage(0, 5, 0, 0, {0})}},
                                {.micro_batch = 1, .micro_batches = 1, .stages = {MakeStage(0, 5, 1, 0, {0})}}}));
  ASSERT_EQ(report.traffic.size(), 2u);
  EXPECT_EQ(report.traffic[0].bytes, Bytes(215040));
  EXPECT_EQ(report.traffic[1].bytes, Bytes(215040));
  // 12 + (2 · 1 + 215040 / 1024) + 2
  ExpectNear(report.iteration.value(), 12 + 2 + 210 + 2);
}

// 38 s for 3 samples of 16 tokens; the plan holds 3 samples of the job's batch.
TEST(CostModel, RatesAndConstraints) {
  ir::Problem problem = test::RoundProblem();
  problem.job.global_batch = 3;
  problem.job.constraints = {{.name = "fast", .metric = ir::Metric::kIterTime, .at_most = true, .limit = 40},
                             {.name = "faster", .metric = ir::Metric::kSampleRate, .at_most = false, .limit = 0.1},
                             {.name = "exact", .metric = ir::Metric::kGpus, .at_most = true, .limit = 1},
                             {.name = "free", .metric = ir::Metric::kEgressPerIter, .at_most = true, .limit = 0}};
  const ir::Report report =
      Evaluate(problem, PlanOf({{.micro_batch = 1, .micro_batches = 3, .stages = {MakeStage(0, 5, 0, 0, {0})}}}));
  ExpectNear(report.samples_per_second, 3.0 / 38);
  ExpectNear(report.tokens_per_second, 48.0 / 38);
  ASSERT_EQ(report.constraints.size(), 4u);
  EXPECT_TRUE(report.constraints[0].holds);
  ExpectNear(report.constraints[0].slack, 2.0 / 40);
  EXPECT_FALSE(report.constraints[1].holds);
  EXPECT_LT(report.constraints[1].slack, 0);
  EXPECT_TRUE(report.constraints[2].holds);
  ExpectNear(report.constraints[2].slack, 0);
  EXPECT_TRUE(report.constraints[3].holds);
  EXPECT_EQ(report.timing, ir::Provenance::kDerived);
}

// The step of a tied word embedding that one rank holds as embedding and head is done once: of the head's 37 · 32 + 64
// parameters only the norm's 64 remain.
TEST(CostModel, TiedEmbeddingOnOneStageIsSteppedOnce) {
  ir::Problem problem = test::RoundProblem();
  problem.model.tied_head = true;
  const ir::ProfileKey head{.kind = ir::LayerKind::kHead, .gpu = ir::GpuId(0), .tensor = 1, .micro_batch = 1};
  problem.profile.Set(head, {.optimizer = Seconds(1248)});
  const auto costs = MakeSailCostModel(problem);
  ExpectNear(costs->OptimizerTime({.first_layer = 0, .last_layer = 5, .pool = ir::PoolId(0)}).value(), 2 + 64);
  ExpectNear(costs->OptimizerTime({.first_layer = 3, .last_layer = 5, .pool = ir::PoolId(0)}).value(), 1 + 1248);
}

}  // namespace
}  // namespace sail::sim
