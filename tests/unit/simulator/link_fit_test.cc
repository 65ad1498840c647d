#include "simulator/link_fit.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sail::sim {
namespace {

using ::testing::HasSubstr;

// α = 1 ms and β = 1 MB/s: a send of 1000 bytes takes 2 ms, an all-reduce of 1000 bytes 3 ms.
TEST(FitLink, FindsTheLinkThatBothOperationsCameFrom) {
  const auto fit = FitLink({{LinkOp::kSend, 1e3, 2e-3},
                            {LinkOp::kSend, 1e6, 1.001},
                            {LinkOp::kAllReduce, 1e3, 3e-3},
                            {LinkOp::kAllReduce, 1e6, 1.002}});
  ASSERT_TRUE(fit.ok()) << fit.status().ToString();
  EXPECT_NEAR(fit->latency, 1e-3, 1e-9);
  EXPECT_NEAR(fit->bandwidth, 1e6, 1);
  EXPECT_NEAR(fit->worst_error, 0, 1e-6);
}

// A small send fixes the latency. Of two equal sends, 1 s and 3 s, the fitted time x balances the relative errors:
// (x − 1)² + (x/3 − 1)² is least where x − 1 + (x/3 − 1)/3 = 0, that is 10x/9 = 4/3, x = 1.2.
TEST(FitLink, BalancesRelativeErrors) {
  const auto fit = FitLink({{LinkOp::kSend, 1, 1e-3}, {LinkOp::kSend, 1e6, 1}, {LinkOp::kSend, 1e6, 3}});
  ASSERT_TRUE(fit.ok()) << fit.status().ToString();
  EXPECT_NEAR(fit->latency + 1e6 / fit->bandwidth, 1.2, 1e-6);
  EXPECT_NEAR(fit->worst_error, 0.6, 1e-6);  // 1.2 of 3 s
}

// The line through (1000 bytes, 1 s) and (10^6 bytes, 2000 s) meets zero bytes below zero. Without latency the rates
// are b = 1000 and 500 bytes/s, and 1/β = Σ b / Σ b² = 1500 / 1.25e6.
TEST(FitLink, LatencyIsNeverNegative) {
  const auto fit = FitLink({{LinkOp::kSend, 1e3, 1}, {LinkOp::kSend, 1e6, 2000}});
  ASSERT_TRUE(fit.ok()) << fit.status().ToString();
  EXPECT_EQ(fit->latency, 0);
  EXPECT_NEAR(fit->bandwidth, 1.25e6 / 1500, 1e-6);
}

TEST(FitLink, NeedsTwoSizesAndTimesThatGrow) {
  EXPECT_TRUE(absl::IsFailedPrecondition(FitLink({}).status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(FitLink({{LinkOp::kSend, 1e3, 1}, {LinkOp::kSend, 1e3, 2}}).status()));
  const auto falling = FitLink({{LinkOp::kSend, 1e3, 2}, {LinkOp::kSend, 1e6, 1}});
  EXPECT_THAT(std::string(falling.status().message()), HasSubstr("larger transfers did not take longer"));
}

TEST(LinkSample, ReadBackAsPrinted) {
  for (const LinkOp op : {LinkOp::kSend, LinkOp::kAllReduce}) {
    const LinkSample sample{.op = op, .bytes = 4096, .seconds = 0.000125};
    const auto read = ParseLinkSample(PrintLinkSample(sample));
    ASSERT_TRUE(read.ok()) << read.status().ToString();
    EXPECT_EQ(*read, sample);
  }
  for (const char* text :
       {"", "{}", R"({"op":"gather","bytes":1,"seconds":1})", R"({"op":"send","bytes":1,"seconds":0})"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseLinkSample(text).status())) << text;
  }
}

}  // namespace
}  // namespace sail::sim
