// What the timeline records of itself, on the problem whose times can be added up in one's head (round_problem.h), and
// what must hold of the recording of any plan.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/ir/placement.h"
#include "gtest/gtest.h"
#include "simulator/network.h"
#include "simulator/simulate.h"
#include "tests/support/builders.h"
#include "tests/support/random_plan.h"
#include "tests/support/round_problem.h"

namespace sail::sim {
namespace {

using test::MakeStage;

char LetterOf(Op op) {
  return op == Op::kForward ? 'F' : op == Op::kBackward ? 'B' : op == Op::kReduce ? 'R' : op == Op::kStep ? 'S' : '?';
}

// "F0 0-2, F1 2-4": what the rank did, in order of the ends.
std::string Spell(const Recording& recording, int rank) {
  std::vector<std::string> words;
  for (const RankSpan& span : recording.ranks) {
    if (span.rank != rank) continue;
    words.push_back(absl::StrCat(std::string(1, LetterOf(span.op)), span.index, " ", span.start, "-", span.end));
  }
  return absl::StrJoin(words, ", ");
}

std::string Spell(const std::vector<TransferSpan>& transfers) {
  std::vector<std::string> words;
  for (const TransferSpan& span : transfers) {
    words.push_back(
        absl::StrCat(span.from, ">", span.to, " ", span.index, ": ", span.bytes, " B ", span.start, "-", span.end));
  }
  return absl::StrJoin(words, ", ");
}

// Two blocks a stage: forward 2 s, backward 4 s, step 1 s, each crossing 1 s (cost_model_test derives the 21 s).
TEST(TimelineRecording, TwoStagesWithTransfers) {
  ir::Plan plan;
  plan.pipelines = {
      {.micro_batch = 1, .micro_batches = 2, .stages = {MakeStage(0, 2, 0, 0, {0}), MakeStage(3, 5, 0, 1, {0})}}};
  Recording recording;
  ASSERT_TRUE(Simulate(test::RoundProblem(), plan, &recording).ok());
  EXPECT_EQ(Spell(recording, 0), "F0 0-2, F1 2-4, B0 10-14, B1 16-20, S0 20-21");
  EXPECT_EQ(Spell(recording, 1), "F0 3-5, B0 5-9, F1 9-11, B1 11-15, S0 15-16");
  EXPECT_EQ(Spell(recording.transfers),
            "0>1 0: 2048 B 2-3, 0>1 1: 2048 B 4-5, 1>0 0: 2048 B 9-10, 1>0 1: 2048 B 15-16");
}

// Inside a node: 130 us and 2048 bytes at 2048 kB/s.
TEST(TimelineRecording, TransfersInsideANodeStayThere) {
  ir::Plan plan;
  plan.pipelines = {
      {.micro_batch = 1, .micro_batches = 1, .stages = {MakeStage(0, 2, 0, 0, {0}), MakeStage(3, 5, 0, 0, {1})}}};
  Recording recording;
  ASSERT_TRUE(Simulate(test::RoundProblem(), plan, &recording).ok());
  ASSERT_EQ(recording.transfers.size(), 2u);
  const TransferSpan& activation = recording.transfers[0];
  EXPECT_EQ(activation.from, 0);
  EXPECT_EQ(activation.to, 0);
  EXPECT_EQ(activation.op, Op::kSendActivation);
  EXPECT_NEAR(activation.end - activation.start, 130e-6 + 1e-3, 1e-12);
}

// The all-reduce of the second pipeline waits for the first, whose two micro-batches take 2 · 12 s; its own take 12 s.
TEST(TimelineRecording, AReductionStartsForEachOwnerWhenItIsReached) {
  ir::Plan plan;
  plan.pipelines = {{.micro_batch = 1, .micro_batches = 2, .stages = {MakeStage(0, 5, 0, 0, {0})}},
                    {.micro_batch = 1, .micro_batches = 1, .stages = {MakeStage(0, 5, 0, 1, {0})}}};
  Recording recording;
  ASSERT_TRUE(Simulate(test::RoundProblem(), plan, &recording).ok());
  std::map<int, RankSpan> first;  // by rank
  for (const RankSpan& span : recording.ranks) {
    if (span.op == Op::kReduce) first.emplace(span.rank, span);
  }
  ASSERT_EQ(first.size(), 2u);
  EXPECT_DOUBLE_EQ(first[0].start, 24);
  EXPECT_DOUBLE_EQ(first[1].start, 12);
  EXPECT_DOUBLE_EQ(first[0].end, first[1].end);
}

class TimelineRecordingProperty : public ::testing::TestWithParam<int> {};

TEST_P(TimelineRecordingProperty, AgreesWithTheReport) {
  Rng rng(GetParam());
  for (int round = 0; round < 50; ++round) {
    SCOPED_TRACE(::testing::Message() << "seed " << GetParam() << ", round " << round);
    ir::Problem problem = test::TinyProblem();
    problem.cluster.machines[1].nic = BytesPerSecond(2e6);
    const ir::Plan plan = test::RandomPlan(problem, rng);
    Recording recording;
    const ir::Report report = *Simulate(problem, plan, &recording);
    EXPECT_EQ(report, *Simulate(problem, plan)) << "recording changed the forecast";

    const ir::Placement placement(plan);
    std::vector<double> busy(placement.rank_count(), 0);
    std::vector<double> last_end(placement.rank_count(), 0);
    for (const RankSpan& span : recording.ranks) {
      EXPECT_LE(span.start, span.end);
      EXPECT_LE(span.end, report.iteration.value() * (1 + 1e-12));
      if (span.op != Op::kReduce) {
        busy[span.rank] += span.end - span.start;
        EXPECT_GE(span.start, last_end[span.rank]) << "rank " << span.rank << " computes twice at once";
        last_end[span.rank] = span.end;
      }
    }
    for (const ir::StageReport& stage : report.stages) {
      for (const ir::Rank rank : placement.tensor_group(stage.pipeline, stage.stage)) {
        EXPECT_NEAR(busy[rank.index()], stage.busy.value(), 1e-9 * report.iteration.value());
      }
    }

    const Network network(problem.cluster, placement);
    std::map<std::pair<int, int>, double> bytes;  // by zones, between different nodes
    for (const TransferSpan& span : recording.transfers) {
      if (span.from != span.to) {
        bytes[{network.zone(span.from).index(), network.zone(span.to).index()}] += span.bytes;
      }
    }
    EXPECT_EQ(bytes.size(), report.traffic.size());
    for (const ir::LinkTraffic& link : report.traffic) {
      const double sum = bytes[{link.from.index(), link.to.index()}];
      EXPECT_NEAR(sum, static_cast<double>(link.bytes.value()), 1 + 1e-9 * sum);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, TimelineRecordingProperty, ::testing::Range(0, 4));

}  // namespace
}  // namespace sail::sim
