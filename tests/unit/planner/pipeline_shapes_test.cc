#include "planner/pipeline_shapes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/planner/fake_cost_model.h"

namespace sail::planner {
namespace {

using test::FakeCostModel;
using test::FakeProblem;
using ::testing::ElementsAre;
using ::testing::Optional;

constexpr int64_t kPlenty = 1'000'000;

// The chains below are lists of slots; with one tensor degree slot p is pool p.
TEST(CutChain, GivesEqualGpusEqualShares) {
  const ir::Problem problem = FakeProblem(8, {{.nodes = 4}}, 8);
  const FakeCostModel costs(problem, {1}, {kPlenty}, 0);
  const StageTable table(problem, costs, {4}, MemoryRule::kEnforced);
  EXPECT_THAT(CutChain(table, 0, {0, 0, 0, 0}, {0, 0, 0, 0}, 4), Optional(ElementsAre(2, 2, 2, 2)));
}

// Thirty layers over four stages once became 7 + 7 + 7 + 7 = 28 elsewhere. The least bottleneck is 8: 4 · 7 < 30.
TEST(CutChain, LayersDropped) {
  const ir::Problem problem = FakeProblem(30, {{.nodes = 4}}, 8);
  const FakeCostModel costs(problem, {1}, {kPlenty}, 0);
  const StageTable table(problem, costs, {4}, MemoryRule::kEnforced);
  EXPECT_THAT(CutChain(table, 0, {0, 0, 0, 0}, {0, 0, 0, 0}, 4), Optional(ElementsAre(8, 8, 7, 7)));
}

// A layer takes 1 s on pool 0 and 3 s on pool 1: with n layers on the slow one the bottleneck is max(8 − n, 3n), least
// for n = 2. Cutting by count would give 4 + 4 and 12 s.
TEST(CutChain, CutsByTimeNotByCount) {
  const ir::Problem problem = FakeProblem(8, {{}, {}}, 8);
  const FakeCostModel costs(problem, {1, 3}, {kPlenty, kPlenty}, 0);
  const StageTable table(problem, costs, {1, 1}, MemoryRule::kEnforced);
  EXPECT_THAT(CutChain(table, 0, {0, 1}, {0, 0}, 2), Optional(ElementsAre(6, 2)));
}

// Two stages of 8 layers, memory 9 bytes a GPU. Stage 0 keeps two micro-batches: 3 bytes a layer, 3 layers fit; stage 1
// keeps one: 2 bytes a layer, 4 fit. Together 7 of 8: nothing. With one in flight both hold 4.
TEST(CutChain, EarlierStagesStashMore) {
  const ir::Problem problem = FakeProblem(8, {{.nodes = 2}}, 8);
  const FakeCostModel costs(problem, {1}, {9}, 0);
  const StageTable table(problem, costs, {2}, MemoryRule::kEnforced);
  EXPECT_EQ(CutChain(table, 0, {0, 0}, {0, 0}, /*max_in_flight=*/2), std::nullopt);
  EXPECT_THAT(CutChain(table, 0, {0, 0}, {0, 0}, /*max_in_flight=*/1), Optional(ElementsAre(4, 4)));
  EXPECT_EQ(MaxMicroBatches(table, 0, {0, 0}, {4, 4}), 1);
  EXPECT_EQ(MaxMicroBatches(table, 0, {0, 0}, {3, 4}), kUnlimitedMicroBatches);
}

// The crossing of 2 s after stage 0 counts for its period: 3 + 2 and 5 layers are level at 5 s.
TEST(CutChain, CountsTheBoundary) {
  const ir::Problem problem = FakeProblem(8, {{.nodes = 2}}, 8);
  const FakeCostModel costs(problem, {1}, {kPlenty}, 2);
  const StageTable table(problem, costs, {2}, MemoryRule::kEnforced);
  EXPECT_THAT(CutChain(table, 0, {0, 0}, {2, 0}, 2), Optional(ElementsAre(3, 5)));
}

TEST(PipelineRate, CountsMicroBatchesWithinATime) {
  // First micro-batch after 10 s, then one every 3 s.
  const PipelineRate rate{.micro_batch = 1, .bottleneck = 3, .latency = 10};
  EXPECT_EQ(rate.MicroBatchesWithin(9.9), 0);
  EXPECT_EQ(rate.MicroBatchesWithin(10), 1);
  EXPECT_EQ(rate.MicroBatchesWithin(12.9), 1);
  EXPECT_EQ(rate.MicroBatchesWithin(16), 3);
}

TEST(GenerateShapes, RespectsQuotasAndDepths) {
  ir::Problem problem = FakeProblem(6, {{.nodes = 1, .gpus_per_node = 2}, {.nodes = 1}}, 8);
  problem.job.tensor_degrees = {1, 2};
  problem.job.pipeline_depths = {1, 3};
  const FakeCostModel costs(problem, {1, 2}, {kPlenty, kPlenty}, 0);
  const StageTable table(problem, costs, {1, 1}, MemoryRule::kEnforced);
  const std::vector<PipelineShape> shapes = GenerateShapes(table, {1, 1});
  EXPECT_FALSE(shapes.empty());
  for (const PipelineShape& shape : shapes) {
    EXPECT_TRUE(shape.slots.size() == 1 || shape.slots.size() == 3);
    EXPECT_LE(shape.gpus[0], 2);
    EXPECT_LE(shape.gpus[1], 1);
    int layers = 0;
    for (const int count : shape.counts) layers += count;
    EXPECT_EQ(layers, 6);
  }
}

}  // namespace
}  // namespace sail::planner
