#include "planner/mix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/base/rng.h"
#include "planner/packing_lp.h"

namespace sail::planner {
namespace {

using ::testing::UnorderedElementsAre;

// max 3x + 5y with x <= 4, 2y <= 12, 3x + 2y <= 18 (the textbook example of Dantzig's method): x = 2, y = 6, value 36;
// prices 0, 3/2 and 1.
TEST(PackingLp, SolvesATextbookExample) {
  const PackingSolution solution = Solve({.capacity = {4, 12, 18}, .use = {1, 0, 3, /**/ 0, 2, 2}, .value = {3, 5}});
  EXPECT_DOUBLE_EQ(solution.value, 36);
  ASSERT_EQ(solution.columns.size(), 2U);
  EXPECT_DOUBLE_EQ(solution.columns[0].second, 2);
  EXPECT_DOUBLE_EQ(solution.columns[1].second, 6);
  EXPECT_DOUBLE_EQ(solution.prices[0], 0);
  EXPECT_DOUBLE_EQ(solution.prices[1], 1.5);
  EXPECT_DOUBLE_EQ(solution.prices[2], 1);
}

// Weak duality certifies any answer: prices >= 0, no column worth more than its price, and capacity · prices = value.
TEST(PackingLp, IsOptimalOnRandomInstances) {
  Rng rng(1);
  for (int instance = 0; instance < 500; ++instance) {
    const int rows = 1 + static_cast<int>(rng.Below(5)), columns = 1 + static_cast<int>(rng.Below(40));
    PackingLp lp;
    for (int r = 0; r < rows; ++r) lp.capacity.push_back(static_cast<double>(rng.Below(20)));
    for (int j = 0; j < columns; ++j) {
      lp.value.push_back(static_cast<double>(rng.Below(10)));
      for (int r = 0; r < rows; ++r) lp.use.push_back(static_cast<double>(rng.Below(4)));
      lp.use.back() += 1;
    }
    const PackingSolution solution = Solve(lp);
    double bound = 0;
    for (int r = 0; r < rows; ++r) {
      EXPECT_GE(solution.prices[r], -1e-9) << instance;
      bound += solution.prices[r] * lp.capacity[r];
    }
    EXPECT_NEAR(bound, solution.value, 1e-6) << instance;
    for (int j = 0; j < columns; ++j) {
      double price = 0;
      for (int r = 0; r < rows; ++r) price += solution.prices[r] * lp.use[j * rows + r];
      EXPECT_GE(price, lp.value[j] - 1e-6) << instance;
    }
  }
}

PipelineShape Shape(double bottleneck, std::vector<int> gpus) {
  return {.slots = {},
          .counts = {},
          .rate = {.micro_batch = 1, .bottleneck = bottleneck, .latency = bottleneck},
          .gpus = std::move(gpus)};
}

// Pool 0 has 4 GPUs, pool 1 has 2. A pipeline of two GPUs of pool 0 takes 1 s a sample, of one each 0.9 s, of two of
// pool 1 3 s. Both mixed pipelines and one pure make 100 samples in T with 2·T/0.9 + T/1 = 100: T = 31; two pure and
// one slow need T = 42.9.
TEST(FindMix, CombinesPoolsWhereThatIsBest) {
  const std::vector<PipelineShape> shapes = {Shape(1, {2, 0}), Shape(0.9, {1, 1}), Shape(3, {0, 2})};
  const MixProblem problem{.shapes = &shapes, .use = {2, 0, 1, 1, 0, 2}, .rows = 2, .global_batch = 100};
  double seconds = 0;
  EXPECT_THAT(FindMix(problem, {0, 1, 2}, {4, 2}, seconds), UnorderedElementsAre(std::pair(0, 1), std::pair(1, 2)));
}

}  // namespace
}  // namespace sail::planner
