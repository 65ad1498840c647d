#include "planner/planner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "compiler/ir/verify_plan.h"
#include "planner/front.h"
#include "simulator/sail_cost_model.h"
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
using ::testing::HasSubstr;

Feasible Find(const ir::Problem& problem, const sim::CostModel& costs) {
  PlanOutcome outcome = FindOutcome(problem, costs);
  EXPECT_TRUE(std::holds_alternative<Feasible>(outcome));
  return std::get<Feasible>(std::move(outcome));
}

Infeasible FindNone(const ir::Problem& problem, const sim::CostModel& costs) {
  PlanOutcome outcome = FindOutcome(problem, costs);
  EXPECT_TRUE(std::holds_alternative<Infeasible>(outcome));
  return std::get<Infeasible>(std::move(outcome));
}

std::vector<int> LayersOf(const ir::Pipeline& pipeline) {
  std::vector<int> layers;
  for (const ir::Stage& stage : pipeline.stages) layers.push_back(stage.layer_count());
  return layers;
}

TEST(FindPlan, LayersDropped) {
  ir::Problem problem = FakeProblem(30, {{.nodes = 4}}, 16);
  problem.job.pipeline_depths = {4};
  const FakeCostModel costs(problem, {1}, {kPlenty}, 0);
  const std::vector<int> layers = LayersOf(Find(problem, costs).plan.pipelines.at(0));
  ASSERT_EQ(layers.size(), 4U);
  EXPECT_EQ(std::accumulate(layers.begin(), layers.end(), 0), 30);
  EXPECT_EQ(*std::max_element(layers.begin(), layers.end()), 8);
}

// Micro-batches of 6 fit on the small GPU, of 12 on the large one (6 layers · (1 + b) bytes), which is twice as fast:
// 36 s each. The large one alone would need 54 s.
TEST(FindPlan, Mem8_16) {
  ir::Problem problem = FakeProblem(6, {{}, {}}, 18);
  problem.job.micro_batches = {6, 12};
  problem.job.pipeline_depths = {1};
  const FakeCostModel costs(problem, {1, 0.5}, {42, 78}, 0);
  const Feasible found = Find(problem, costs);
  ASSERT_EQ(found.plan.pipelines.size(), 2U);
  std::map<int, int64_t> samples;
  for (const ir::Pipeline& p : found.plan.pipelines) samples[p.stages[0].group.pool.index()] = p.samples();
  EXPECT_EQ(samples[0], 6);
  EXPECT_EQ(samples[1], 12);
  EXPECT_DOUBLE_EQ(found.report.iteration.value(), 36);
}

// Two stages of 8 layers: the first needs 3 bytes a layer, the second 2. With 16 and 6 bytes of memory 5 + 3 fits,
// large GPU first; 4 + 4 overflows the small one, small first allows 2 + 6 only, which is slower.
TEST(FindPlan, MemShards) {
  ir::Problem problem = FakeProblem(8, {{}, {}}, 4);
  problem.job.pipeline_depths = {2};
  const FakeCostModel costs(problem, {1, 1}, {16, 6}, 0);
  const Feasible found = Find(problem, costs);
  ASSERT_EQ(found.plan.pipelines.size(), 1U);
  EXPECT_THAT(LayersOf(found.plan.pipelines[0]), testing::ElementsAre(5, 3));
  EXPECT_EQ(found.plan.pipelines[0].stages[0].group.pool, ir::PoolId(0));
}

TEST(FindPlan, Nodes8_2) {
  ir::Problem problem = FakeProblem(6, {{.gpus_per_node = 8}, {.gpus_per_node = 2}}, 10);
  problem.job.pipeline_depths = {1};
  const FakeCostModel costs(problem, {1, 1}, {kPlenty, kPlenty}, 0);
  std::map<int, int> processes;
  for (const ir::Pipeline& p : Find(problem, costs).plan.pipelines) ++processes[p.stages[0].group.pool.index()];
  EXPECT_EQ(processes[0], 8);
  EXPECT_EQ(processes[1], 2);
}

TEST(FindPlan, BatchTruncate) {
  ir::Problem problem = FakeProblem(6, {{.nodes = 24, .gpus_per_node = 4}}, 1000);
  problem.job.pipeline_depths = {1};
  const FakeCostModel costs(problem, {1}, {kPlenty}, 0);
  const Feasible found = Find(problem, costs);
  EXPECT_EQ(found.plan.pipelines.size(), 96U);
  int64_t samples = 0;
  for (const ir::Pipeline& pipeline : found.plan.pipelines) samples += pipeline.samples();
  EXPECT_EQ(samples, 1000);
  EXPECT_DOUBLE_EQ(found.report.iteration.value(), 11 * 6);
}

// The head of a large vocabulary costs as much as several blocks, so the last stage gets fewer layers.
TEST(FindPlan, LogitsSpike) {
  ir::Problem problem = test::TinyProblem();
  problem.model.blocks = 10;
  problem.model.vocab = 2000;
  problem.job.pipeline_depths = {2};
  problem.job.tensor_degrees = {1};
  problem.cluster.pools[1].quota = 0;
  problem.profile = {};
  ASSERT_TRUE(sim::CompleteProfile(problem).ok());
  for (const ir::Pipeline& pipeline : Find(problem, *sim::MakeSailCostModel(problem)).plan.pipelines) {
    EXPECT_LT(pipeline.stages[1].layer_count(), pipeline.stages[0].layer_count());
  }
}

// Both GPUs of a node are paid whether or not they work: two pipelines share one node of the two.
TEST(FindPlan, PaysWholeNodes) {
  ir::Problem problem = FakeProblem(6, {{.nodes = 2, .gpus_per_node = 2}}, 4);
  problem.job.objective = {{.metric = Metric::kCostPerIter, .maximize = false}};
  problem.job.pipeline_depths = {1};
  const FakeCostModel costs(problem, {1}, {kPlenty}, 0);
  const Feasible found = Find(problem, costs);
  EXPECT_EQ(found.report.gpus, 2 * found.report.nodes);
}

// Terms after the first decide among equals: 2, 3 or 4 GPUs of one speed process 4 samples of 6 s in 12, 12 and 6 s;
// when time may not fall below 12 s, the cheaper of the equally fast plans wins.
TEST(FindPlan, IsLexicographic) {
  ir::Problem problem = FakeProblem(6, {{.nodes = 4}}, 4);
  problem.job.pipeline_depths = {1};
  problem.job.constraints = {{.name = "slow", .metric = Metric::kThroughput, .at_most = true, .limit = 1.0 / 12}};
  problem.job.objective = {{.metric = Metric::kThroughput, .maximize = true},
                           {.metric = Metric::kCostPerIter, .maximize = false}};
  const FakeCostModel costs(problem, {1}, {kPlenty}, 0);
  const Feasible found = Find(problem, costs);
  EXPECT_DOUBLE_EQ(found.report.iteration.value(), 12);
  EXPECT_EQ(found.report.nodes, 2);
}

// The second pool of two stands in a region of its own.
ir::Problem TwoRegions(int nodes_in_each, int64_t global_batch) {
  ir::Problem problem = FakeProblem(6, {{.nodes = nodes_in_each}, {.nodes = nodes_in_each}}, global_batch);
  problem.cluster.regions = {"r", "s"};
  problem.cluster.zones = {{.name = "y", .region = ir::RegionId(0)}, {.name = "z", .region = ir::RegionId(1)}};
  problem.cluster.pools[1].zone = ir::ZoneId(1);
  problem.cluster.links.assign(2, {{.bandwidth = BytesPerSecond(1e9)}, {.bandwidth = BytesPerSecond(1e9)}});
  return problem;
}

// 4 samples of 6 s: four GPUs take 6 s, the two of one region 12 s.
TEST(FindPlan, KeepsReplicasWithinARegion) {
  ir::Problem problem = TwoRegions(2, 4);
  problem.job.pipeline_depths = {1};
  const FakeCostModel costs(problem, {1, 1}, {kPlenty, kPlenty}, 0);
  EXPECT_DOUBLE_EQ(Find(problem, costs).report.iteration.value(), 6);
  problem.job.keep.data = ir::Reach::kRegion;
  EXPECT_DOUBLE_EQ(Find(problem, costs).report.iteration.value(), 12);
}

// Zones of one name in two regions are two zones.
TEST(FindPlan, ZoneLabels) {
  ir::Problem problem = TwoRegions(2, 4);
  for (ir::Zone& zone : problem.cluster.zones) zone.name = "2";
  problem.job.pipeline_depths = {1};
  problem.job.keep.data = ir::Reach::kZone;
  const FakeCostModel costs(problem, {1, 1}, {kPlenty, kPlenty}, 0);
  EXPECT_DOUBLE_EQ(Find(problem, costs).report.iteration.value(), 12);
}

// A GPU that lacks one byte of what all terms add up to holds no plan; one that has it does.
TEST(FindPlan, Opt18) {
  ir::Problem problem = test::TinyProblem();
  problem.job.micro_batches = {1};
  problem.job.tensor_degrees = {1};
  problem.job.pipeline_depths = {1};
  problem.job.memory_limit = 1;
  problem.cluster.pools[1].quota = 0;
  const sim::StageShape whole{.first_layer = 0, .last_layer = 5, .pool = ir::PoolId(0)};
  const Bytes needed = sim::MakeSailCostModel(problem)->StageMemory(whole, 1);
  problem.cluster.gpus[0].memory = needed;
  const Feasible found = Find(problem, *sim::MakeSailCostModel(problem));
  EXPECT_EQ(found.report.stages.at(0).memory_total, needed);
  problem.cluster.gpus[0].memory = needed - Bytes(1);
  EXPECT_EQ(FindNone(problem, *sim::MakeSailCostModel(problem)).limits.at(0).name, "memory");
}

// A pipeline may cross regions while the replicas of each layer, of which there is one, stay where they are.
TEST(FindPlan, KeepingReplicasTogetherLetsAPipelineSpread) {
  ir::Problem problem = TwoRegions(1, 1);
  problem.job.pipeline_depths = {2};
  problem.job.keep.data = ir::Reach::kRegion;
  const FakeCostModel costs(problem, {1, 1}, {10, 10}, 0);
  EXPECT_EQ(Find(problem, costs).plan.pipelines.at(0).stages.size(), 2U);
}

// No GPU holds all 6 layers (12 bytes), and each region has one GPU.
TEST(FindPlan, KeepsPipelinesWithinARegion) {
  ir::Problem problem = TwoRegions(1, 1);
  problem.job.pipeline_depths = {1, 2};
  const FakeCostModel costs(problem, {1, 1}, {10, 10}, 0);
  EXPECT_EQ(Find(problem, costs).plan.pipelines.at(0).stages.size(), 2U);
  problem.job.keep.pipeline = ir::Reach::kRegion;
  EXPECT_FALSE(FindNone(problem, costs).limits.empty());
}

const ConflictingLimit* FindLimit(const Infeasible& infeasible, const std::string& name) {
  for (const ConflictingLimit& limit : infeasible.limits) {
    if (limit.name == name) return &limit;
  }
  return nullptr;
}

// 6 layers on two GPUs of 5 bytes: the best cut is 3 + 3 with one micro-batch in flight on each, 2 bytes a layer, and
// the first stage needs 9 with two.
TEST(Infeasible, NamesMemoryWithTheClosestMiss) {
  ir::Problem problem = FakeProblem(6, {{.nodes = 2}}, 4);
  const FakeCostModel costs(problem, {1}, {5}, 0);
  const Infeasible none = FindNone(problem, costs);
  ASSERT_EQ(none.limits.size(), 1U);
  EXPECT_EQ(none.limits[0].name, "memory");
  EXPECT_GT(none.limits[0].best, 0);
  EXPECT_THAT(none.limits[0].detail, HasSubstr("closest miss: stage "));
  EXPECT_THAT(none.limits[0].detail, HasSubstr("on gpu_a needs"));
}

// A sample takes 6 s, so n nodes at 1 USD/s process 4 samples in 24, 12, 12 and 6 s. Within 7 s they must be four,
// within 2 USD/s two. The limit on GPUs is in nobody's way.
TEST(Infeasible, NamesTheLimitsInConflictOnly) {
  ir::Problem problem = FakeProblem(6, {{.nodes = 4, .price = kUsdPerSecond}}, 4);
  problem.job.pipeline_depths = {1};
  problem.job.constraints = {{.name = "floor", .metric = Metric::kThroughput, .at_most = false, .limit = 1.0 / 7},
                             {.name = "roomy", .metric = Metric::kGpus, .at_most = true, .limit = 100},
                             {.name = "cap", .metric = Metric::kCostRate, .at_most = true, .limit = 2}};
  const FakeCostModel costs(problem, {1}, {kPlenty}, 0);
  const Infeasible none = FindNone(problem, costs);
  ASSERT_EQ(none.limits.size(), 2U);
  const ConflictingLimit* floor = FindLimit(none, "floor");
  const ConflictingLimit* cap = FindLimit(none, "cap");
  ASSERT_TRUE(floor != nullptr && cap != nullptr);
  EXPECT_DOUBLE_EQ(floor->best, 1.0 / 12);
  EXPECT_DOUBLE_EQ(cap->best, 4);
}

// As above, but at most three GPUs: that limit is outside the conflict, and still leaves no plan with a higher cap.
// With the floor at a twelfth, two nodes keep all three.
TEST(Infeasible, ProposesOnlyWhatKeepsEveryLimit) {
  ir::Problem problem = FakeProblem(6, {{.nodes = 4, .price = kUsdPerSecond}}, 4);
  problem.job.pipeline_depths = {1};
  problem.job.constraints = {{.name = "floor", .metric = Metric::kThroughput, .at_most = false, .limit = 1.0 / 7},
                             {.name = "few", .metric = Metric::kGpus, .at_most = true, .limit = 3},
                             {.name = "cap", .metric = Metric::kCostRate, .at_most = true, .limit = 2}};
  const FakeCostModel costs(problem, {1}, {kPlenty}, 0);
  const Infeasible none = FindNone(problem, costs);
  ASSERT_EQ(none.limits.size(), 2U);
  const ConflictingLimit* floor = FindLimit(none, "floor");
  const ConflictingLimit* cap = FindLimit(none, "cap");
  ASSERT_TRUE(floor != nullptr && cap != nullptr);
  EXPECT_DOUBLE_EQ(floor->relaxed, 1.0 / 12);
  EXPECT_DOUBLE_EQ(cap->best, 4);
  EXPECT_TRUE(std::isnan(cap->relaxed));
}

// Six layers need 6 + 6 bytes with their micro-batch in flight, 6 recomputed; a micro-batch takes 6 s or 12 s.
TEST(FindPlan, RecomputesOnlyWhereMemoryAsksForIt) {
  ir::Problem problem = FakeProblem(6, {{}}, 2);
  problem.job.recomputes = {ir::Recompute::kNone, ir::Recompute::kFull};
  problem.job.pipeline_depths = {1};
  for (const auto& [limit, recompute, seconds] :
       {std::tuple(12, ir::Recompute::kNone, 12.0), std::tuple(11, ir::Recompute::kFull, 24.0)}) {
    const FakeCostModel costs(problem, {1}, {limit}, 0);
    const Feasible found = Find(problem, costs);
    EXPECT_EQ(found.plan.pipelines.at(0).stages.at(0).recompute, recompute);
    EXPECT_DOUBLE_EQ(found.report.iteration.value(), seconds);
  }
  problem.job.recomputes = {ir::Recompute::kNone};
  FindNone(problem, FakeCostModel(problem, {1}, {11}, 0));
}

// A replica needs 6 + 6 bytes, 6 / 3 + 6 of three that share the optimizer's state: only all three fit, in 6 s.
TEST(FindPlan, SharesTheOptimizerStateWhereMemoryAsksForIt) {
  ir::Problem problem = FakeProblem(6, {{.nodes = 3}}, 3);
  problem.job.optimizer_shardings = {ir::OptimizerSharding::kNone, ir::OptimizerSharding::kZero1};
  problem.job.pipeline_depths = {1};
  const FakeCostModel costs(problem, {1}, {8}, 0);
  const Feasible found = Find(problem, costs);
  EXPECT_EQ(found.plan.optimizer_sharding, ir::OptimizerSharding::kZero1);
  EXPECT_EQ(found.plan.pipelines.size(), 3U);
  EXPECT_DOUBLE_EQ(found.report.iteration.value(), 6);
  problem.job.optimizer_shardings = {ir::OptimizerSharding::kNone};
  FindNone(problem, FakeCostModel(problem, {1}, {8}, 0));
}

// Twelve seconds on the slow pool, where the fast one alone needs six.
TEST(FindPlan, UsesAtLeastTheNodesWishedFor) {
  ir::Problem problem = FakeProblem(6, {{}, {}}, 1);
  problem.job.pipeline_depths = {1};
  const FakeCostModel costs(problem, {1, 2}, {kPlenty, kPlenty}, 0);
  EXPECT_DOUBLE_EQ(Find(problem, costs).report.iteration.value(), 6);
  const absl::StatusOr<PlanOutcome> wished = FindPlan(problem, costs, {.least_nodes = {0, 1}});
  ASSERT_TRUE(wished.ok() && std::holds_alternative<Feasible>(*wished));
  EXPECT_DOUBLE_EQ(std::get<Feasible>(*wished).report.iteration.value(), 12);
}

// One sample runs on one of two GPUs: there is one other kind of plan.
TEST(FindPlan, RunnersUpAreOfOtherKinds) {
  ir::Problem problem = FakeProblem(6, {{.nodes = 2}, {.nodes = 2}}, 1);
  problem.job.pipeline_depths = {1};
  const FakeCostModel costs(problem, {1, 2}, {kPlenty, kPlenty}, 0);
  const Feasible found = Find(problem, costs);
  ASSERT_EQ(found.runners_up.size(), 1U);
  EXPECT_EQ(found.runners_up[0].plan.pipelines.at(0).stages.at(0).group.pool, ir::PoolId(1));
  EXPECT_THAT(found.runners_up[0].objective, testing::ElementsAre(1.0 / 12));
}

// Fast and dear (6 s at 4 USD/s); slow and cheap (12 s at 1 USD/s).
TEST(FrontCandidates, HoldTheFastestAndTheCheapest) {
  ir::Problem problem = FakeProblem(6, {{.price = 4 * kUsdPerSecond}, {.price = kUsdPerSecond}}, 1);
  problem.job.pipeline_depths = {1};
  const FakeCostModel costs(problem, {1, 2}, {kPlenty, kPlenty}, 0);
  const absl::StatusOr<std::vector<ir::Plan>> plans = FindFrontCandidates(problem, costs, {});
  ASSERT_TRUE(plans.ok());
  std::set<int> pools;
  for (const ir::Plan& plan : *plans) pools.insert(plan.pipelines.at(0).stages.at(0).group.pool.index());
  EXPECT_THAT(pools, testing::ElementsAre(0, 1));
}

TEST(NonDominated, KeepsWhatNothingBeats) {
  const auto point = [](double seconds, double usd, double goodput, int gpus, bool chosen = false) {
    return ir::FrontPoint{.iteration = Seconds(seconds),
                          .cost_per_iteration = Usd(usd),
                          .goodput = goodput,
                          .nodes = 1,
                          .gpus = gpus,
                          .chosen = chosen};
  };
  // Slower than 1 and as dear: beaten. Equal to 4, later. Dearer and slower, but less often interrupted: stays.
  const std::vector<ir::FrontPoint> front =
      NonDominated({point(4, 1, 0.2, 4), point(2, 3, 0.4, 1), point(3, 3, 0.3, 2), point(4, 1, 0.2, 5),
                    point(5, 4, 0.5, 3), point(6, 6, 0.1, 6, /*chosen=*/true)});
  std::vector<int> kept;
  for (const ir::FrontPoint& p : front) kept.push_back(p.gpus);
  EXPECT_THAT(kept, testing::ElementsAre(1, 4, 3, 6));
}

// Replicas within one node of one GPU are one replica: 24 s.
TEST(Infeasible, NamesKeep) {
  ir::Problem problem = FakeProblem(6, {{.nodes = 4}}, 4);
  problem.job.pipeline_depths = {1};
  problem.job.keep.data = ir::Reach::kNode;
  problem.job.constraints = {{.name = "floor", .metric = Metric::kThroughput, .at_most = false, .limit = 1.0 / 7}};
  const FakeCostModel costs(problem, {1}, {kPlenty}, 0);
  const Infeasible none = FindNone(problem, costs);
  ASSERT_EQ(none.limits.size(), 2U);
  EXPECT_NE(FindLimit(none, "keep"), nullptr);
  const ConflictingLimit* floor = FindLimit(none, "floor");
  ASSERT_NE(floor, nullptr);
  EXPECT_DOUBLE_EQ(floor->relaxed, 1.0 / 24);
}

// Eight samples within 7 s need eight GPUs; the pool has four.
TEST(Infeasible, NamesTheQuota) {
  ir::Problem problem = FakeProblem(6, {{.nodes = 4}}, 8);
  problem.job.pipeline_depths = {1};
  problem.job.constraints = {{.name = "floor", .metric = Metric::kThroughput, .at_most = false, .limit = 1.0 / 7}};
  const FakeCostModel costs(problem, {1}, {kPlenty}, 0);
  const Infeasible none = FindNone(problem, costs);
  ASSERT_EQ(none.limits.size(), 2U);
  const ConflictingLimit* quota = FindLimit(none, "quota");
  ASSERT_TRUE(quota != nullptr && FindLimit(none, "floor") != nullptr);
  EXPECT_EQ(quota->detail, "enough would be 8 nodes: 8 of a");
}

TEST(Infeasible, SaysThatNothingCanBeFormed) {
  ir::Problem problem = FakeProblem(6, {{.nodes = 0}}, 4);
  const FakeCostModel costs(problem, {1}, {kPlenty}, 0);
  const Infeasible none = FindNone(problem, costs);
  ASSERT_EQ(none.limits.size(), 1U);
  EXPECT_EQ(none.limits[0].detail, "no pool has a node");
}

}  // namespace
}  // namespace sail::planner
