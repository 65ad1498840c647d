#include "simulator/link_curve.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "simulator/collective_cost.h"
#include "simulator/simulate.h"
#include "simulator/transfer_cost.h"
#include "tests/support/builders.h"
#include "tests/support/round_problem.h"

namespace sail::sim {
namespace {

using ::testing::HasSubstr;

ir::LinkCurve Curve(std::vector<std::pair<double, double>> points) {
  ir::LinkCurve curve;
  for (const auto& [bytes, seconds] : points) curve.push_back({.bytes = bytes, .seconds = Seconds(seconds)});
  return curve;
}

std::string LinkFile(const std::string& samples) {
  return R"({"format":"1.0","kind":"saillink","latency_s":1,"bandwidth_bytes_per_s":2,"samples":[)" + samples + "]}";
}

TEST(CurveSeconds, InterpolatesAndIsClampedAtBothEnds) {
  const ir::LinkCurve curve = Curve({{1000, 1}, {3000, 2}, {10000, 9}});
  EXPECT_EQ(CurveSeconds(curve, 1), 1);  // no message is faster than the smallest
  EXPECT_EQ(CurveSeconds(curve, 1000), 1);
  EXPECT_EQ(CurveSeconds(curve, 2000), 1.5);  // half-way
  EXPECT_EQ(CurveSeconds(curve, 6500), 5.5);
  EXPECT_EQ(CurveSeconds(curve, 10000), 9);
  EXPECT_EQ(CurveSeconds(curve, 20000), 18);  // at the rate of the largest
}

// Samples come in any order; the 2 s of 100 bytes cannot be more than what 200 bytes take.
TEST(AddLinkCurves, SortsByOperationAndSizeAndRaisesTimesThatFall) {
  ir::Link link{.bandwidth = BytesPerSecond(7)};
  ASSERT_EQ(AddLinkCurves(LinkFile(R"({"op":"send","bytes":200,"seconds":1},{"op":"all_reduce","bytes":64,"seconds":5},
                                      {"op":"send","bytes":100,"seconds":2},{"op":"send","bytes":300,"seconds":4})"),
                          "link.json", link),
            absl::OkStatus());
  EXPECT_EQ(link.sends, Curve({{100, 2}, {200, 2}, {300, 4}}));
  EXPECT_EQ(link.all_reduces, Curve({{64, 5}}));
  EXPECT_EQ(link.bandwidth, BytesPerSecond(7));
}

TEST(AddLinkCurves, RefusesWhatIsNoMeasuredLink) {
  const auto message = [](const std::string& text) {
    ir::Link link;
    const absl::Status status = AddLinkCurves(text, "l.json", link);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status.ToString();
    EXPECT_EQ(link, ir::Link());
    return std::string(status.message());
  };
  EXPECT_THAT(message(R"({"format":"1.0","kind":"sailprofile","samples":[]})"), HasSubstr("expected \"saillink\""));
  EXPECT_THAT(message(LinkFile("")), HasSubstr("expected a list with samples"));
  EXPECT_THAT(message(LinkFile(R"({"op":"gather","bytes":1,"seconds":1})")), HasSubstr("unknown operation \"gather\""));
  EXPECT_THAT(message(LinkFile(R"({"op":"send","bytes":1,"seconds":-1})")), HasSubstr("samples[0]: bytes must be"));
  EXPECT_THAT(message(LinkFile(R"({"op":"send","bytes":1e-300,"seconds":1e18})")), HasSubstr("samples[0]: bytes must be"));
  EXPECT_THAT(message(LinkFile(R"({"op":"send","bytes":0,"seconds":1})")), HasSubstr("samples[0]: bytes must be"));
  EXPECT_THAT(message(LinkFile(R"({"op":"send","bytes":1,"seconds":1},{"op":"send","bytes":1,"seconds":2})")),
              HasSubstr("a second send of 1 bytes"));
}

// A boundary crossing carries 2048 bytes at 2048 B/s, 1 s; measured were 3 s: 2 s are latency. Where the link is
// declared slower than it was measured, what is declared counts.
TEST(MeasuredLink, TakesThePlaceOfLatencyAndBandwidth) {
  ir::Problem problem = test::RoundProblem();
  ir::Link& link = problem.cluster.links[0][0];
  link.sends = Curve({{1024, 2}, {3072, 4}});
  const auto crossing = [&] { return MakeTransfer(problem, ir::PoolId(0), ir::PoolId(0), 1, 1, 1, false); };
  EXPECT_EQ(crossing().latency, 2);
  EXPECT_EQ(crossing().SecondsAlone(), 3);
  link.latency = Seconds(100);
  EXPECT_EQ(crossing().SecondsAlone(), 3);
  link.bandwidth = BytesPerSecond(512);
  EXPECT_EQ(crossing().SecondsAlone(), 4);
}

// Two slices: over a link of the node they are 2048 bytes together, 3 s; over flows of their own 1024 bytes each, 2 s.
TEST(MeasuredLink, FlowsCarryOneSliceEach) {
  ir::Problem problem = test::RoundProblem();
  ir::Link& link = problem.cluster.links[0][0];
  link.sends = Curve({{1024, 2}, {3072, 4}});
  const auto seconds = [&] {
    return MakeTransfer(problem, ir::PoolId(0), ir::PoolId(0), 2, 1, 1, false).SecondsAlone();
  };
  EXPECT_EQ(seconds(), 3);
  link.share = ir::LinkShare::kPerFlow;
  EXPECT_EQ(seconds(), 2);
}

ir::Plan Replicas(int nodes) {
  ir::Plan plan;
  for (int node = 0; node < nodes; ++node) {
    plan.pipelines.push_back({.micro_batch = 1, .micro_batches = 1, .stages = {test::MakeStage(0, 5, 0, node, {0})}});
  }
  return plan;
}

double SumSeconds(const ir::Problem& problem, int nodes, double bytes) {
  const ir::Placement placement(Replicas(nodes));
  const Network network(problem.cluster, placement);
  std::vector<int> members;
  for (int node = 0; node < nodes; ++node) members.push_back(node);
  return AllReduceSeconds(MakeAllReduce(network, members), bytes);
}

// Two nodes took 4 s for 2048 bytes and 6 s for 4096. A ring of four has 6 steps of a quarter of its 8192 bytes; the
// two had 2 of a half of 4096: three times 6 s. At 2048 B/s the bytes alone would take 3/2 · 8192 / 2048 = 6 s.
TEST(MeasuredLink, RingHasTheRoundsOfThePairThatWasMeasured) {
  ir::Problem problem = test::RoundProblem();
  problem.cluster.links[0][0].all_reduces = Curve({{2048, 4}, {4096, 6}});
  EXPECT_EQ(SumSeconds(problem, 2, 2048), 4);
  EXPECT_EQ(SumSeconds(problem, 2, 3072), 5);
  EXPECT_EQ(SumSeconds(problem, 4, 8192), 18);
}

// Gradients of 53760 parameters take 105 s at 2048 B/s (cost_model_test) and took 250 s; the timeline agrees. Work is
// 12 s, the step 2 s.
TEST(MeasuredLink, IsWhatTheTimelineWaitsFor) {
  ir::Problem problem = test::RoundProblem();
  problem.cluster.links[0][0].all_reduces = Curve({{215040, 250}});
  const auto report = Simulate(problem, Replicas(2));
  ASSERT_TRUE(report.ok()) << report.status().ToString();
  EXPECT_NEAR(report->iteration.value(), 12 + 250 + 2, 1e-9);
  EXPECT_NEAR(report->parts.gradient_sync.value(), 250, 1e-9);
}

}  // namespace
}  // namespace sail::sim
