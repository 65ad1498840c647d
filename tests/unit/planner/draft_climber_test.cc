#include "planner/draft_climber.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/base/check.h"
#include "tests/unit/planner/draft_problem.h"

namespace sail::planner {
namespace {

using ::testing::ElementsAre;

constexpr int64_t kMuchMemory = 1000;  // bytes

// 8 layers, batch 8, pipelines of one depth.
ir::Problem OfDepth(int depth, const std::vector<test::FakePool>& pools) {
  ir::Problem problem = test::FakeProblem(8, pools, 8);
  problem.job.pipeline_depths = {depth};
  return problem;
}

class DraftClimberTest : public ::testing::Test {
 protected:
  static ScoredDraft Climb(DraftProblem& of, const Draft& start, const std::vector<PipelineShape>& shapes = {}) {
    const std::optional<Score> score = of.judge.Judge(start);
    SAIL_CHECK(score.has_value());
    return DraftClimber(shapes, of.judge).Climb({.draft = start, .score = *score});
  }
  static Draft OnOneGpu(int slot) { return {.teams = {{.slots = {slot}, .counts = {8}}}}; }
};

// Two stages of 4 s, one of them with a crossing of 0.5 s: 8.5 s and 7 times 4.5 s.
TEST_F(DraftClimberTest, MovesBoundaries) {
  DraftProblem of(OfDepth(2, {{.nodes = 2}}), {1}, 0.5, {kMuchMemory});
  const ScoredDraft best = Climb(of, {.teams = {{.slots = {0, 0}, .counts = {1, 7}}}});
  ASSERT_EQ(best.draft.teams.size(), 1U);
  EXPECT_THAT(best.draft.teams[0].counts, ElementsAre(4, 4));
  EXPECT_DOUBLE_EQ(best.score.seconds, 8.5 + 7 * 4.5);
}

// A crossing takes 4 s. With one sample stages of 2 and 6 layers are best, 12 s and 7 times 6 s; with two samples that
// cut takes 20 s and 3 times 12 s, but 3 and 5 layers 20 s and 3 times 10 s.
TEST_F(DraftClimberTest, ChangesMicroBatchesWithANewCut) {
  ir::Problem problem = OfDepth(2, {{.nodes = 2}});
  problem.job.micro_batches = {1, 2};
  DraftProblem of(problem, {1}, 4, {kMuchMemory});
  const ScoredDraft best = Climb(of, {.teams = {{.slots = {0, 0}, .counts = {2, 6}}}});
  EXPECT_EQ(best.draft.teams[0].micro, 1);
  EXPECT_THAT(best.draft.teams[0].counts, ElementsAre(3, 5));
  EXPECT_DOUBLE_EQ(best.score.seconds, 20 + 3 * 10);
}

// Four pipelines of 8 s run two samples each.
TEST_F(DraftClimberTest, FillsFreeGpus) {
  DraftProblem of(OfDepth(1, {{.nodes = 4}}), {1}, 0.5, {kMuchMemory});
  const ScoredDraft best = Climb(of, OnOneGpu(0));
  EXPECT_EQ(best.draft.teams[0].pipelines, 4);
  EXPECT_DOUBLE_EQ(best.score.seconds, 16);
}

// The slow team takes 800 s for its only sample, the fast one 64 s for all.
TEST_F(DraftClimberTest, DropsATeamThatHoldsUpTheRest) {
  DraftProblem of(OfDepth(1, {{.nodes = 1}, {.nodes = 1}}), {1, 100}, 0.5, {kMuchMemory, kMuchMemory});
  const Draft both{.teams = {{.slots = {1}, .counts = {8}}, {.slots = {0}, .counts = {8}}}};
  const ScoredDraft best = Climb(of, both);
  EXPECT_EQ(best.draft, OnOneGpu(0));
  EXPECT_DOUBLE_EQ(best.score.seconds, 64);
}

// On the slow GPU 8 samples of 24 s, on the fast one of 8 s; on both 6 and 2 samples, which only another shape can say.
TEST_F(DraftClimberTest, ChangesSlotsAndAddsShapes) {
  const ir::Problem problem = OfDepth(1, {{.nodes = 1}, {.nodes = 1}});
  DraftProblem alone(problem, {1, 3}, 0.5, {kMuchMemory, kMuchMemory});
  EXPECT_DOUBLE_EQ(Climb(alone, OnOneGpu(1)).score.seconds, 64);
  DraftProblem of(problem, {1, 3}, 0.5, {kMuchMemory, kMuchMemory});
  const ScoredDraft best = Climb(of, OnOneGpu(1), GenerateShapes(of.table, of.scope.quotas));
  EXPECT_EQ(best.draft.teams.size(), 2U);
  EXPECT_DOUBLE_EQ(best.score.seconds, 48);
}

// Neighbours on one node save the crossing: 8 s and 3 times 4 s.
TEST_F(DraftClimberTest, ChangesTheLayout) {
  DraftProblem of(OfDepth(2, {{.nodes = 2, .gpus_per_node = 2}}), {1}, 0.5, {kMuchMemory});
  const ScoredDraft best =
      Climb(of, {.layout = Layout::kByStage, .teams = {{.slots = {0, 0}, .counts = {4, 4}, .pipelines = 2}}});
  EXPECT_EQ(best.draft.layout, Layout::kByPipeline);
  EXPECT_DOUBLE_EQ(best.score.seconds, 20);
}

// One GPU is as many nodes as the limit allows, however slow that is.
TEST_F(DraftClimberTest, KeepsLimitsFirst) {
  DraftProblem of(OfDepth(1, {{.nodes = 4}}), {1}, 0.5, {kMuchMemory});
  of.scope.constraints = {{.name = "nodes", .metric = ir::Metric::kNodes, .at_most = true, .limit = 1}};
  Draft all = OnOneGpu(0);
  all.teams[0].pipelines = 4;
  const ScoredDraft best = Climb(of, all);
  EXPECT_EQ(best.score.violation, 0);
  EXPECT_EQ(best.draft, OnOneGpu(0));
}

// The first of the moves that fill the GPUs is judged, then nothing more.
TEST_F(DraftClimberTest, StopsWhereTheBudgetEnds) {
  DraftProblem of(OfDepth(2, {{.nodes = 8}}), {1}, 0.5, {kMuchMemory}, MemoryRule::kEnforced, /*work=*/2);
  const ScoredDraft best = Climb(of, {.teams = {{.slots = {0, 0}, .counts = {1, 7}}}});
  EXPECT_EQ(of.judge.candidates(), 2);
  EXPECT_THAT(best.draft.teams, ElementsAre(Team{.slots = {0, 0}, .counts = {1, 7}, .pipelines = 4}));
}

}  // namespace
}  // namespace sail::planner
