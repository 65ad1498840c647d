#include "compiler/driver/quantity_text.h"

#include <limits>

#include "gtest/gtest.h"

namespace sail::driver {
namespace {

TEST(QuantityTextTest, TimeHasFourDigitsAndAFittingUnit) {
  EXPECT_EQ(SecondsText(Seconds(0)), "0 s");
  EXPECT_EQ(SecondsText(Seconds(0.0000125)), "12.5 us");
  EXPECT_EQ(SecondsText(Seconds(0.1832)), "183.2 ms");
  EXPECT_EQ(SecondsText(Seconds(4.7119)), "4.712 s");
  EXPECT_EQ(SecondsText(Seconds(1e15)), "1000000000000000 s");  // minutes of longer times overflow
  EXPECT_EQ(SecondsText(Seconds(95)), "1 min 35 s");
  EXPECT_EQ(SecondsText(Seconds(7500)), "2 h 5 min");
}

TEST(QuantityTextTest, SizesAreBinary) {
  EXPECT_EQ(BytesText(Bytes(1023)), "1023 B");
  EXPECT_EQ(BytesText(Bytes(1536)), "1.5 KiB");
  EXPECT_EQ(BytesText(Bytes(int64_t{40} << 30)), "40 GiB");
  EXPECT_EQ(BytesText(Bytes(int64_t{3} << 40)), "3 TiB");
}

TEST(QuantityTextTest, MetricsUseTheUnitsOfTheLanguage) {
  EXPECT_EQ(MetricText(ir::Metric::kThroughput, 0.21223), "0.2122 iters/s");
  EXPECT_EQ(MetricText(ir::Metric::kCostRate, 82.44 / 3600), "82.44 USD/h");
  EXPECT_EQ(MetricText(ir::Metric::kEgressPerIter, 21.5e9), "21.5 GB/iter");
  EXPECT_EQ(MetricText(ir::Metric::kPeakMemory, 0.92), "92%");
  EXPECT_EQ(MetricText(ir::Metric::kTokenRate, 45000), "45000 tokens/s");
  EXPECT_EQ(MetricText(ir::Metric::kThroughput, std::numeric_limits<double>::infinity()), "inf iters/s");
}

// 0.21229 read back from "0.2123" would be a limit that the plan behind it misses.
TEST(QuantityTextTest, RoundingKeepsTheLimitReachable) {
  EXPECT_DOUBLE_EQ(RoundLimit(ir::Metric::kThroughput, 0.21229, false), 0.2122);
  EXPECT_DOUBLE_EQ(RoundLimit(ir::Metric::kThroughput, 0.21221, true), 0.2123);
  EXPECT_DOUBLE_EQ(RoundLimit(ir::Metric::kNodes, 3, true), 3);
  EXPECT_DOUBLE_EQ(RoundLimit(ir::Metric::kCostRate, 12.3456 / 3600, true), 12.35 / 3600);
}

// A third has no exact text; the shortest that reads back as the same double has sixteen digits.
TEST(QuantityTextTest, ExactTextReadsBackAsTheSameNumber) {
  EXPECT_EQ(ExactMetricText(ir::Metric::kCostRate, 1234567.0 / 360000000.0), "12.34567 USD/h");
  EXPECT_EQ(ExactMetricText(ir::Metric::kThroughput, 1.0 / 3), "0.3333333333333333 iters/s");
  EXPECT_EQ(ExactMetricText(ir::Metric::kThroughput, 1e9), "1e+09 iters/s");
  EXPECT_EQ(ExactMetricText(ir::Metric::kPeakMemory, 0.92), "92%");
  EXPECT_EQ(ExactMetricText(ir::Metric::kNodes, 1), "1 node");
}

}  // namespace
}  // namespace sail::driver
