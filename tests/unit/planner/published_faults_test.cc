// Faults that a published planner (eth-easl/sailor) is known to have: one test for each, that a planner with the fault
// fails. Answers are derived by hand; where no cost model is named they are those of FakeCostModel: a layer takes one
// second a sample and, with its micro-batches in flight, 1 + in flight bytes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "compiler/ir/verify_plan.h"
#include "planner/planner.h"
#include "simulator/sail_cost_model.h"
#include "tests/support/round_problem.h"
#include "tests/unit/planner/fake_cost_model.h"
#include "tests/unit/planner/find_outcome.h"

namespace sail::planner {
namespace {

using ir::Metric;
using test::FakeCostModel;
using test::FakeProblem;
using test::FindOutcome;
using test::kPlenty;
using test::kUsdPerSecond;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

Feasible Find(const ir::Problem& problem, const sim::CostModel& costs, const PlannerOptions& options = {}) {
  PlanOutcome outcome = FindOutcome(problem, costs, options);
  SAIL_CHECK(std::holds_alternative<Feasible>(outcome));
  return std::get<Feasible>(std::move(outcome));
}

// Micro-batches of one sample, stages of one GPU.
ir::Problem OneGpuStages(ir::Problem problem, int64_t samples, int depth) {
  problem.job.global_batch = samples;
  problem.job.micro_batches = {1};
  problem.job.tensor_degrees = {1};
  problem.job.pipeline_depths = {depth};
  return problem;
}

double SecondsOf(const Feasible& found) { return found.report.iteration.value(); }

// (pool, layers) of each stage.
std::vector<std::pair<int, int>> StagesOf(const ir::Pipeline& pipeline) {
  std::vector<std::pair<int, int>> stages;
  for (const ir::Stage& stage : pipeline.stages) stages.emplace_back(stage.group.pool.index(), stage.layer_count());
  return stages;
}

// GPUs used of each pool.
std::vector<int> GpusByPool(const ir::Problem& problem, const ir::Plan& plan) {
  std::vector<int> gpus(problem.cluster.pools.size());
  for (const ir::Pipeline& pipeline : plan.pipelines) {
    for (const ir::Stage& stage : pipeline.stages) gpus[stage.group.pool.index()] += stage.group.degree();
  }
  return gpus;
}

// Pools of one-GPU nodes, each in a zone and a region of its own.
ir::Problem RegionsOf(const std::vector<int>& nodes, int64_t global_batch) {
  ir::Problem problem = FakeProblem(6, std::vector<test::FakePool>(nodes.size()), global_batch);
  ir::Cluster& cluster = problem.cluster;
  cluster.regions.clear();
  cluster.zones.clear();
  for (int r = 0; r < static_cast<int>(nodes.size()); ++r) {
    cluster.regions.push_back("r" + std::to_string(r));
    cluster.zones.push_back({.name = "z" + std::to_string(r), .region = ir::RegionId(r)});
    cluster.pools[r].zone = ir::ZoneId(r);
    cluster.pools[r].quota = nodes[r];
  }
  cluster.links.assign(nodes.size(), std::vector<ir::Link>(nodes.size(), {.bandwidth = BytesPerSecond(1e9)}));
  return problem;
}

// There a plan of several stages is accepted for throughput only. No GPU holds all 6 layers (12 bytes).
TEST(PublishedFault, EveryObjectiveAllowsSeveralStages) {
  ir::Problem problem = FakeProblem(6, {{.nodes = 2}}, 4);
  const FakeCostModel costs(problem, {1}, {10}, 0);
  for (const ir::ObjectiveTerm& term : {ir::ObjectiveTerm{Metric::kThroughput, true},
                                        {Metric::kCostPerIter, false},
                                        {Metric::kCostRate, false},
                                        {Metric::kTotalCost, false},
                                        {Metric::kTokensPerUsd, true},
                                        {Metric::kNodes, false}}) {
    problem.job.objective = {term};
    EXPECT_EQ(Find(problem, costs).plan.pipelines.at(0).stages.size(), 2U) << ir::ToString(term.metric);
  }
}

// There only communication counts against a budget. One sample takes 6 s at 10 USD/s or 12 s at 1 USD/s, and nothing is
// sent: 60 or 12 USD.
TEST(PublishedFault, ABudgetIncludesComputation) {
  ir::Problem problem = FakeProblem(6, {{.price = 10 * kUsdPerSecond}, {.price = kUsdPerSecond}}, 1);
  problem.job.pipeline_depths = {1};
  const FakeCostModel costs(problem, {1, 2}, {kPlenty, kPlenty}, 0);
  EXPECT_DOUBLE_EQ(SecondsOf(Find(problem, costs)), 6);
  problem.job.constraints = {{.name = "budget", .metric = Metric::kCostPerIter, .at_most = true, .limit = 59}};
  EXPECT_DOUBLE_EQ(SecondsOf(Find(problem, costs)), 12);
}

// There less than half a cent is no limit at all. The same for a millionth of the price.
TEST(PublishedFault, ASmallBudgetIsALimit) {
  ir::Problem problem = FakeProblem(6, {{.price = 1e-5 * kUsdPerSecond}, {.price = 1e-6 * kUsdPerSecond}}, 1);
  problem.job.pipeline_depths = {1};
  problem.job.constraints = {{.name = "budget", .metric = Metric::kCostPerIter, .at_most = true, .limit = 59e-6}};
  const FakeCostModel costs(problem, {1, 2}, {kPlenty, kPlenty}, 0);
  EXPECT_DOUBLE_EQ(SecondsOf(Find(problem, costs)), 12);
  problem.job.constraints[0].limit = 11e-6;
  const PlanOutcome outcome = FindOutcome(problem, costs);
  ASSERT_TRUE(std::holds_alternative<Infeasible>(outcome));
  ASSERT_EQ(std::get<Infeasible>(outcome).limits.size(), 1U);
  EXPECT_EQ(std::get<Infeasible>(outcome).limits[0].name, "budget");
  EXPECT_DOUBLE_EQ(std::get<Infeasible>(outcome).limits[0].best, 12e-6);
}

// There the last stage takes more GPUs than a zone has. Five samples on 5 + 3 GPUs in pipelines of two stages: four
// pipelines, and two samples in one of them, 6 + 3 s; the GPUs of a fifth do not exist.
TEST(PublishedFault, TheLastStageHasOnlyTheGpusThatAreLeft) {
  ir::Problem problem = RegionsOf({5, 3}, 5);
  problem.job.pipeline_depths = {2};
  const FakeCostModel costs(problem, {1, 1}, {10, 10}, 0);
  const Feasible found = Find(problem, costs);
  EXPECT_DOUBLE_EQ(SecondsOf(found), 9);
  EXPECT_THAT(GpusByPool(problem, found.plan), ElementsAre(testing::Le(5), testing::Le(3)));
}

// There an all-reduce between zones takes the speed within the sender's zone. Two samples on two GPUs in two zones: 12
// s each and 2 s for the step. Replicas would reduce 215040 bytes at 1024 B/s in one of the directions, 210 s.
TEST(PublishedFault, AnAllReduceTakesTheSlowerLink) {
  ir::Problem problem = OneGpuStages(test::FastLinkProblem(), /*samples=*/2, /*depth=*/1);
  problem.cluster.machines[0].gpus_per_node = 1;
  for (ir::Pool& pool : problem.cluster.pools) pool.quota = 1;
  EXPECT_NEAR(SecondsOf(Find(problem, *sim::MakeSailCostModel(problem))), 12 + 2, 1e-9);
  for (const auto& [from, to] : {std::pair(0, 1), std::pair(1, 0)}) {
    ir::Problem slow = problem;
    slow.cluster.links[from][to].bandwidth = BytesPerSecond(1024);
    const Feasible found = Find(slow, *sim::MakeSailCostModel(slow));
    EXPECT_NEAR(SecondsOf(found), 2 * 12 + 2, 1e-9);
    EXPECT_EQ(found.report.gpus, 1);
  }
}

// There equal numbers of GPUs are one problem, however they are split over zones. Replicas within a zone: 12 samples of
// 6 s in the zone with four GPUs.
TEST(PublishedFault, SplitsOverZonesAreDifferentProblems) {
  std::vector<int> nodes = {1, 2, 4};
  do {
    ir::Problem problem = RegionsOf(nodes, 12);
    problem.job.pipeline_depths = {1};
    problem.job.keep.data = ir::Reach::kZone;
    const FakeCostModel costs(problem, {1, 1, 1}, {kPlenty, kPlenty, kPlenty}, 0);
    const Feasible found = Find(problem, costs);
    EXPECT_DOUBLE_EQ(SecondsOf(found), 18) << testing::PrintToString(nodes);
    EXPECT_EQ(nodes[found.plan.pipelines.at(0).stages.at(0).group.pool.index()], 4);
  } while (std::next_permutation(nodes.begin(), nodes.end()));
}

// There equal numbers of GPUs are one problem, whichever regions they are left in. Six samples, pipelines of two stages
// within a region: three pipelines (6 + 3 s) or two (6 + 6 s).
TEST(PublishedFault, RegionsLeftAreDifferentProblems) {
  for (const auto& [nodes, seconds] : std::vector<std::pair<std::vector<int>, double>>{
           {{6, 0}, 9}, {{5, 1}, 12}, {{4, 2}, 9}, {{3, 3}, 12}, {{2, 4}, 9}, {{1, 5}, 12}}) {
    ir::Problem problem = RegionsOf(nodes, 6);
    problem.job.pipeline_depths = {2};
    problem.job.keep.pipeline = ir::Reach::kRegion;
    const FakeCostModel costs(problem, {1, 1}, {10, 10}, 0);
    EXPECT_DOUBLE_EQ(SecondsOf(Find(problem, costs)), seconds) << testing::PrintToString(nodes);
  }
}

// There what was not measured takes no time. Here it is named by whoever completes a profile (as also in profiles_test:
// NamesTheMissingEntry, NeverExtrapolates), and no search runs without it.
TEST(PublishedFaultDeathTest, AMissingProfileEntryIsNamed) {
  ir::Problem problem = test::TinyProblem();
  ir::Profile without_heads;
  for (const auto& [key, time] : problem.profile.times()) {
    if (key.kind != ir::LayerKind::kHead || key.tensor != 2) without_heads.Set(key, time);
  }
  problem.profile = without_heads;
  EXPECT_EXIT((void)FindPlan(problem, *sim::MakeSailCostModel(problem), {}), testing::ExitedWithCode(70),
              "head on .*_cpu, tensor 2");
}

// There an unknown GPU costs nothing and holds nothing. Here a GPU is one of the cluster's: names are resolved by the
// front end (SAIL0304) and by readers of foreign files (public_plan_test), and a plan with another pool is refused.
TEST(PublishedFault, AnUnknownGpuIsRefused) {
  const ir::Problem problem = test::TinyProblem();
  ir::Plan plan = test::TinyPlan();
  ASSERT_TRUE(ir::VerifyPlanStructure(problem, plan).ok());
  for (const int unknown : {-1, 2}) {
    plan.pipelines[0].stages[1].group.pool = ir::PoolId(unknown);
    EXPECT_FALSE(ir::VerifyPlanStructure(problem, plan).ok());
  }
}

// There layers are divided by number, and the first type of the alphabet is another case. Layers take one second on one
// GPU and two on the other: 4 + 2 layers of 4 s each, whatever their names.
TEST(PublishedFault, LayersAreCutByTimeUnderAnyNames) {
  for (const int fast : {0, 1}) {
    ir::Problem problem = FakeProblem(6, {{}, {}}, 4);
    problem.job.pipeline_depths = {2};
    std::vector<double> seconds = {2, 2};
    seconds[fast] = 1;
    const FakeCostModel costs(problem, seconds, {kPlenty, kPlenty}, 0);
    const Feasible found = Find(problem, costs);
    EXPECT_DOUBLE_EQ(SecondsOf(found), 8 + 3 * 4);
    EXPECT_THAT(StagesOf(found.plan.pipelines.at(0)), UnorderedElementsAre(std::pair(fast, 4), std::pair(1 - fast, 2)));
  }
}

// There a type that cannot hold one stage is used for none. The small GPU can only end a pipeline (2 bytes), with one
// layer; the large one holds five and two of their micro-batches (15 bytes).
TEST(PublishedFault, ATypeThatHoldsNotEveryStageHoldsSome) {
  for (const int small : {0, 1}) {
    ir::Problem problem = FakeProblem(6, {{}, {}}, 4);
    problem.job.pipeline_depths = {2};
    std::vector<int64_t> limits = {15, 15};
    limits[small] = 2;
    const FakeCostModel costs(problem, {1, 1}, limits, 0);
    EXPECT_THAT(StagesOf(Find(problem, costs).plan.pipelines.at(0)),
                ElementsAre(std::pair(1 - small, 5), std::pair(small, 1)));
  }
}

// There the first share of the fast type that works is taken. Three fast (1 s) and three slow GPUs (2 s) in pipelines
// of two stages, fast ones alone (6 s and 3 s for each further sample), mixed 5 + 1 (7 s, 5 s) or 4 + 2 (8 s, 4 s),
// slow ones alone (12 s, 6 s). One sample: fast alone. Three: three mixed. Twelve: four in each of three mixed, 8 + 3 ·
// 4 s; within 19 s all that can be formed take at most ten.
TEST(PublishedFault, SeveralSharesOfTheFastTypeAreTried) {
  for (const auto& [samples, seconds, fast_gpus] : {std::tuple(1, 6, 2), std::tuple(3, 7, 3), std::tuple(12, 20, 3)}) {
    ir::Problem problem = FakeProblem(6, {{.nodes = 3}, {.nodes = 3}}, samples);
    problem.job.pipeline_depths = {2};
    const FakeCostModel costs(problem, {1, 2}, {kPlenty, kPlenty}, 0);
    const Feasible found = Find(problem, costs);
    EXPECT_DOUBLE_EQ(SecondsOf(found), seconds);
    EXPECT_EQ(GpusByPool(problem, found.plan)[0], fast_gpus);
  }
}

// There every stage has as many replicas as every other. Three GPUs, six samples. Four layers on two of them and two
// layers on the third: 2 s each, 4 + 5 · 2 s. Three stages of one GPU would take 6 + 5 · 2 s.
TEST(PublishedFault, StagesMayHaveUnequalNumbersOfGpus) {
  ir::Problem problem = FakeProblem(6, {{.gpus_per_node = 3}}, 6);
  problem.job.tensor_degrees = {1, 2};
  const FakeCostModel costs(problem, {1}, {9}, 0);
  const Feasible found = Find(problem, costs);
  EXPECT_DOUBLE_EQ(SecondsOf(found), 14);
  ASSERT_EQ(found.plan.pipelines.size(), 1U);
  std::vector<int> degrees;
  for (const ir::Stage& stage : found.plan.pipelines[0].stages) degrees.push_back(stage.group.degree());
  EXPECT_THAT(degrees, UnorderedElementsAre(1, 2));
}

// There all pipelines have one depth. The large GPU holds the model (12 bytes), two small ones hold it together (9
// bytes for 3 layers with two in flight). Six samples: 2 · 6 s and 6 + 3 · 3 s. Three stages of one pipeline: 6 + 5 · 2
// s.
TEST(PublishedFault, PipelinesMayDifferInDepth) {
  ir::Problem problem = FakeProblem(6, {{}, {.nodes = 2}}, 6);
  const FakeCostModel costs(problem, {1, 1}, {12, 9}, 0);
  const Feasible found = Find(problem, costs);
  EXPECT_DOUBLE_EQ(SecondsOf(found), 15);
  std::vector<size_t> depths;
  for (const ir::Pipeline& pipeline : found.plan.pipelines) depths.push_back(pipeline.stages.size());
  EXPECT_THAT(depths, UnorderedElementsAre(1, 2));
}

// There all pipelines have one micro-batch size. No multiple of 2 or of 3 is 5. (With memory: FindPlan.Mem8_16.)
TEST(PublishedFault, MicroBatchesMayBeUnequal) {
  ir::Problem problem = FakeProblem(6, {{.nodes = 2}}, 5);
  problem.job.micro_batches = {2, 3};
  problem.job.pipeline_depths = {1};
  const FakeCostModel costs(problem, {1}, {kPlenty}, 0);
  const Feasible found = Find(problem, costs);
  EXPECT_DOUBLE_EQ(SecondsOf(found), 18);
  std::vector<int> sizes;
  for (const ir::Pipeline& pipeline : found.plan.pipelines) sizes.push_back(pipeline.micro_batch);
  EXPECT_THAT(sizes, UnorderedElementsAre(2, 3));
}

// There two stages on one machine pay the network. 12 s to compute, the step of the blocks that end last, at most 1 s
// of two, and 1 ms for each of two transfers of 2048 bytes. Between machines those would take 1 s each.
TEST(PublishedFault, GpusOfOneMachineAreClose) {
  ir::Problem problem = OneGpuStages(test::RoundProblem(), /*samples=*/1, /*depth=*/2);
  const Feasible found = Find(problem, *sim::MakeSailCostModel(problem));
  EXPECT_GT(SecondsOf(found), 12 + 2e-3);
  EXPECT_LT(SecondsOf(found), 12 + 1 + 3e-3);
  EXPECT_EQ(found.report.nodes, 1);
}

// There plans of one call are still known in the next.
TEST(PublishedFault, ASearchLeavesNothingBehind) {
  const ir::Problem problem = test::TinyProblem();
  const auto costs = sim::MakeSailCostModel(problem);
  const PlannerOptions brief = {.work_budget = 5'000, .least_nodes = {}};
  const Feasible before = Find(problem, *costs, brief);
  ir::Problem other = problem;
  other.job.global_batch = 4;
  other.cluster.pools[0].quota = 1;
  const Feasible between = Find(other, *sim::MakeSailCostModel(other), brief);
  EXPECT_NE(between.plan, before.plan);
  const Feasible after = Find(problem, *costs, brief);
  EXPECT_EQ(after.plan, before.plan);
  EXPECT_EQ(after.report, before.report);
  EXPECT_EQ(after.candidates, before.candidates);
}

// There the quotas of the file are not looked at. Four samples of 6 s on so many GPUs.
TEST(PublishedFault, QuotasAreEnforced) {
  for (const auto& [quota, seconds] : {std::pair(4, 6), std::pair(3, 12), std::pair(2, 12), std::pair(1, 24)}) {
    ir::Problem problem = FakeProblem(6, {{.nodes = quota}, {.nodes = 0}}, 4);
    problem.job.pipeline_depths = {1};
    const FakeCostModel costs(problem, {1, 0.1}, {kPlenty, kPlenty}, 0);
    const Feasible found = Find(problem, costs);
    EXPECT_DOUBLE_EQ(SecondsOf(found), seconds);
    EXPECT_THAT(GpusByPool(problem, found.plan), ElementsAre(testing::Le(quota), 0));
  }
}

}  // namespace
}  // namespace sail::planner
