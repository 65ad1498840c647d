#include "planner/draft.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/planner/draft_problem.h"

namespace sail::planner {
namespace {

using ::testing::ElementsAre;

constexpr int64_t kMuchMemory = 1000;  // bytes

class DraftTest : public ::testing::Test {
 protected:
  static DraftProblem Make(int64_t work = kMuchWork) {
    return DraftProblem(FastAndSlow(), {1, 3}, 0.5, {kMuchMemory, kMuchMemory}, MemoryRule::kEnforced, work);
  }
  // Two pipelines of two stages of 4 layers on pool a.
  static Draft Halves(Layout layout) {
    return {.layout = layout, .teams = {{.slots = {0, 0}, .counts = {4, 4}, .pipelines = 2}}};
  }
  // One GPU of each pool with the whole model.
  static Draft OneOfEach() { return {.teams = {{.slots = {0}, .counts = {8}}, {.slots = {1}, .counts = {8}}}}; }
};

// Stages of 2, 1 and 5 layers on nodes of 2 GPUs: together the first two save their crossing.
TEST_F(DraftTest, RateCountsCrossingsBetweenNodes) {
  DraftProblem of = Make();
  const Team team{.slots = {0, 0, 0}, .counts = {2, 1, 5}};
  EXPECT_EQ(EndOfNode(of.table, team.slots, Layout::kByPipeline, 0), 2U);
  EXPECT_EQ(EndOfNode(of.table, team.slots, Layout::kByPipeline, 2), 3U);
  EXPECT_EQ(EndOfNode(of.table, team.slots, Layout::kApart, 0), 1U);
  EXPECT_EQ(RateOf(of.table, team, Layout::kByPipeline),
            (PipelineRate{.micro_batch = 1, .bottleneck = 5, .latency = 2 + (1 + 0.5) + 5}));
  EXPECT_EQ(RateOf(of.table, team, Layout::kApart),
            (PipelineRate{.micro_batch = 1, .bottleneck = 5, .latency = (2 + 0.5) + (1 + 0.5) + 5}));
}

// Of 7 bytes a stage of 3 layers may stash one micro-batch, 3·(1 + 1), not the two that it needs from two on.
TEST_F(DraftTest, RateKnowsTheMostMicroBatches) {
  DraftProblem of(FastAndSlow(), {1, 3}, 0.5, {7, kMuchMemory});
  EXPECT_EQ(RateOf(of.table, {.slots = {0, 0, 0}, .counts = {2, 3, 3}}, Layout::kApart).max_micro_batches, 1);
}

// Together 1 s and 3 s a layer take 6 and 2 layers to 6 s, and half a second for the crossing after the first.
TEST_F(DraftTest, RecutsByTime) {
  DraftProblem of = Make();
  Team team{.slots = {0, 1}, .counts = {4, 4}};
  ASSERT_TRUE(Recut(of.table, team));
  EXPECT_THAT(team.counts, ElementsAre(6, 2));
  DraftProblem tight(FastAndSlow(), {1, 3}, 0.5, {7, 7});  // 3 and 3 layers at most
  EXPECT_FALSE(Recut(tight.table, team));
}

// 4 micro-batches each. By pipeline 8 s and 3 times 4 s; by stage half a second for the crossing each time.
TEST_F(DraftTest, JudgesTime) {
  DraftProblem of = Make();
  const std::optional<Score> near = of.judge.Judge(Halves(Layout::kByPipeline));
  ASSERT_TRUE(near.has_value());
  EXPECT_DOUBLE_EQ(near->seconds, 8 + 3 * 4);
  EXPECT_DOUBLE_EQ(near->pipelines, 20);
  EXPECT_EQ(near->violation, 0);
  EXPECT_THAT(near->objective, ElementsAre(near->seconds));
  const std::optional<Score> apart = of.judge.Judge(Halves(Layout::kByStage));
  ASSERT_TRUE(apart.has_value());
  EXPECT_DOUBLE_EQ(apart->seconds, 8.5 + 3 * 4.5);
  EXPECT_LT(*near, *apart);
  EXPECT_EQ(of.judge.candidates(), 2);
}

// 8 s and 24 s a sample: of 8 samples 6 and 2, 48 s. As if the slow one took 48 s a sample: 7 and 1, 56 s.
TEST_F(DraftTest, PaceBendsTheShares) {
  DraftProblem of = Make();
  Draft draft = OneOfEach();
  const std::optional<Score> fair = of.judge.Judge(draft);
  ASSERT_TRUE(fair.has_value());
  EXPECT_DOUBLE_EQ(fair->seconds, 48);
  draft.teams[1].pace = 2;
  const std::optional<Score> bent = of.judge.Judge(draft);
  ASSERT_TRUE(bent.has_value());
  EXPECT_DOUBLE_EQ(bent->seconds, 56);
  EXPECT_DOUBLE_EQ(bent->pipelines, 56);  // the slow one by its true rate: 24
}

TEST_F(DraftTest, JudgesEveryDraftOnce) {
  DraftProblem of = Make();
  Draft draft = Halves(Layout::kByPipeline);
  EXPECT_TRUE(of.judge.Judge(draft).has_value());
  EXPECT_FALSE(of.judge.Judge(draft).has_value());
  draft.teams[0].counts = {5, 3};
  EXPECT_TRUE(of.judge.Judge(draft).has_value());
}

TEST_F(DraftTest, RefusesWhatDoesNotFit) {
  DraftProblem of = Make();
  Draft draft = Halves(Layout::kByPipeline);
  draft.teams[0].pipelines = 3;  // 6 GPUs of 4
  EXPECT_FALSE(of.judge.Judge(draft).has_value());
  ir::Problem threes = FastAndSlow();
  threes.job.micro_batches = {3};  // 8 samples
  DraftProblem odd(threes, {1, 3}, 0.5, {kMuchMemory, kMuchMemory});
  EXPECT_FALSE(odd.judge.Judge(Halves(Layout::kByPipeline)).has_value());
  EXPECT_FALSE(of.judge.Judge(Draft()).has_value());
  EXPECT_EQ(of.judge.candidates() + odd.judge.candidates(), 0);
}

// Pipelines of 20 s may end after 19 s, their transfers hidden. A change that slows them saves half of the
// synchronisation at most.
TEST_F(DraftTest, DraftsMuchSlowerThanTheRivalAreNotJudged) {
  const auto is_judged = [](const Rival& rival) {
    return Make().judge.Judge(Halves(Layout::kByPipeline), rival).has_value();
  };
  EXPECT_TRUE(is_judged({.seconds = 19.1}));
  EXPECT_FALSE(is_judged({.seconds = 18.9}));
  EXPECT_TRUE(is_judged({.seconds = 20.1, .synchronisation = 2}));
  EXPECT_FALSE(is_judged({.seconds = 19.9, .synchronisation = 2}));
}

TEST_F(DraftTest, ADraftCostsItsTeams) {
  DraftProblem of = Make(/*work=*/3);
  Draft draft = OneOfEach();
  EXPECT_TRUE(of.judge.Judge(draft).has_value());
  EXPECT_EQ(of.judge.work_left(), 1);
  draft.teams[0].pipelines = 2;
  EXPECT_TRUE(of.judge.Judge(draft).has_value());
  EXPECT_TRUE(of.judge.is_exhausted());
  EXPECT_FALSE(of.judge.Judge(Halves(Layout::kByPipeline)).has_value());
}

TEST_F(DraftTest, AnAllowanceEndsBeforeTheBudget) {
  DraftProblem of = Make(/*work=*/10);
  of.judge.Allow(2);
  EXPECT_TRUE(of.judge.Judge(OneOfEach()).has_value());
  EXPECT_TRUE(of.judge.is_exhausted());
  EXPECT_FALSE(of.judge.Judge(Halves(Layout::kByPipeline)).has_value());
  of.judge.Allow(2);
  EXPECT_EQ(of.judge.work_left(), 8);
  EXPECT_TRUE(of.judge.Judge(Halves(Layout::kByStage)).has_value());
}

double ViolationOf(DraftProblem& of, const Draft& draft) {
  const std::optional<Score> score = of.judge.Judge(draft);
  return score ? score->violation : -1;
}

// Two nodes are used: one of each pool.
TEST_F(DraftTest, ViolationsAreShares) {
  DraftProblem limited = Make();
  limited.scope.constraints = {{.name = "nodes", .metric = ir::Metric::kNodes, .at_most = true, .limit = 1}};
  EXPECT_DOUBLE_EQ(ViolationOf(limited, OneOfEach()), 1);
  DraftProblem wanted = Make();
  wanted.scope.least_nodes = {0, 2};
  EXPECT_DOUBLE_EQ(ViolationOf(wanted, OneOfEach()), 0.5);
  EXPECT_DOUBLE_EQ(ViolationOf(wanted, Halves(Layout::kByPipeline)), 1);
}

// 8 layers and as many of a stashed micro-batch need 16 bytes: 0.6 more than 10.
TEST_F(DraftTest, MemoryIsAViolationWhereItIsEnforced) {
  DraftProblem of(FastAndSlow(), {1, 3}, 0.5, {10, kMuchMemory}, MemoryRule::kIgnored);
  EXPECT_DOUBLE_EQ(ViolationOf(of, OneOfEach()), 0.6);
  of.scope.memory = MemoryRule::kIgnored;
  EXPECT_DOUBLE_EQ(ViolationOf(of, {.layout = Layout::kByStage, .teams = OneOfEach().teams}), 0);
}

// Pool b in another zone of the region. Every pipeline that leaves a place, and every one with replicas elsewhere than
// the first team, is one too far.
TEST_F(DraftTest, CountsWhatKeepForbids) {
  ir::Problem two_zones = FastAndSlow();
  two_zones.cluster.zones.push_back({.name = "y", .region = ir::RegionId(0)});
  two_zones.cluster.links = {2, {2, two_zones.cluster.links[0][0]}};
  two_zones.cluster.pools[1].zone = ir::ZoneId(1);
  const auto violation = [&](const ir::Keep& keep, const Draft& draft) {
    DraftProblem of(two_zones, {1, 3}, 0.5, {kMuchMemory, kMuchMemory});
    of.scope.keep = keep;
    return ViolationOf(of, draft);
  };
  const Draft across{.teams = {{.slots = {0, 1}, .counts = {6, 2}, .pipelines = 2}}};
  EXPECT_EQ(violation({.pipeline = ir::Reach::kZone}, across), 2);
  EXPECT_EQ(violation({.pipeline = ir::Reach::kRegion}, across), 0);
  EXPECT_EQ(violation({.pipeline = ir::Reach::kNode}, Halves(Layout::kByPipeline)), 0);
  EXPECT_EQ(violation({.pipeline = ir::Reach::kNode}, Halves(Layout::kByStage)), 2);
  EXPECT_EQ(violation({.data = ir::Reach::kZone}, OneOfEach()), 1);
  EXPECT_EQ(violation({.data = ir::Reach::kZone}, Halves(Layout::kByPipeline)), 0);
  // The first layers of both teams lie in one zone, the last ones do not.
  const Draft partly{.teams = {{.slots = {0}, .counts = {8}}, {.slots = {0, 1}, .counts = {6, 2}, .pipelines = 2}}};
  EXPECT_EQ(violation({.data = ir::Reach::kZone}, partly), 2);
}

// One node of 6 GPUs has room for 6 single GPUs, 3 pairs or 1 group of four.
TEST_F(DraftTest, RoomByDegree) {
  ir::Problem six = test::FakeProblem(8, {{.nodes = 1, .gpus_per_node = 6}}, 8);
  six.job.tensor_degrees = {1, 2, 4};
  DraftProblem of(six, {1}, 0.5, {kMuchMemory});
  const auto room_beside = [&](std::vector<int> slots) {
    const std::vector<int> counts(slots.size(), 8 / static_cast<int>(slots.size()));
    return of.judge.RoomLeft({.teams = {{.slots = std::move(slots), .counts = counts}}});
  };
  EXPECT_THAT(of.judge.RoomLeft({}), ElementsAre(6, 3, 1));
  EXPECT_THAT(room_beside({2}), ElementsAre(2, 1, 0));
  EXPECT_THAT(room_beside({1, 0}), ElementsAre(3, 2, 1));
  EXPECT_THAT(room_beside({2, 2}), ElementsAre(-2, -1, -1));  // too much
  const DraftJudge::Room left = room_beside({0});             // 5 GPUs
  EXPECT_EQ(of.judge.MostThatFit(std::vector<int>{1}, left), 2);
  EXPECT_EQ(of.judge.MostThatFit(std::vector<int>{2}, left), 1);
  EXPECT_EQ(of.judge.MostThatFit(std::vector<int>{1, 0}, left), 1);
  EXPECT_EQ(of.judge.MostThatFit(std::vector<int>{2, 1}, left), 0);
}

// 10 samples in 3 pipelines: one runs 4, two run 3.
TEST_F(DraftTest, MakesPlans) {
  ir::Problem ten = FastAndSlow();
  ten.job.global_batch = 10;
  DraftProblem of(ten, {1, 3}, 0.5, {kMuchMemory, kMuchMemory});
  const std::optional<ir::Plan> plan = of.judge.ToPlan({.teams = {{.slots = {0}, .counts = {8}, .pipelines = 3}}});
  ASSERT_TRUE(plan.has_value());
  ASSERT_EQ(plan->pipelines.size(), 3U);
  EXPECT_EQ(plan->pipelines[0].micro_batches, 4);
  for (const int p : {1, 2}) EXPECT_EQ(plan->pipelines[p].micro_batches, 3);
  EXPECT_EQ(plan->pipelines[2].stages, std::vector<ir::Stage>{test::MakeStage(0, 7, 0, 0, {0})});
}

// Three pools of the same nodes of 8 GPUs: pool 0 with two nodes, pool 1 in another region, pool 2 in the same.
class FoldedDraftTest : public DraftTest {
 protected:
  static ir::Problem ThreePlaces() {
    ir::Problem problem = test::FakeProblem(8, {{2, 8}, {1, 8}, {1, 8}}, 64);
    ir::Cluster& cluster = problem.cluster;
    cluster.regions.push_back("far");
    cluster.zones.push_back({.name = "y", .region = ir::RegionId(1)});
    cluster.zones.push_back({.name = "x", .region = ir::RegionId(0)});
    cluster.links = {3, {3, cluster.links[0][0]}};
    for (int p = 0; p < 3; ++p) {
      cluster.pools[p].zone = ir::ZoneId(p);
      cluster.pools[p].machine = ir::MachineId(0);
    }
    return problem;
  }
};

// 20 pipelines on single GPUs: 16 fit into pool 0, the other 4 go to the nearest image.
TEST_F(FoldedDraftTest, UnfoldsToTheNearestImages) {
  DraftProblem of(ThreePlaces(), {1, 1, 1}, 0.5, {kMuchMemory, kMuchMemory, kMuchMemory});
  const Team team{.slots = {0}, .counts = {8}, .pipelines = 20};
  const Draft unfolded = of.judge.Unfold({.teams = {team}, .is_folded = true});
  EXPECT_FALSE(unfolded.is_folded);
  const Team own{.slots = {0}, .counts = {8}, .pipelines = 16}, near{.slots = {2}, .counts = {8}, .pipelines = 4};
  EXPECT_THAT(unfolded.teams, ElementsAre(own, near));
  EXPECT_THAT(of.judge.FitByPools(team, of.judge.RoomLeft({}), /*is_folded=*/true), ElementsAre(16, 24, 32));
  EXPECT_THAT(of.judge.FitByPools(team, of.judge.RoomLeft({}), /*is_folded=*/false), ElementsAre(16));
  // Beside it 4 GPUs of pool 2 and 8 of pool 1 are free.
  EXPECT_EQ(of.judge.MostThatFit(team, of.judge.RoomLeft({.teams = {team}, .is_folded = true}), true), 12);
}

// What fits nowhere stays on the team's own pool, where it is refused.
TEST_F(FoldedDraftTest, WhatIsTooMuchIsRefused) {
  DraftProblem of(ThreePlaces(), {1, 1, 1}, 0.5, {kMuchMemory, kMuchMemory, kMuchMemory});
  Draft draft{.teams = {{.slots = {0}, .counts = {8}, .pipelines = 33}}, .is_folded = true};
  EXPECT_EQ(of.judge.Unfold(draft).teams.back(), (Team{.slots = {0}, .counts = {8}, .pipelines = 1}));
  EXPECT_FALSE(of.judge.Judge(draft).has_value());
  draft.teams[0].pipelines = 32;  // 2 samples of 8 s each
  const std::optional<Score> score = of.judge.Judge(draft);
  ASSERT_TRUE(score.has_value());
  EXPECT_DOUBLE_EQ(score->seconds, 16);
}

}  // namespace
}  // namespace sail::planner
