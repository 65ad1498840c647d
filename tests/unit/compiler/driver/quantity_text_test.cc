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
  EXPECT_EQ(MetricText(ir::Metric::kThroughput, 0.21229, Round::kDown), "0.2122 iters/s");
  EXPECT_EQ(MetricText(ir::Metric::kThroughput, 0.21221, Round::kUp), "0.2123 iters/s");
  EXPECT_EQ(MetricText(ir::Metric::kNodes, 3, Round::kUp), "3 nodes");
}

}  // namespace
}  // namespace sail::driver
