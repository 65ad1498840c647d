#include "planner/pipeline_shapes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/planner/fake_cost_model.h"

namespace sail::planner {
namespace {

using test::FakeCostModel;
using test::FakeProblem;

constexpr int64_t kPlenty = 1'000'000;

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

// Of shapes with the same GPUs, micro-batch and tensor degree none beats one that comes after it.
TEST(GenerateShapes, LeavesOutWhatIsBeaten) {
  ir::Problem problem = FakeProblem(8, {{.nodes = 9, .gpus_per_node = 2}, {.nodes = 9, .gpus_per_node = 2}}, 8);
  problem.job.tensor_degrees = {1, 2};
  problem.job.micro_batches = {1, 2};
  problem.job.pipeline_depths = {1, 2, 3, 4, 5};
  const FakeCostModel costs(problem, {1, 2}, {9, 30}, 0.3);
  const StageTable table(problem, costs, {9, 9}, MemoryRule::kEnforced);
  const std::vector<PipelineShape> shapes = GenerateShapes(table, {9, 9});
  EXPECT_GT(shapes.size(), 50u);
  int pairs = 0;
  for (size_t i = 0; i < shapes.size(); ++i) {
    for (size_t j = i + 1; j < shapes.size(); ++j) {
      const PipelineShape &a = shapes[i], &b = shapes[j];
      if (a.micro != b.micro || a.gpus != b.gpus || a.least_degree != b.least_degree) continue;
      ++pairs;
      EXPECT_TRUE(b.rate.bottleneck < a.rate.bottleneck || b.rate.latency < a.rate.latency ||
                  b.layers_per_gpu < a.layers_per_gpu || b.rate.max_micro_batches > a.rate.max_micro_batches);
    }
  }
  EXPECT_GT(pairs, 10);
}

}  // namespace
}  // namespace sail::planner
