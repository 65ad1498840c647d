#include "planner/chain_cut.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/base/rng.h"
#include "tests/unit/planner/fake_cost_model.h"

namespace sail::planner {
namespace {

using test::FakeCostModel;
using test::FakeProblem;
using ::testing::ElementsAre;
using ::testing::Optional;

constexpr int64_t kPlenty = 1'000'000;

// The chains below are lists of slots; with one tensor degree slot p is pool p.
TEST(CutChain, GivesEqualGpusEqualShares) {
  const ir::Problem problem = FakeProblem(8, {{.nodes = 4}}, 8);
  const FakeCostModel costs(problem, {1}, {kPlenty}, 0);
  const StageTable table(problem, costs, {4}, MemoryRule::kEnforced);
  EXPECT_THAT(CutChain(table, 0, {0, 0, 0, 0}, {0, 0, 0, 0}, 4), Optional(ElementsAre(2, 2, 2, 2)));
}

// Thirty layers over four stages once became 7 + 7 + 7 + 7 = 28 elsewhere. The least bottleneck is 8: 4 · 7 < 30.
TEST(CutChain, LayersDropped) {
  const ir::Problem problem = FakeProblem(30, {{.nodes = 4}}, 8);
  const FakeCostModel costs(problem, {1}, {kPlenty}, 0);
  const StageTable table(problem, costs, {4}, MemoryRule::kEnforced);
  EXPECT_THAT(CutChain(table, 0, {0, 0, 0, 0}, {0, 0, 0, 0}, 4), Optional(ElementsAre(8, 8, 7, 7)));
}

// A layer takes 1 s on pool 0 and 3 s on pool 1: with n layers on the slow one the bottleneck is max(8 − n, 3n), least
// for n = 2. Cutting by count would give 4 + 4 and 12 s.
TEST(CutChain, CutsByTimeNotByCount) {
  const ir::Problem problem = FakeProblem(8, {{}, {}}, 8);
  const FakeCostModel costs(problem, {1, 3}, {kPlenty, kPlenty}, 0);
  const StageTable table(problem, costs, {1, 1}, MemoryRule::kEnforced);
  EXPECT_THAT(CutChain(table, 0, {0, 1}, {0, 0}, 2), Optional(ElementsAre(6, 2)));
}

// Two stages of 8 layers, memory 9 bytes a GPU. Stage 0 keeps two micro-batches: 3 bytes a layer, 3 layers fit; stage 1
// keeps one: 2 bytes a layer, 4 fit. Together 7 of 8: nothing. With one in flight both hold 4.
TEST(CutChain, EarlierStagesStashMore) {
  const ir::Problem problem = FakeProblem(8, {{.nodes = 2}}, 8);
  const FakeCostModel costs(problem, {1}, {9}, 0);
  const StageTable table(problem, costs, {2}, MemoryRule::kEnforced);
  EXPECT_EQ(CutChain(table, 0, {0, 0}, {0, 0}, /*max_in_flight=*/2), std::nullopt);
  EXPECT_THAT(CutChain(table, 0, {0, 0}, {0, 0}, /*max_in_flight=*/1), Optional(ElementsAre(4, 4)));
  EXPECT_EQ(MaxMicroBatches(table, 0, {0, 0}, {4, 4}), 1);
  EXPECT_EQ(MaxMicroBatches(table, 0, {0, 0}, {3, 4}), kUnlimitedMicroBatches);
}

// The crossing of 2 s after stage 0 counts for its period: 3 + 2 and 5 layers are level at 5 s.
TEST(CutChain, CountsTheBoundary) {
  const ir::Problem problem = FakeProblem(8, {{.nodes = 2}}, 8);
  const FakeCostModel costs(problem, {1}, {kPlenty}, 2);
  const StageTable table(problem, costs, {2}, MemoryRule::kEnforced);
  EXPECT_THAT(CutChain(table, 0, {0, 0}, {2, 0}, 2), Optional(ElementsAre(3, 5)));
}

TEST(PipelineRate, CountsMicroBatchesWithinATime) {
  // First micro-batch after 10 s, then one every 3 s.
  const PipelineRate rate{.micro_batch = 1, .bottleneck = 3, .latency = 10};
  EXPECT_EQ(rate.MicroBatchesWithin(9.9), 0);
  EXPECT_EQ(rate.MicroBatchesWithin(10), 1);
  EXPECT_EQ(rate.MicroBatchesWithin(12.9), 1);
  EXPECT_EQ(rate.MicroBatchesWithin(16), 3);
}

// A chain and what it can hold, and the least bottleneck of all ways to cut it from `stage` on; negative if none fits.
struct Instance {
  const StageTable& table;
  std::vector<int> chain;
  std::vector<double> crossing;
  int max_in_flight = 1;

  double LeastBottleneck(int stage, int left) const {
    const int depth = static_cast<int>(chain.size());
    const StageTable::Row& row = table.row(chain[stage], 0, EndsOfStage(stage, depth));
    const int fits = row.fits[std::min(max_in_flight, depth - stage)];
    double least = -1;
    for (int count = 1; count <= std::min(fits, left - (depth - 1 - stage)); ++count) {
      if (stage + 1 == depth && count != left) continue;
      const double rest = stage + 1 == depth ? 0 : LeastBottleneck(stage + 1, left - count);
      if (rest < 0) continue;
      const double bottleneck = std::max(rest, row.time[count] + crossing[stage]);
      if (least < 0 || bottleneck < least) least = bottleneck;
    }
    return least;
  }
};

TEST(CutChain, HasTheLeastBottleneckOfAllCuts) {
  Rng rng(3);
  int cuts = 0, failures = 0;
  for (int round = 0; round < 400; ++round) {
    SCOPED_TRACE(round);
    const int layers = 5 + static_cast<int>(rng.Below(5));
    const ir::Problem problem = FakeProblem(layers, {{.nodes = 9}, {.nodes = 9}}, 8);
    const FakeCostModel costs(problem, {1 + rng.Uniform(), 1 + rng.Uniform()},
                              {4 + static_cast<int64_t>(rng.Below(20)), 4 + static_cast<int64_t>(rng.Below(20))}, 0);
    const StageTable table(problem, costs, {9, 9}, MemoryRule::kEnforced);
    const int depth = 2 + static_cast<int>(rng.Below(3));
    Instance instance{.table = table, .chain = {}, .crossing = {}, .max_in_flight = 1 + static_cast<int>(rng.Below(4))};
    for (int s = 0; s < depth; ++s) {
      instance.chain.push_back(static_cast<int>(rng.Below(2)));
      instance.crossing.push_back(s + 1 < depth && rng.Below(2) == 0 ? rng.Uniform() : 0);
    }
    const auto counts = CutChain(table, 0, instance.chain, instance.crossing, instance.max_in_flight);
    const double least = instance.LeastBottleneck(0, layers);
    ASSERT_EQ(counts.has_value(), least >= 0);
    if (!counts) {
      ++failures;
      continue;
    }
    ++cuts;
    int sum = 0;
    double bottleneck = 0;
    for (int s = 0; s < depth; ++s) {
      const StageTable::Row& row = table.row(instance.chain[s], 0, EndsOfStage(s, depth));
      EXPECT_LE((*counts)[s], row.fits[std::min(instance.max_in_flight, depth - s)]);
      bottleneck = std::max(bottleneck, row.time[(*counts)[s]] + instance.crossing[s]);
      sum += (*counts)[s];
    }
    EXPECT_EQ(sum, layers);
    EXPECT_EQ(bottleneck, least);
  }
  EXPECT_GT(cuts, 100);
  EXPECT_GT(failures, 20);
}

}  // namespace
}  // namespace sail::planner
