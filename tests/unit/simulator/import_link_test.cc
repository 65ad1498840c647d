#include "simulator/import_link.h"

#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "simulator/link_curve.h"

namespace sail::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const LinkEnd kHere{.gpu = "a", .zone = "x", .gpus = 2};
const LinkEnd kThere{.gpu = "b", .zone = "y", .gpus = 1};

absl::StatusOr<ImportedProfile> Imported(const LinkCurve& curve) {
  PublicNetwork network;
  network.SetBetween(kHere, kThere, curve);
  return ImportLink(network, kHere, kThere);
}

ir::LinkCurve Sends(const ImportedProfile& profile) {
  ir::Link link;
  const absl::Status status = AddLinkCurves(profile.text, "link", link);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_TRUE(link.all_reduces.empty());
  return link.sends;
}

// A constant 1 GB/s: bytes / 1e9 seconds, at 15 sizes from 2^16 to 2^30.
TEST(ImportLink, AGoodFitIsWhatItIs) {
  const auto profile = Imported({.c0 = 1, .largest = BytesPerSecond(2e9)});
  ASSERT_TRUE(profile.ok()) << profile.status();
  const ir::LinkCurve sends = Sends(*profile);
  ASSERT_EQ(sends.size(), 15);
  for (int i = 0; i < 15; ++i) {
    EXPECT_EQ(sends[i].bytes, std::ldexp(1.0, 16 + i));
    EXPECT_DOUBLE_EQ(sends[i].seconds.value(), std::ldexp(1.0, 16 + i) / 1e9);
  }
  EXPECT_THAT(profile->notes, ElementsAre(HasSubstr("bandwidth = 8.00 Gbps (off by 0 % at most)"),
                                          HasSubstr("of 2 GPUs together; all-reduces were not measured")));
}

// x + 0.5 GB/s with x = log2(bytes / 1e6) is negative up to 2^19 bytes; 2^20 bytes would take 1.84 ms, 2^21 bytes take
// 1.34 ms. It passes the largest rate, 5 GB/s, at 22.6 MB, before 2^25.
TEST(ImportLink, ClampsWhatNoLinkDoesAndSaysWhere) {
  const auto profile = Imported({.c1 = 1, .c0 = 0.5, .largest = BytesPerSecond(5e9)});
  ASSERT_TRUE(profile.ok()) << profile.status();
  const ir::LinkCurve sends = Sends(*profile);
  ASSERT_EQ(sends.size(), 15);
  const double two_mib = 2.097152e-3 / (std::log2(2.097152) + 0.5);
  for (int i = 0; i <= 5; ++i) EXPECT_DOUBLE_EQ(sends[i].seconds.value(), two_mib) << i;
  EXPECT_DOUBLE_EQ(sends[8].seconds.value(), 16.777216e-3 / (std::log2(16.777216) + 0.5));
  for (int i = 9; i < 15; ++i) EXPECT_DOUBLE_EQ(sends[i].seconds.value(), std::ldexp(1.0, 16 + i) / 5e9) << i;
  ASSERT_EQ(profile->notes.size(), 4);
  EXPECT_THAT(profile->notes[2], HasSubstr("largest rate that was seen, 40.00 Gbps, at 33554432, 67108864, "));
  EXPECT_THAT(profile->notes[3], HasSubstr("at 65536, 131072, 262144, 524288, 1048576 bytes, where the fit"));
}

// A fit that is nowhere positive says nothing; the largest rate does.
TEST(ImportLink, AFitWithoutAnyRateIsTheLargestRate) {
  const auto profile = Imported({.c0 = -1, .largest = BytesPerSecond(1e9)});
  ASSERT_TRUE(profile.ok()) << profile.status();
  const ir::LinkCurve sends = Sends(*profile);
  for (const ir::LinkPoint& point : sends) EXPECT_DOUBLE_EQ(point.seconds.value(), 1.073741824);
}

TEST(ImportLink, NamesWhatIsMissingOrTooSlow) {
  EXPECT_EQ(ImportLink({}, kHere, kThere).status().message(), "there is no link from x/a/2 to y/b/1");
  const auto slow = Imported({.c0 = 1e-12, .largest = BytesPerSecond(1e-3)});
  EXPECT_THAT(std::string(slow.status().message()), HasSubstr("x/a/2 to y/b/1"));
}

TEST(ParseLinkEnd, TakesZoneGpuAndNumber) {
  const auto end = ParseLinkEnd("us-central1-a/A100-40/4");
  ASSERT_TRUE(end.ok());
  EXPECT_EQ(*end, (LinkEnd{.gpu = "A100-40", .zone = "us-central1-a", .gpus = 4}));
  for (const char* text : {"", "a/b", "a/b/0", "a/b/x", "/b/1", "a//1", "a/b/1/2"}) {
    EXPECT_THAT(std::string(ParseLinkEnd(text).status().message()), HasSubstr("ZONE/GPU/GPUS")) << text;
  }
}

}  // namespace
}  // namespace sail::sim
