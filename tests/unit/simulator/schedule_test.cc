#include "simulator/schedule.h"

#include <algorithm>
#include <map>

#include "compiler/ir/verify_plan.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/builders.h"
#include "tests/support/random_plan.h"

namespace sail::sim {
namespace {

using ::testing::ElementsAre;

std::vector<Bucket> BucketsOf(const ir::Problem& problem, const ir::Plan& plan, const ir::Placement& placement) {
  return GradientBuckets(problem.model, ir::BytesPerElement(problem.job.precision),
                         ir::GradientGroups(problem.model, plan, placement));
}

// "F0" forward of micro-batch 0, "B" backward, "a" and "g" receive, "A" and "G" send activation and gradient.
std::string Text(const std::vector<Instruction>& list) {
  std::string text;
  for (const Instruction& instruction : list) {
    text += "aFAgBGRS"[static_cast<int>(instruction.op)] + std::to_string(instruction.index) + " ";
  }
  return text;
}

TEST(Schedule, OneStageAlternatesForwardAndBackward) {
  ir::Plan plan;
  plan.pipelines = {{.micro_batch = 4, .micro_batches = 2, .stages = {test::MakeStage(0, 5, 0, 0, {0})}}};
  const ir::Placement placement(plan);
  EXPECT_EQ(Text(InstructionsOf(plan, placement, {}, ir::Rank(0))), "F0 B0 F1 B1 S0 ");
}

// Depth 2: the first stage is one forward ahead (w = 1), the last never (w = 0). The tied embedding is reduced by both.
TEST(Schedule, TwoStagesFollowOneForwardOneBackward) {
  const ir::Model model = test::TinyModel();
  ir::Plan plan;
  plan.pipelines = {{.micro_batch = 1,
                     .micro_batches = 3,
                     .stages = {test::MakeStage(0, 2, 0, 0, {0}), test::MakeStage(3, 5, 0, 0, {1})}}};
  const ir::Placement placement(plan);
  const std::vector<Bucket> buckets = GradientBuckets(model, 4, ir::GradientGroups(model, plan, placement));
  EXPECT_EQ(Text(InstructionsOf(plan, placement, buckets, ir::Rank(0))), "F0 A0 F1 A1 g0 B0 F2 A2 g1 B1 g2 B2 R0 S0 ");
  EXPECT_EQ(Text(InstructionsOf(plan, placement, buckets, ir::Rank(1))), "a0 F0 B0 G0 a1 F1 B1 G1 a2 F2 B2 G2 R0 S0 ");
}

// Fewer micro-batches than stages: w = min(M, P − 1 − s) = 2 on the first of four stages.
TEST(Schedule, ShortPipelineRunsAllForwardsFirst) {
  ir::Plan plan;
  plan.pipelines = {{.micro_batch = 1,
                     .micro_batches = 2,
                     .stages = {test::MakeStage(0, 1, 0, 0, {0}), test::MakeStage(2, 2, 0, 0, {1}),
                                test::MakeStage(3, 3, 0, 0, {2}), test::MakeStage(4, 5, 0, 0, {3})}}};
  const ir::Placement placement(plan);
  EXPECT_EQ(Text(InstructionsOf(plan, placement, {}, ir::Rank(0))), "F0 A0 F1 A1 g0 B0 g1 B1 S0 ");
}

// Two pipelines of degrees 1 and 2 (architecture.md): shard k of T = 2 belongs to tensor rank floor(k·t/2). Rank 0 is
// the whole-layer pipeline, ranks 1 and 2 the other's tensor group. All parameters fit into one bucket per owner set:
// set {0, 1} holds shard 0 and everything replicated, set {0, 2} shard 1.
TEST(Schedule, BucketsJoinGroupsWithEqualOwners) {
  const ir::Model model = test::TinyModel();
  ir::Plan plan;
  plan.pipelines = {{.micro_batch = 1, .micro_batches = 1, .stages = {test::MakeStage(0, 5, 0, 0, {0})}},
                    {.micro_batch = 1, .micro_batches = 1, .stages = {test::MakeStage(0, 5, 0, 1, {0, 1})}}};
  const ir::Placement placement(plan);
  const std::vector<Bucket> buckets = GradientBuckets(model, 4, ir::GradientGroups(model, plan, placement));
  ASSERT_EQ(buckets.size(), 2u);
  EXPECT_THAT(buckets[0].owners, ElementsAre(ir::Rank(0), ir::Rank(1)));
  EXPECT_THAT(buckets[1].owners, ElementsAre(ir::Rank(0), ir::Rank(2)));
  // Sharded by two: a block's 3h² + h² + 2hf + 3h + f = 12512 (h = 32, f = 128), the table of 38 rows (37 padded) =
  // 1216. Replicated: block 6h = 192, positions 16h = 512, final norm 2h = 64.
  const int64_t sharded = 4 * 12512 / 2 + 1216 / 2;
  EXPECT_EQ(buckets[1].bytes, Bytes(4 * sharded));
  EXPECT_EQ(buckets[0].bytes, Bytes(4 * (sharded + 4 * 192 + 512 + 64)));
}

// GPT-2 small: a block has 12h² + 13h = 7087872 parameters, 28.4 MB in fp32, more than kBucketBytes: the sharded part
// (7083264 elements) stands alone; the replicated 6h of a block join until nothing larger comes between.
TEST(Schedule, BucketsCloseAtTheirSize) {
  ir::Model model = test::TinyModel();
  model.hidden = model.embedding_width = 768;
  model.heads = 12;
  model.feed_forward = 3072;
  ir::Plan plan;
  plan.pipelines = {{.micro_batch = 1, .micro_batches = 1, .stages = {test::MakeStage(0, 5, 0, 0, {0})}},
                    {.micro_batch = 1, .micro_batches = 1, .stages = {test::MakeStage(0, 5, 0, 0, {1})}}};
  const ir::Placement placement(plan);
  const auto groups = ir::GradientGroups(model, plan, placement);
  const std::vector<Bucket> buckets = GradientBuckets(model, 4, groups);
  Bytes total = Bytes::Zero();
  for (const Bucket& bucket : buckets) {
    total += bucket.bytes;
    EXPECT_TRUE(bucket.bytes.value() <= kBucketBytes || bucket.groups.size() == 1) << bucket.bytes.value();
  }
  EXPECT_EQ(total, Bytes(4 * ir::TotalParameters(model)));
  EXPECT_GE(buckets.size(), 5u);  // four blocks and what is between them
}

TEST(Schedule, SixteenBitGradientsAreHalfAsLarge) {
  const ir::Model model = test::TinyModel();
  const ir::Plan plan = test::TinyPlan();
  const auto groups = ir::GradientGroups(model, plan, ir::Placement(plan));
  const std::vector<Bucket> full = GradientBuckets(model, 4, groups);
  const std::vector<Bucket> half = GradientBuckets(model, 2, groups);
  ASSERT_EQ(full.size(), half.size());
  for (size_t b = 0; b < full.size(); ++b) EXPECT_EQ(full[b].bytes, half[b].bytes * 2);
}

// Properties over random plans: what every schedule must do, whatever the plan.
class ScheduleProperty : public ::testing::TestWithParam<int> {};

TEST_P(ScheduleProperty, EveryMicroBatchOnceInOrderWithinTheStashBound) {
  ir::Problem problem = test::TinyProblem();
  Rng rng(GetParam());
  for (int round = 0; round < 50; ++round) {
    const ir::Plan plan = test::RandomPlan(problem, rng);
    ASSERT_TRUE(ir::VerifyPlanStructure(problem, plan).ok()) << ir::VerifyPlanStructure(problem, plan);
    const ir::Placement placement(plan);
    const std::vector<Bucket> buckets = BucketsOf(problem, plan, placement);
    for (int rank = 0; rank < placement.rank_count(); ++rank) {
      const ir::RankPlace& place = placement.place(ir::Rank(rank));
      const ir::Pipeline& pipeline = plan.pipelines[place.pipeline];
      const int depth = static_cast<int>(pipeline.stages.size());
      int forwards = 0;
      int backwards = 0;
      int peak = 0;
      for (const Instruction& instruction : InstructionsOf(plan, placement, buckets, ir::Rank(rank))) {
        if (instruction.op == Op::kForward) {
          EXPECT_EQ(instruction.index, forwards++);
        }
        if (instruction.op == Op::kBackward) {
          EXPECT_EQ(instruction.index, backwards++);
        }
        EXPECT_LE(backwards, forwards);
        peak = std::max(peak, forwards - backwards);
      }
      EXPECT_EQ(forwards, pipeline.micro_batches);
      EXPECT_EQ(backwards, pipeline.micro_batches);
      EXPECT_EQ(peak, std::min(pipeline.micro_batches, depth - place.stage));  // what the memory model stashes
    }
  }
}

TEST_P(ScheduleProperty, SendsMatchReceivesAndBucketsAreReducedByTheirOwners) {
  ir::Problem problem = test::TinyProblem();
  Rng rng(GetParam() + 1000);
  for (int round = 0; round < 50; ++round) {
    const ir::Plan plan = test::RandomPlan(problem, rng);
    const ir::Placement placement(plan);
    const std::vector<Bucket> buckets = BucketsOf(problem, plan, placement);
    // (pipeline, receiving stage, direction) -> micro-batches in order, from both sides' tensor rank 0.
    std::map<std::tuple<int, int, bool>, std::vector<int>> sent;
    std::map<std::tuple<int, int, bool>, std::vector<int>> received;
    for (int rank = 0; rank < placement.rank_count(); ++rank) {
      const ir::RankPlace& place = placement.place(ir::Rank(rank));
      std::vector<int> reduced;
      for (const auto& [op, index] : InstructionsOf(plan, placement, buckets, ir::Rank(rank))) {
        if (op == Op::kReduce) reduced.push_back(index);
        if (place.tensor_rank != 0) continue;
        if (op == Op::kSendActivation) sent[{place.pipeline, place.stage + 1, true}].push_back(index);
        if (op == Op::kSendGradient) sent[{place.pipeline, place.stage - 1, false}].push_back(index);
        if (op == Op::kReceiveActivation) received[{place.pipeline, place.stage, true}].push_back(index);
        if (op == Op::kReceiveGradient) received[{place.pipeline, place.stage, false}].push_back(index);
      }
      std::vector<int> owned;
      for (size_t b = 0; b < buckets.size(); ++b) {
        const auto& owners = buckets[b].owners;
        if (std::find(owners.begin(), owners.end(), ir::Rank(rank)) != owners.end())
          owned.push_back(static_cast<int>(b));
      }
      EXPECT_EQ(reduced, owned);
    }
    EXPECT_EQ(sent, received);
  }
}

TEST_P(ScheduleProperty, BucketsHoldEverySharedGroupOnce) {
  ir::Problem problem = test::TinyProblem();
  Rng rng(GetParam() + 2000);
  for (int round = 0; round < 50; ++round) {
    const ir::Plan plan = test::RandomPlan(problem, rng);
    const ir::Placement placement(plan);
    const auto groups = ir::GradientGroups(problem.model, plan, placement);
    std::vector<int> seen(groups.size(), 0);
    for (const Bucket& bucket : GradientBuckets(problem.model, ir::BytesPerElement(problem.job.precision), groups)) {
      EXPECT_TRUE(std::is_sorted(bucket.groups.begin(), bucket.groups.end()));
      int64_t elements = 0;
      for (const int g : bucket.groups) {
        ++seen[g];
        elements += GradientElements(problem.model, groups[g]);
        ASSERT_EQ(groups[g].owners.size(), bucket.owners.size());
        for (size_t i = 0; i < bucket.owners.size(); ++i) EXPECT_EQ(groups[g].owners[i].rank, bucket.owners[i]);
      }
      EXPECT_EQ(bucket.bytes, Bytes(4 * elements));
    }
    for (size_t g = 0; g < groups.size(); ++g) EXPECT_EQ(seen[g], groups[g].owners.size() > 1 ? 1 : 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, ScheduleProperty, ::testing::Range(1, 5));

}  // namespace
}  // namespace sail::sim
