#include "planner/replan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "compiler/base/check.h"
#include "compiler/base/rng.h"
#include "compiler/ir/verify_plan.h"
#include "planner/judge.h"
#include "planner/repair.h"
#include "planner/share_plan.h"
#include "simulator/sail_cost_model.h"
#include "tests/support/random_problem.h"
#include "tests/support/round_problem.h"

namespace sail::planner {
namespace {

using test::MakeStage;

Feasible Find(const ir::Problem& problem) {
  absl::StatusOr<PlanOutcome> outcome = FindPlan(problem, *sim::MakeSailCostModel(problem), {});
  SAIL_CHECK(outcome.ok()) << outcome.status().ToString();
  return std::get<Feasible>(*std::move(outcome));
}

Change Apply(const ir::Problem& problem, const ir::Plan& plan, const Membership& membership) {
  absl::StatusOr<Change> change = ApplyMembership(problem, plan, membership);
  SAIL_CHECK(change.ok()) << change.status().ToString();
  return *std::move(change);
}

ReplanOutcome Answer(const Change& change, const ReplanOptions& options = {}) {
  absl::StatusOr<ReplanOutcome> outcome = Replan(change, *sim::MakeSailCostModel(change.problem), options);
  SAIL_CHECK(outcome.ok()) << outcome.status().ToString();
  return *std::move(outcome);
}

NextPlan Next(const Change& change, const ReplanOptions& options = {}) {
  ReplanOutcome outcome = Answer(change, options);
  SAIL_CHECK(std::holds_alternative<Replanned>(outcome)) << "no plan was found";
  return std::get<Replanned>(std::move(outcome)).next;
}

// Two nodes of four GPUs, of which a pipeline takes one whole.
ir::Problem TwoNodes() {
  ir::Problem problem = test::RoundProblem();
  problem.job.tensor_degrees = {4};
  problem.job.micro_batches = {1};
  problem.cluster.pools[0].quota = 2;
  problem.cluster.pools[1].quota = 0;
  return problem;
}

ir::Plan APipelineOnEach() {
  ir::Plan plan;
  for (const int node : {0, 1}) {
    plan.pipelines.push_back(
        {.micro_batch = 1, .micro_batches = 4, .stages = {MakeStage(0, 5, 0, node, {0, 1, 2, 3})}});
  }
  return plan;
}

// `nodes` nodes of 8 equal GPUs, one pool; a GPU does not hold the whole model.
ir::Problem LargeProblem(int nodes) {
  ir::Problem problem{
      .job = test::TinyJob(), .model = test::TinyModel(), .cluster = test::TinyCluster(), .profile = {}};
  problem.model.blocks = 16;
  problem.model.hidden = 256;
  problem.model.feed_forward = 1024;
  problem.model.embedding_width = 256;
  problem.model.vocab = 1000;
  problem.model.seq_len = problem.model.position_rows = 128;
  problem.job.global_batch = 512;
  problem.job.micro_batches = {1, 2};
  problem.job.tensor_degrees = {1, 2};
  ir::Cluster& cluster = problem.cluster;
  cluster.gpus = {test::CpuGpu("cpu", 20)};
  cluster.machines = {cluster.machines[0]};
  cluster.machines[0].gpus_per_node = 8;
  cluster.pools = {cluster.pools[0]};
  cluster.pools[0].quota = nodes;
  const absl::Status status = sim::CompleteProfile(problem);
  SAIL_CHECK(status.ok()) << status.ToString();
  const sim::StageShape whole{.last_layer = problem.model.layer_count() - 1, .pool = ir::PoolId(0)};
  const Bytes bytes = sim::MakeSailCostModel(problem)->StageMemory(whole, 1);
  cluster.gpus[0].memory = Bytes(bytes.value() * 8 / 10);
  return problem;
}

Membership Lose(const ir::Problem& problem, const std::vector<int>& nodes) {
  Membership membership;
  for (const ir::Pool& pool : problem.cluster.pools) membership.nodes.push_back(pool.quota);
  for (const int node : nodes) membership.lost.push_back({.pool = ir::PoolId(0), .node = node});
  membership.nodes[0] -= static_cast<int>(nodes.size());
  return membership;
}

TEST(Amortised, AddsTheMovementToTimeAndMoney) {
  ir::Report report;
  report.iteration = Seconds(10);
  report.cost_per_iteration = Usd(5);  // 4 of nodes, 1 of egress
  report.pools = {{.pool = ir::PoolId(0), .nodes = 2, .per_iteration = Usd(4)}};
  report.samples_per_second = 30;
  const Movement movement{.seconds = Seconds(20), .egress = Usd(7)};
  const ir::Report amortised = Amortised(report, movement, Seconds(100));
  EXPECT_DOUBLE_EQ(amortised.iteration.value(), 12);
  EXPECT_DOUBLE_EQ(amortised.samples_per_second, 25);
  // Ten iterations bear 20 s of nodes at 0.4 USD/s, and the egress.
  EXPECT_DOUBLE_EQ(amortised.cost_per_iteration.value(), 5 + (8 + 7) / 10.0);
  EXPECT_DOUBLE_EQ(ir::Value(amortised, ir::Metric::kCostRate), 0.4);
}

TEST(Replan, NothingChangedNothingMoves) {
  const ir::Problem problem = test::RandomProblem(7, 2'000);
  const ir::Plan plan = Find(problem).plan;
  Membership membership;
  for (const ir::Pool& pool : problem.cluster.pools) membership.nodes.push_back(pool.quota);
  const NextPlan next = Next(Apply(problem, plan, membership));
  EXPECT_EQ(next.plan, plan);
  EXPECT_EQ(next.movement.bytes, 0);
  EXPECT_EQ(next.movement.stages_kept, next.movement.stages);
  EXPECT_EQ(next.movement.processes_started, 0);
  EXPECT_EQ(next.iteration, next.report.iteration);
}

// Pipelines of one node each; the lost one is replaced by a new node, which fetches the model from the other.
TEST(Replan, ANewNodeTakesThePlaceOfALostOne) {
  ir::Problem problem = TwoNodes();
  for (auto& row : problem.cluster.links) {
    for (ir::Link& link : row) link.bandwidth = BytesPerSecond(1e9);
  }
  const ir::Plan plan = APipelineOnEach();
  Membership membership = Lose(problem, {0});
  membership.nodes[0] = 2;
  const NextPlan next = Next(Apply(problem, plan, membership));
  EXPECT_EQ(next.plan, plan);
  EXPECT_EQ(next.movement.bytes, 12 * (27104 + 26656));
  EXPECT_EQ(next.movement.stages_kept, 1);
  EXPECT_EQ(next.movement.processes_kept, 4);
}

// Moving takes 0.65 s and halves an iteration of 96 s: worth it for the next four hours, not for the next half second.
TEST(Replan, TheHorizonDecidesWhatMovingIsWorth) {
  ir::Problem problem = TwoNodes();
  problem.cluster.links[0][0].bandwidth = BytesPerSecond(1e6);
  const ir::Plan plan = APipelineOnEach();
  Membership membership = Lose(problem, {0});
  membership.nodes[0] = 2;
  const Change change = Apply(problem, plan, membership);
  EXPECT_EQ(Next(change).plan.pipelines.size(), 2U);
  const NextPlan hasty = Next(change, {.horizon = Seconds(0.5)});
  EXPECT_EQ(hasty.plan.pipelines.size(), 1U);
  EXPECT_EQ(hasty.movement.bytes, 0);
  EXPECT_EQ(hasty.horizon, Seconds(0.5));
}

// The time to the next loss is that of the spot nodes in use.
TEST(Replan, SpotPoolsSayTheHorizon) {
  ir::Problem problem = LargeProblem(4);
  problem.cluster.pools[0].market = ir::Market::kSpot;
  problem.cluster.pools[0].mean_lifetime = Seconds(9000);
  const NextPlan next = Next(Apply(problem, Find(problem).plan, Lose(problem, {1})));
  EXPECT_DOUBLE_EQ(next.horizon.value(), 9000.0 / next.report.nodes);
}

TEST(Replan, NoNodesNoPlan) {
  const ir::Problem problem = LargeProblem(2);
  const ReplanOutcome outcome = Answer(Apply(problem, Find(problem).plan, Lose(problem, {0, 1})));
  ASSERT_TRUE(std::holds_alternative<Infeasible>(outcome));
  EXPECT_FALSE(std::get<Infeasible>(outcome).limits.empty());
}

// What dropping the broken pipelines takes, if that keeps the limits.
std::optional<double> DroppedSeconds(const Change& change) {
  const auto costs = sim::MakeSailCostModel(change.problem);
  std::vector<int> quotas;
  for (const ir::Pool& pool : change.problem.cluster.pools) quotas.push_back(pool.quota);
  const StageTable table(change.problem, *costs, quotas, MemoryRule::kEnforced,
                         {.sharding = change.previous.optimizer_sharding});
  const MovementCost movement(change);
  ir::Plan plan = Repair(movement, table, {}).Dropped();
  if (plan.pipelines.empty() || !Share(table, plan)) return std::nullopt;
  const absl::StatusOr<ir::Report> report = costs->Evaluate(plan);
  if (!ir::VerifyPlan(change.problem, plan, *report).ok()) return std::nullopt;
  EXPECT_EQ(movement.Of(plan).bytes, 0);
  return report->iteration.value();
}

TEST(Replan, NineOfSixtyFourNodes) {
  const ir::Problem problem = LargeProblem(64);
  const Feasible previous = Find(problem);
  const Change change = Apply(problem, previous.plan, Lose(problem, {0, 7, 14, 21, 28, 35, 42, 49, 56}));
  const ReplanOutcome outcome = Answer(change, {.search = PlannerOptions()});
  const auto& replanned = std::get<Replanned>(outcome);
  const NextPlan& next = replanned.next;
  EXPECT_EQ(ir::VerifyPlan(change.problem, next.plan, next.report), absl::OkStatus());
  ASSERT_TRUE(replanned.from_scratch.has_value());
  EXPECT_LE(next.iteration, replanned.from_scratch->iteration);
  const std::optional<double> dropped = DroppedSeconds(change);
  EXPECT_LE(next.iteration.value(), dropped.value_or(1e9));
  // The fast path alone: no further from the old speed than what is lost, with a tenth to spare.
  const NextPlan fast = Next(change);
  EXPECT_LE(fast.iteration.value(), 1.1 * 64 / 55 * previous.report.iteration.value());
  EXPECT_EQ(Next(change).plan, fast.plan);
}

// The plan with the nodes of pool 0 called otherwise.
ir::Plan Renamed(ir::Plan plan, const std::vector<int>& names) {
  for (ir::Pipeline& pipeline : plan.pipelines) {
    for (ir::Stage& stage : pipeline.stages) stage.group.node = names[stage.group.node];
  }
  ir::Canonicalize(plan);
  return plan;
}

// Without names of nodes and GPUs.
ir::Plan Nameless(ir::Plan plan) {
  for (ir::Pipeline& pipeline : plan.pipelines) {
    for (ir::Stage& stage : pipeline.stages) {
      stage.group.node = 0;
      std::fill(stage.group.gpus.begin(), stage.group.gpus.end(), 0);
    }
  }
  ir::Canonicalize(plan);
  return plan;
}

TEST(Replan, NamesOfNodesChangeNothing) {
  const ir::Problem problem = LargeProblem(8);
  const ir::Plan plan = Find(problem).plan;
  const std::vector<int> lost = {1, 4};
  std::optional<NextPlan> expected;
  for (const uint64_t seed : {0, 1, 2, 3}) {
    std::vector<int> names(8);
    std::iota(names.begin(), names.end(), 0);
    Rng rng(seed);
    for (int i = 7; seed > 0 && i > 0; --i) std::swap(names[i], names[rng.Below(i + 1)]);
    const NextPlan next = Next(Apply(problem, Renamed(plan, names), Lose(problem, {names[lost[0]], names[lost[1]]})));
    if (!expected) expected = next;
    EXPECT_EQ(Nameless(next.plan), Nameless(expected->plan));
    EXPECT_NEAR(next.iteration / expected->iteration, 1, 1e-9);
    EXPECT_EQ(next.movement.bytes, expected->movement.bytes);
    EXPECT_NEAR(next.movement.seconds / expected->movement.seconds, 1, 1e-9);
    EXPECT_EQ(next.movement.stages_kept, expected->movement.stages_kept);
  }
}

// Valid, never worse than dropping the broken pipelines, and an answer wherever the search finds one.
TEST(Replan, RandomProblems) {
  int lossy = 0;
  for (uint64_t seed = 1; seed <= 24; ++seed) {
    const auto variety = seed % 2 == 0 ? test::Variety::kChoices : test::Variety::kPlain;
    const ir::Problem problem = test::RandomProblem(seed, 2'000, variety);
    const auto found = FindPlan(problem, *sim::MakeSailCostModel(problem), {});
    if (!std::holds_alternative<Feasible>(*found)) continue;
    const ir::Plan& plan = std::get<Feasible>(*found).plan;
    const ir::TensorGroup& group = plan.pipelines[0].stages[0].group;
    Membership membership;
    for (const ir::Pool& pool : problem.cluster.pools) membership.nodes.push_back(pool.quota);
    membership.lost = {{.pool = group.pool, .node = group.node}};
    --membership.nodes[group.pool.index()];
    const Change change = Apply(problem, plan, membership);
    const ReplanOutcome outcome = Answer(change);
    const auto scratch = FindPlan(change.problem, *sim::MakeSailCostModel(change.problem), {});
    ASSERT_EQ(std::holds_alternative<Replanned>(outcome), std::holds_alternative<Feasible>(*scratch)) << seed;
    if (!std::holds_alternative<Replanned>(outcome)) continue;
    const NextPlan& next = std::get<Replanned>(outcome).next;
    EXPECT_EQ(ir::VerifyPlan(change.problem, next.plan, next.report), absl::OkStatus()) << seed;
    if (problem.job.objective[0].metric == ir::Metric::kThroughput) {
      const std::optional<double> dropped = DroppedSeconds(change);
      EXPECT_LE(next.iteration.value(), dropped.value_or(1e9) * (1 + 1e-9)) << seed;
    }
    ++lossy;
  }
  EXPECT_GE(lossy, 8);
}

}  // namespace
}  // namespace sail::planner
