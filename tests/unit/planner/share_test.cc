#include "planner/share.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "compiler/base/rng.h"

namespace sail::planner {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;

// Speeds 1 and 2 samples a second, 9 samples: 3 and 6 take 3 s each.
TEST(ShareSamples, SharesBySpeed) {
  EXPECT_THAT(ShareSamples({{.micro_batch = 1, .bottleneck = 1, .latency = 1},
                            {.micro_batch = 1, .bottleneck = 0.5, .latency = 0.5}},
                           9),
              Optional(ElementsAre(3, 6)));
}

// A batch of 1000 on 96 GPUs was truncated to 960 elsewhere. Equal pipelines run 10 or 11 micro-batches, 1000 in all.
TEST(ShareSamples, BatchTruncate) {
  const std::vector<PipelineRate> rates(96, {.micro_batch = 1, .bottleneck = 1, .latency = 4});
  const auto counts = ShareSamples(rates, 1000);
  ASSERT_TRUE(counts.has_value());
  EXPECT_EQ(std::accumulate(counts->begin(), counts->end(), 0), 1000);
  for (const int count : *counts) EXPECT_TRUE(count == 10 || count == 11);
}

// 7 = 2 + 2 + 3 is the only way to make 7 of micro-batches of 2 and 3 with at least one each.
TEST(ShareSamples, CombinesUnequalSizesExactly) {
  EXPECT_THAT(
      ShareSamples(
          {{.micro_batch = 2, .bottleneck = 1, .latency = 1}, {.micro_batch = 3, .bottleneck = 1, .latency = 1}}, 7),
      Optional(ElementsAre(2, 1)));
}

TEST(ShareSamples, KnowsWhatCannotBeShared) {
  const PipelineRate twos{.micro_batch = 2, .bottleneck = 1, .latency = 1};
  EXPECT_EQ(ShareSamples({twos}, 7), std::nullopt);        // odd
  EXPECT_EQ(ShareSamples({twos, twos}, 2), std::nullopt);  // one pipeline would idle
  PipelineRate full = twos;
  full.max_micro_batches = 3;
  EXPECT_EQ(ShareSamples({full}, 8), std::nullopt);  // memory
  EXPECT_THAT(ShareSamples({full}, 6), Optional(ElementsAre(3)));
}

// 3 pipelines of one micro-batch a second share 10 samples: one runs 4, two run 3.
TEST(ShareBatch, SplitsATeam) {
  const std::vector<RatedTeam> teams = {{.rate = {.micro_batch = 1, .bottleneck = 1, .latency = 1}, .pipelines = 3}};
  EXPECT_THAT(ShareBatch(teams, 10), Optional(ElementsAre(TeamShare{.team = 0, .pipelines = 1, .micro_batches = 4},
                                                          TeamShare{.team = 0, .pipelines = 2, .micro_batches = 3})));
}

// A team is its pipelines: the same slowest end as for single pipelines, the batch exactly, at least one each.
TEST(ShareBatch, TeamsEqualTheirPipelines) {
  Rng rng(7);
  int shared = 0;
  for (int instance = 0; instance < 2000; ++instance) {
    SCOPED_TRACE(instance);
    std::vector<RatedTeam> teams;
    std::vector<PipelineRate> single;
    const int count = 1 + static_cast<int>(rng.Below(4));
    for (int t = 0; t < count; ++t) {
      PipelineRate rate{.micro_batch = 1 + static_cast<int>(rng.Below(6)),
                        .bottleneck = 0.1 * static_cast<double>(1 + rng.Below(30)),
                        .latency = 0};
      rate.latency = rate.bottleneck * static_cast<double>(1 + rng.Below(5));
      if (rng.Below(4) == 0) rate.max_micro_batches = 1 + static_cast<int>(rng.Below(20));
      teams.push_back({.rate = rate, .pipelines = 1 + static_cast<int>(rng.Below(7))});
      single.insert(single.end(), teams.back().pipelines, rate);
    }
    const auto batch = static_cast<int64_t>(1 + rng.Below(300));
    const auto shares = ShareBatch(teams, batch);
    const auto counts = ShareSamples(single, batch);
    ASSERT_EQ(shares.has_value(), counts.has_value());
    if (!shares) continue;
    ++shared;
    const auto end_of = [](const PipelineRate& rate, int micro_batches) {
      return rate.latency + (micro_batches - 1) * rate.bottleneck;
    };
    int64_t samples = 0;
    double end = 0, single_end = 0;
    std::vector<int> pipelines(teams.size(), 0);
    for (const TeamShare& share : *shares) {
      const PipelineRate& rate = teams[share.team].rate;
      EXPECT_GE(share.micro_batches, 1);
      EXPECT_LE(share.micro_batches, rate.max_micro_batches);
      samples += int64_t{share.pipelines} * share.micro_batches * rate.micro_batch;
      pipelines[share.team] += share.pipelines;
      end = std::max(end, end_of(rate, share.micro_batches));
    }
    for (size_t t = 0; t < teams.size(); ++t) EXPECT_EQ(pipelines[t], teams[t].pipelines);
    for (size_t p = 0; p < single.size(); ++p) single_end = std::max(single_end, end_of(single[p], (*counts)[p]));
    EXPECT_EQ(samples, batch);
    EXPECT_DOUBLE_EQ(end, single_end);
  }
  EXPECT_GE(shared, 1000);
}

// No other counts end earlier: all of them are tried.
TEST(ShareBatch, EndsAsEarlyAsPossible) {
  Rng rng(11);
  for (int instance = 0; instance < 300; ++instance) {
    SCOPED_TRACE(instance);
    std::vector<RatedTeam> teams;
    for (int t = 0; t < 2; ++t) {
      const double bottleneck = 0.1 * static_cast<double>(1 + rng.Below(20));
      teams.push_back({.rate = {.micro_batch = 1 + static_cast<int>(rng.Below(3)),
                                .bottleneck = bottleneck,
                                .latency = bottleneck * static_cast<double>(1 + rng.Below(3))}});
    }
    const auto batch = static_cast<int64_t>(2 + rng.Below(20));
    const PipelineRate &a = teams[0].rate, &b = teams[1].rate;
    double best = -1;
    for (int m = 1; m * a.micro_batch < batch; ++m) {
      const int64_t rest = batch - int64_t{m} * a.micro_batch;
      if (rest % b.micro_batch != 0) continue;
      const double end = std::max(a.latency + (m - 1) * a.bottleneck,
                                  b.latency + (static_cast<double>(rest) / b.micro_batch - 1) * b.bottleneck);
      if (best < 0 || end < best) best = end;
    }
    const auto shares = ShareBatch(teams, batch);
    ASSERT_EQ(shares.has_value(), best >= 0);
    if (!shares) continue;
    double end = 0;
    for (const TeamShare& share : *shares) {
      const PipelineRate& rate = teams[share.team].rate;
      end = std::max(end, rate.latency + (share.micro_batches - 1) * rate.bottleneck);
    }
    EXPECT_NEAR(end, best, 1e-6 * best);
  }
}

}  // namespace
}  // namespace sail::planner
