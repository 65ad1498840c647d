#include "simulator/published_model.h"

#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "simulator/import_profile.h"
#include "tests/support/builders.h"
#include "tests/support/public_files.h"

namespace sail::sim {
namespace {

using test::MakeStage;
using ::testing::HasSubstr;

// Seconds of micro-batch 2 at degree 1, forward + backward: embedding 0.01, blocks 0.08, 0.06, 0.06, head 0.18, all
// 0.39; update 0.2. A boundary carries 2 samples · 5 tokens · 64 · 4 = 2560 bytes: 1 s from zone a to zone b at
// 2.56e-6 GB/s, 2 s back.
class PublishedModel : public ::testing::Test {
 protected:
  PublishedModel()
      : model_(*ReadPublicModel(*ParseJson(test::kPublicTimes, "t"), *ParseJson(test::kPublicSizes, "s"), "tiny")) {
    problem_.model = *ShapeOf(model_);
    problem_.cluster = test::TinyCluster();
    problem_.cluster.gpus = {{.name = "fast_8", .memory = Bytes(int64_t{4} << 30)}};
    problem_.cluster.machines[1].gpu = ir::GpuId(0);
    network_.SetBetween({"fast-8", "a", 1}, {"fast-8", "b", 1}, {.c0 = 2.56e-6});
    network_.SetBetween({"fast-8", "b", 1}, {"fast-8", "a", 1}, {.c0 = 1.28e-6});
  }
  ir::Report Evaluate(const ir::Plan& plan) const {
    const auto model = MakePublishedCostModel(problem_, model_, network_);
    return *(*model)->Evaluate(plan);
  }

  PublicModel model_;
  PublicNetwork network_;
  ir::Problem problem_;
};

// 3 · 0.39 + 0.39 + 0.2.
TEST_F(PublishedModel, OneStage) {
  const ir::Plan plan{.pipelines = {{.micro_batch = 2, .micro_batches = 4, .stages = {MakeStage(0, 4, 0, 0, {0})}}}};
  const ir::Report report = Evaluate(plan);
  EXPECT_DOUBLE_EQ(report.iteration.value(), 4 * 0.39 + 0.2);
  EXPECT_EQ(report.nodes, 1);
  EXPECT_TRUE(report.traffic.empty());
}

// t = 0.09, 0.30. The first stage is charged one activation, 1 s; the last two gradients, 4 s:
// 2 · (0.30 + 4) + 5 + 0.39 + 0.2.
TEST_F(PublishedModel, TwoStages) {
  const ir::Plan plan{
      .pipelines = {
          {.micro_batch = 2, .micro_batches = 3, .stages = {MakeStage(0, 1, 0, 0, {0}), MakeStage(2, 4, 1, 0, {0})}}}};
  EXPECT_NEAR(Evaluate(plan).iteration.value(), 2 * 4.3 + 5 + 0.39 + 0.2, 1e-12);
}

// Four stages in zones a b a b: the first is charged its activation twice (2 s), the inner ones one of each, the last
// two gradients (4 s). t = 0.09, 0.06, 0.06, 0.18.
TEST_F(PublishedModel, FourStages) {
  const ir::Plan plan{.pipelines = {{.micro_batch = 2,
                                     .micro_batches = 5,
                                     .stages = {MakeStage(0, 1, 0, 0, {0}), MakeStage(2, 2, 1, 0, {0}),
                                                MakeStage(3, 3, 0, 0, {1}), MakeStage(4, 4, 1, 0, {1})}}}};
  // Stage 1 (b) sends activations and gradients to a: 2 + 2; stage 2 (a) to b: 1 + 1.
  const double slowest = 4.18;  // the last stage
  EXPECT_NEAR(Evaluate(plan).iteration.value(), 4 * slowest + (2 + 4 + 2 + 4) + 0.39 + 0.2, 1e-12);
}

// 4 · (1024 + 3 · 49984 + 832) = 607232 bytes over two owners: 2 · (half of it at 2.56e-6 GB/s). In money's traffic the
// ring is closed: all bytes both ways.
TEST_F(PublishedModel, Synchronisation) {
  const ir::Plan plan{.pipelines = {{.micro_batch = 2, .micro_batches = 2, .stages = {MakeStage(0, 4, 0, 0, {0})}},
                                    {.micro_batch = 2, .micro_batches = 2, .stages = {MakeStage(0, 4, 1, 0, {0})}}}};
  const ir::Report report = Evaluate(plan);
  const double sync = 2 * 303616e-9 / 2.56e-6;
  EXPECT_NEAR(report.iteration.value(), 2 * 0.39 + 0.2 + sync, 1e-9);
  EXPECT_DOUBLE_EQ(report.parts.gradient_sync.value(), sync);
  ASSERT_EQ(report.traffic.size(), 2u);
  EXPECT_EQ(report.traffic[0].bytes, Bytes(607232));
  EXPECT_EQ(report.traffic[1].bytes, Bytes(607232));
}

// A pipeline of one stage beside one of two, M = 3 and 1. Each layer goes with the whole model's stage: one group.
// Times: 3 · 0.39 against (0.09 + 1) + (0.30 + 4), no steady state.
TEST_F(PublishedModel, UnequalPipelines) {
  const ir::Plan plan{
      .pipelines = {
          {.micro_batch = 2, .micro_batches = 3, .stages = {MakeStage(0, 4, 0, 0, {0})}},
          {.micro_batch = 2, .micro_batches = 1, .stages = {MakeStage(0, 1, 0, 0, {1}), MakeStage(2, 4, 1, 0, {0})}}}};
  network_.SetBetween({"fast-8", "a", 1}, {"fast-8", "a", 1}, {.c0 = 1});
  const double sync = 2 * 303616e-9 / 2.56e-6;  // the slower of a–a and a–b
  EXPECT_NEAR(Evaluate(plan).iteration.value(), 5.39 + 0.2 + sync, 1e-9);
}

// 24 · (1024 + 49984) + 4 · 2 samples · (320 + 3225) · 2 in flight + 2e9.
TEST_F(PublishedModel, Memory) {
  const auto model = MakePublishedCostModel(problem_, model_, network_);
  const StageShape stage{.first_layer = 0, .last_layer = 1, .pool = ir::PoolId(0), .tensor = 1, .micro_batch = 2};
  EXPECT_EQ((*model)->StageMemory(stage, 2), Bytes(24 * 51008 + 4 * 2 * 3545 * 2 + 2'000'000'000));
  StageShape pair = stage;
  pair.tensor = 2;
  EXPECT_EQ((*model)->StageMemory(pair, 1), Bytes(24 * (672 + 25184) + 4 * 2 * (320 + 1932) + 3'000'000'000));
  EXPECT_EQ((*model)->MemoryLimit(ir::PoolId(0)), Bytes(int64_t{4} << 30));
  EXPECT_DOUBLE_EQ((*model)->OptimizerTime(stage).value(), 0.2);
  EXPECT_DOUBLE_EQ((*model)->BoundaryTime(ir::PoolId(0), ir::PoolId(1), 1, 1, 2, false).value(), 3);
}

TEST_F(PublishedModel, NotMeasuredFitsNowhere) {
  const auto model = MakePublishedCostModel(problem_, model_, network_);
  const StageShape stage{.first_layer = 0, .last_layer = 1, .pool = ir::PoolId(0), .tensor = 2, .micro_batch = 10};
  EXPECT_TRUE(std::isinf((*model)->StageTime(stage).value()));
  EXPECT_GT((*model)->StageMemory(stage, 1), (*model)->MemoryLimit(ir::PoolId(0)));
  const ir::Plan plan{
      .pipelines = {{.micro_batch = 10, .micro_batches = 1, .stages = {MakeStage(0, 4, 0, 0, {0, 1})}}}};
  EXPECT_THAT(std::string((*model)->Evaluate(plan).status().message()), HasSubstr("fast_8, tensor 2, micro-batch 10"));
  problem_.model.blocks = 4;
  EXPECT_THAT(std::string(MakePublishedCostModel(problem_, model_, network_).status().message()),
              HasSubstr("has 6 layers, the published tiny 5"));
}

}  // namespace
}  // namespace sail::sim
