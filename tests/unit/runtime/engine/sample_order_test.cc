#include "runtime/engine/sample_order.h"

#include <set>

#include "gtest/gtest.h"
#include "tests/support/builders.h"

namespace sail::rt {
namespace {

TEST(Permute, IsAPermutationForEveryCountAndKey) {
  for (const uint64_t key : {0, 1, 77}) {
    for (int64_t count = 1; count <= 130; ++count) {
      std::set<int64_t> images;
      for (int64_t i = 0; i < count; ++i) {
        const int64_t image = Permute(i, count, key);
        EXPECT_GE(image, 0);
        EXPECT_LT(image, count);
        images.insert(image);
      }
      EXPECT_EQ(static_cast<int64_t>(images.size()), count) << "key " << key;
    }
  }
}

TEST(Permute, ShufflesLargeRanges) {
  // Of a random permutation about one index stays in place, and neighbours are a third of the range apart on average.
  constexpr int64_t kCount = 100'000;
  int fixed = 0;
  double distance = 0;
  for (int64_t i = 0; i + 1 < kCount; ++i) {
    fixed += Permute(i, kCount, 5) == i ? 1 : 0;
    distance += static_cast<double>(std::abs(Permute(i, kCount, 5) - Permute(i + 1, kCount, 5))) / kCount;
  }
  EXPECT_LT(fixed, 10);
  EXPECT_NEAR(distance / kCount, 1.0 / 3, 0.01);
}

TEST(SampleOrder, Seq2049_ASampleNeedsOneMoreTokenThanItsLength) {
  // 2049 tokens are one window of 2048 with its shifted targets, 4096 are one too (the second lacks its last target),
  // 4097 are two.
  EXPECT_EQ(SampleOrder(2049, 2048, 0).windows(), 1);
  EXPECT_EQ(SampleOrder(4096, 2048, 0).windows(), 1);
  EXPECT_EQ(SampleOrder(4097, 2048, 0).windows(), 2);
}

TEST(SampleOrder, EachEpochVisitsEveryWindowOnceInAnotherOrder) {
  const SampleOrder order(101, 10, 3);
  std::vector<std::vector<int64_t>> epochs;
  for (int64_t epoch = 0; epoch < 3; ++epoch) {
    std::vector<int64_t> visited;
    for (int64_t i = 0; i < 10; ++i) visited.push_back(order.FirstToken(epoch * 10 + i));
    std::set<int64_t> distinct(visited.begin(), visited.end());
    EXPECT_EQ(distinct, (std::set<int64_t>{0, 10, 20, 30, 40, 50, 60, 70, 80, 90}));
    epochs.push_back(visited);
  }
  EXPECT_NE(epochs[0], epochs[1]);
  EXPECT_NE(epochs[1], epochs[2]);
}

TEST(SampleOrder, DataRestart_SamplesFromAnyPointOnAreTheSame) {
  // The order is a function of the global sample index: a run resumed at sample 250 needs nothing else.
  const SampleOrder whole(1001, 10, 9);
  const SampleOrder resumed(1001, 10, 9);
  for (int64_t sample = 0; sample < 250; ++sample) whole.FirstToken(sample);
  for (int64_t sample = 250; sample < 400; ++sample) EXPECT_EQ(whole.FirstToken(sample), resumed.FirstToken(sample));
}

TEST(GlobalBatch, BatchTruncate_EverySampleIsInExactlyOneMicroBatch) {
  // 3·2 + 1·5 + 2·1 = 13 samples in three unequal pipelines.
  ir::Plan plan;
  plan.pipelines = {{.micro_batch = 3, .micro_batches = 2, .stages = {}},
                    {.micro_batch = 1, .micro_batches = 5, .stages = {}},
                    {.micro_batch = 2, .micro_batches = 1, .stages = {}}};
  EXPECT_EQ(GlobalBatch(plan), 13);
  std::vector<int> uses(13, 0);
  for (int p = 0; p < 3; ++p) {
    for (int k = 0; k < plan.pipelines[p].micro_batches; ++k) {
      for (int j = 0; j < plan.pipelines[p].micro_batch; ++j) ++uses.at(FirstSample(plan, p, k) + j);
    }
  }
  EXPECT_EQ(uses, std::vector<int>(13, 1));
}

}  // namespace
}  // namespace sail::rt
