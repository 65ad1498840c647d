#include "simulator/pipeline_time.h"

#include <algorithm>

#include "compiler/base/rng.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sail::sim {
namespace {

using ::testing::ElementsAre;

// M micro-batches of f + b = 3 s one after the other: 4 · 3.
TEST(PipelineTime, OneStageIsTheSumOfItsWork) {
  const PipelineTime time = ComputePipelineTime({{.forward = 1, .backward = 2}}, 4);
  EXPECT_THAT(time.backward_end, ElementsAre(12));
  EXPECT_EQ(time.last_stage_start, 0);
}

// Balanced and without communication: (M + P − 1) · t = (5 + 3) · 3 = 24 (Narayanan et al. 2019).
TEST(PipelineTime, BalancedPipelineHasTheClassicBubble) {
  const std::vector<StageSeconds> stages(4, {.forward = 1, .backward = 2});
  const PipelineTime time = ComputePipelineTime(stages, 5);
  EXPECT_EQ(time.backward_end[0], 24);
  EXPECT_EQ(ClassicPipelineTime(stages, 5), Seconds(24));
  EXPECT_EQ(time.last_stage_start, 3);  // three forwards
  EXPECT_EQ(time.last_stage_end, 18);   // 3 + 5 · 3
}

// One micro-batch passes everything once: Σ t + Σ c = 3 + 4 + (0.5 + 0.25).
TEST(PipelineTime, OneMicroBatchIsTheSumOfTheWay) {
  const PipelineTime time = ComputePipelineTime(
      {{.forward = 1, .backward = 2, .send_activation = 0.5, .send_gradient = 0.25}, {.forward = 1, .backward = 3}}, 1);
  EXPECT_EQ(time.backward_end[0], 7.75);
}

// Two stages (2 + 4), transfers 1 + 1, M = 2, by hand:
//   stage 0: F0 0–2, F1 2–4; activations arrive at 3 and 5
//   stage 1: F0 3–5, B0 5–9, F1 9–11, B1 11–15; gradients arrive at 10 and 16
//   stage 0: B0 10–14, B1 16–20
// The classic form charges a transfer to every period: 12 + 2 + 1 · (6 + 2) = 22.
TEST(PipelineTime, TransfersHideBehindTheMicroBatchInFlight) {
  const std::vector<StageSeconds> stages = {{.forward = 2, .backward = 4, .send_activation = 1, .send_gradient = 1},
                                            {.forward = 2, .backward = 4}};
  const PipelineTime time = ComputePipelineTime(stages, 2);
  EXPECT_THAT(time.backward_end, ElementsAre(20, 15));
  EXPECT_EQ(time.last_stage_start, 3);
  EXPECT_EQ(time.last_stage_end, 15);
  EXPECT_EQ(ClassicPipelineTime(stages, 2), Seconds(22));
}

// A slow first stage (3 + 6) before a fast one (1 + 2), M = 3:
//   stage 0: F0 0–3, F1 3–6, B0 6–12 (its gradient came at 6: F0 3–4, B0 4–6 on stage 1), F2 12–15, B1 15–21, B2 21–27
// It never waits: M · t_0 = 27. The classic form adds the way through stage 1: 12 + 2 · 9 = 30.
TEST(PipelineTime, SlowFirstStageHidesTheOthers) {
  const std::vector<StageSeconds> stages = {{.forward = 3, .backward = 6}, {.forward = 1, .backward = 2}};
  EXPECT_EQ(ComputePipelineTime(stages, 3).backward_end[0], 27);
  EXPECT_EQ(ClassicPipelineTime(stages, 3), Seconds(30));
}

// A slow last stage starts after one forward, works M · t = 27 s, and the first stage ends with one backward: 1 + 27
// + 2.
TEST(PipelineTime, SlowLastStageMatchesTheClassicForm) {
  const std::vector<StageSeconds> stages = {{.forward = 1, .backward = 2}, {.forward = 3, .backward = 6}};
  EXPECT_EQ(ComputePipelineTime(stages, 3).backward_end[0], 30);
  EXPECT_EQ(ClassicPipelineTime(stages, 3), Seconds(30));
}

// Stages whose transfers dominate, M large: two micro-batches share one round trip f + c + t + b = 3 + 10 + 3 = 16, so
// the period is 8, not max(t + c) = 13. By hand for M = 4: stage 1 runs F0 6–7, B0 7–9, F1 9–10 (its activation came at
// 7), B1 10–12; gradients reach stage 0 at 14 and 17; B0 14–16, F2 16–17, B1 17–19, F3 19–20; stage 1 F2 22–23, B2
// 23–25, F3 25–26, B3 26–28; gradients at 30 and 33; B2 30–32, B3 33–35.
TEST(PipelineTime, PeriodOfALongRoundTripIsSharedByTheMicroBatchesInFlight) {
  const std::vector<StageSeconds> stages = {{.forward = 1, .backward = 2, .send_activation = 5, .send_gradient = 5},
                                            {.forward = 1, .backward = 2}};
  EXPECT_EQ(ComputePipelineTime(stages, 4).backward_end[0], 35);
  EXPECT_EQ(ClassicPipelineTime(stages, 4), Seconds(3 + 3 + 10 + 3 * 13));
}

// The events one after the other, none skipped: what the recurrences of the header say.
std::vector<double> BackwardEndsEventByEvent(const std::vector<StageSeconds>& stages, int micro_batches, bool paired) {
  const int depth = static_cast<int>(stages.size());
  std::vector<double> free(depth, 0.0);
  std::vector<double> arrival(depth, 0.0);
  for (int k = 1 - depth; k < micro_batches; ++k) {
    for (int s = depth - 1; s >= 0; --s) {
      const int micro = k + depth - 1 - s;
      if (micro < 0 || micro >= micro_batches) continue;
      free[s] = std::max(free[s], arrival[s]) + stages[s].forward;
      if (s + 1 < depth) arrival[s + 1] = free[s] + stages[s].send_activation;
    }
    double gradient = 0;
    for (int s = depth - 1; s >= 0 && k >= 0; --s) {
      const double start = std::max(free[s], gradient);
      if (paired && s + 1 < depth && k + depth - 1 - s < micro_batches) {
        arrival[s + 1] = start + stages[s].send_activation;
      }
      free[s] = start + stages[s].backward;
      if (s > 0) gradient = free[s] + stages[s - 1].send_gradient;
    }
  }
  return free;
}

// Of about 1 s forward and 2 s backward.
std::vector<StageSeconds> RandomStages(Rng& rng, int depth, double spread, double sends) {
  std::vector<StageSeconds> stages;
  for (int s = 0; s < depth; ++s) {
    stages.push_back({.forward = 1 + spread * rng.Uniform(), .backward = 2 + spread * rng.Uniform()});
    if (s + 1 == depth) break;
    stages.back().send_activation = sends * rng.Uniform();
    stages.back().send_gradient = sends * rng.Uniform();
  }
  return stages;
}

// Balanced stages, one slow stage, long round trips, and stages that differ by a thousandth, whose rounds take long to
// become periodic.
TEST(PipelineTime, SkippingPeriodsChangesNothing) {
  Rng rng(11);
  for (int round = 0; round < 1000; ++round) {
    SCOPED_TRACE(round);
    const int depth = 1 + static_cast<int>(rng.Below(9));
    const double spread = std::vector<double>{0, 1e-3, 0.1, 1}[rng.Below(4)];
    const double sends = std::vector<double>{0, 0.1, 3}[rng.Below(3)];
    const std::vector<StageSeconds> stages = RandomStages(rng, depth, spread, sends);
    const bool paired = rng.Below(2) == 0;
    const int micro_batches = 1 + static_cast<int>(rng.Below(600));
    const std::vector<double> expected = BackwardEndsEventByEvent(stages, micro_batches, paired);
    const PipelineTime time = ComputePipelineTime(stages, micro_batches, paired);
    ASSERT_EQ(time.backward_end.size(), expected.size());
    for (int s = 0; s < depth; ++s) EXPECT_NEAR(time.backward_end[s], expected[s], 1e-11 * expected[s]);
    EXPECT_EQ(time.last_stage_end, time.backward_end.back());
  }
}

// Bounds by hand are those of the examples above that have no transfers; with transfers, and for every stage, they are
// never above the exact ends, and mostly close to them.
TEST(PipelineTime, BoundsAreNeverAboveTheEnds) {
  PipelineTime bound;
  BoundPipelineTime(std::vector<StageSeconds>(4, {.forward = 1, .backward = 2}), 5, bound);
  EXPECT_EQ(bound.backward_end[0], 24);
  BoundPipelineTime(std::vector<StageSeconds>{{.forward = 3, .backward = 6}, {.forward = 1, .backward = 2}}, 3, bound);
  EXPECT_EQ(bound.backward_end[0], 27);
  Rng rng(13);
  double shares = 0;
  constexpr int kRounds = 2000;
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE(round);
    const int depth = 1 + static_cast<int>(rng.Below(9));
    const double spread = std::vector<double>{0, 0.1, 3}[rng.Below(3)];
    const double sends = std::vector<double>{0, 0.1, 3}[rng.Below(3)];
    const std::vector<StageSeconds> stages = RandomStages(rng, depth, spread, sends);
    const int micro_batches = 1 + static_cast<int>(rng.Below(40));
    const PipelineTime exact = ComputePipelineTime(stages, micro_batches, /*paired_sends=*/rng.Below(2) == 0);
    BoundPipelineTime(stages, micro_batches, bound);
    ASSERT_EQ(bound.backward_end.size(), exact.backward_end.size());
    for (int s = 0; s < depth; ++s) EXPECT_LE(bound.backward_end[s], exact.backward_end[s] * (1 + 1e-9));
    shares += bound.backward_end[0] / exact.backward_end[0];
  }
  EXPECT_GT(shares / kRounds, 0.9);
}

// Bounds that hold for every pipeline: never above the classic form, never below a stage's own work after the shortest
// way to it and before the shortest way back, nor below one micro-batch's way.
TEST(PipelineTime, LiesBetweenItsBounds) {
  Rng rng(7);
  for (int round = 0; round < 2000; ++round) {
    const int depth = 1 + static_cast<int>(rng.Below(8));
    const int micro_batches = 1 + static_cast<int>(rng.Below(20));
    std::vector<StageSeconds> stages;
    for (int s = 0; s < depth; ++s) {
      stages.push_back({.forward = rng.Uniform(), .backward = 2 * rng.Uniform()});
      if (s + 1 < depth) stages.back().send_activation = rng.Uniform() * static_cast<double>(rng.Below(3));
      if (s + 1 < depth) stages.back().send_gradient = rng.Uniform() * static_cast<double>(rng.Below(3));
    }
    const double time = ComputePipelineTime(stages, micro_batches).backward_end[0];
    const double rounding = 1 + 1e-12;
    EXPECT_LE(time, ClassicPipelineTime(stages, micro_batches).value() * rounding) << "round " << round;
    double way = 0;
    double lower = 0;
    for (const StageSeconds& stage : stages) {
      const double work = stage.forward + stage.backward;
      lower = std::max(lower, way + micro_batches * work);
      way += work + stage.send_activation + stage.send_gradient;
    }
    EXPECT_GE(time * rounding, std::max(lower, way)) << "round " << round;
  }
}

}  // namespace
}  // namespace sail::sim
