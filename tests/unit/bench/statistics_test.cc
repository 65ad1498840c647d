#include "tests/bench/accuracy/statistics.h"

#include <cmath>

#include "gtest/gtest.h"

namespace sail::bench {
namespace {

// Errors +10 %, −20 %, 0 %, +50 %: absolute 0, 10, 20, 50.
TEST(Statistics, OfFourErrors) {
  const std::vector<Point> points = {{"a", 11, 10}, {"b", 16, 20}, {"c", 30, 30}, {"d", 60, 40}};
  const Statistics statistics = StatisticsOf(points);
  EXPECT_EQ(statistics.n, 4);
  EXPECT_NEAR(statistics.mean_abs_pct, 20, 1e-9);
  EXPECT_NEAR(statistics.median_abs_pct, 15, 1e-9);
  EXPECT_NEAR(statistics.max_abs_pct, 50, 1e-9);
  EXPECT_NEAR(statistics.bias_pct, 10, 1e-9);
  EXPECT_NEAR(statistics.spearman.value(), 1, 1e-12);
}

// Without ties 1 − 6·Σd²/(n(n²−1)): ranks 1 2 3 4 5 against 2 1 4 3 5, Σd² = 4: 1 − 24/120 = 0.8.
TEST(Statistics, SpearmanWithoutTies) {
  EXPECT_NEAR(Spearman({1, 2, 3, 4, 5}, {20, 10, 40, 30, 50}).value(), 0.8, 1e-12);
  EXPECT_NEAR(Spearman({1, 2, 3}, {3, 2, 1}).value(), -1, 1e-12);
}

// Ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4 around the mean 2.5: Σ xy = 2.25 + 0 + 0 + 2.25 = 4.5, Σ x² = 4.5, Σ y² = 5.
TEST(Statistics, SpearmanWithTies) {
  EXPECT_NEAR(Spearman({1, 7, 7, 9}, {1, 2, 3, 4}).value(), 4.5 / std::sqrt(4.5 * 5), 1e-12);
}

TEST(Statistics, SpearmanOfNothingToOrder) {
  EXPECT_FALSE(Spearman({1}, {1}).has_value());
  EXPECT_FALSE(Spearman({1, 1, 1}, {1, 2, 3}).has_value());
  EXPECT_FALSE(StatisticsOf({{"a", 1, 2}}).spearman.has_value());
}

TEST(Statistics, WorstFirst) {
  const std::vector<Point> worst = Worst({{"a", 11, 10}, {"b", 5, 10}, {"c", 13, 10}}, 2);
  ASSERT_EQ(worst.size(), 2u);
  EXPECT_EQ(worst[0].name, "b");
  EXPECT_EQ(worst[1].name, "c");
}

}  // namespace
}  // namespace sail::bench
