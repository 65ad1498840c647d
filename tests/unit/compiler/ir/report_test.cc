#include "compiler/ir/report.h"

#include <cmath>

#include "gtest/gtest.h"

namespace sail::ir {
namespace {

// 2 s and 0.5 USD an iteration of 2000 tokens; 100 iterations. 0.05 USD of the money is egress.
Report SmallReport() {
  Report report;
  report.iteration = Seconds(2);
  report.steps = 100;
  report.tokens_per_second = 1000;
  report.cost_per_iteration = Usd(0.5);
  report.pools = {{.pool = PoolId(0), .nodes = 1, .per_iteration = Usd(0.45)}};
  report.traffic = {{.from = ZoneId(0), .to = ZoneId(1), .bytes = Bytes(300), .egress = Usd(0.03)},
                    {.from = ZoneId(1), .to = ZoneId(0), .bytes = Bytes(200), .egress = Usd(0.02)},
                    {.from = ZoneId(0), .to = ZoneId(0), .bytes = Bytes(900), .egress = Usd(0)}};
  return report;
}

TEST(ReportValue, OfTheWholeJob) {
  EXPECT_DOUBLE_EQ(Value(SmallReport(), Metric::kTotalCost), 50);
  EXPECT_DOUBLE_EQ(Value(SmallReport(), Metric::kJobTime), 200);
}

TEST(ReportValue, TokensForADollar) {
  Report report = SmallReport();
  EXPECT_DOUBLE_EQ(Value(report, Metric::kTokensPerUsd), 4000);
  report.cost_per_iteration = Usd(0);
  EXPECT_TRUE(std::isinf(Value(report, Metric::kTokensPerUsd)));
}

TEST(ReportValue, MoneyForEgress) {
  EXPECT_DOUBLE_EQ(Value(SmallReport(), Metric::kEgressCost), 0.05);
  EXPECT_DOUBLE_EQ(Value(SmallReport(), Metric::kEgressPerIter), 500);
  EXPECT_DOUBLE_EQ(Value(SmallReport(), Metric::kCostRate), 0.225);
}

TEST(ReportValue, GoodputIsThroughputUnlessNodesAreTakenAway) {
  Report report = SmallReport();
  EXPECT_DOUBLE_EQ(Value(report, Metric::kGoodput), 0.5);
  report.spot = SpotForecast{.goodput = 0.8};
  EXPECT_DOUBLE_EQ(Value(report, Metric::kGoodput), 0.4);
  EXPECT_DOUBLE_EQ(Value(report, Metric::kThroughput), 0.5);
}

}  // namespace
}  // namespace sail::ir
