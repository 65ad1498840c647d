#include "compiler/driver/infeasible.h"

#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sail::driver {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr SourceRange Range(int begin) { return {SourceId(0), begin, begin + 1}; }

LoweredJob JobWithSpeedLimit() {
  LoweredJob job;
  job.problem.job.name = "train";
  job.problem.job.constraints = {{.name = "speed", .metric = ir::Metric::kThroughput, .at_most = false, .limit = 0.2},
                                 {.name = "budget", .metric = ir::Metric::kCostPerIter, .at_most = true, .limit = 0.6}};
  job.objective = Range(10);
  job.ranges = {{"speed", Range(20)}, {"budget", Range(30)}, {"model", Range(40)}, {"resources", Range(50)}};
  return job;
}

TEST(DiagnoseInfeasibleTest, NamesEachLimitItsPlaceAndTheRelaxationThatHelps) {
  const LoweredJob job = JobWithSpeedLimit();
  const planner::Infeasible infeasible{
      .limits =
          {{.name = "speed", .is_constraint = true, .best = 0.17126, .limit = 0.2, .relaxed = 0.1712, .detail = ""},
           {.name = "budget", .is_constraint = true, .best = 0.71021, .limit = 0.6, .detail = ""}},
      .candidates = 41};
  const Diagnostic diagnostic = DiagnoseInfeasible(job, infeasible);
  EXPECT_EQ(diagnostic.code, DiagnosticCode::kInfeasible);
  EXPECT_EQ(diagnostic.primary.range, Range(10));
  ASSERT_EQ(diagnostic.secondary.size(), 2);
  EXPECT_EQ(diagnostic.secondary[0].range, Range(20));
  EXPECT_THAT(diagnostic.secondary[0].text, HasSubstr("0.1713 iters/s (needs >= 0.2 iters/s)"));
  EXPECT_EQ(diagnostic.secondary[1].range, Range(30));
  // Without `relaxed` no single change of the budget leads to a plan.
  EXPECT_THAT(diagnostic.helps, ElementsAre("this removes the conflict: speed: throughput >= 0.1712 iters/s"));
  EXPECT_THAT(diagnostic.notes, ElementsAre("limits in conflict: speed, budget"));
}

TEST(DiagnoseInfeasibleTest, ProposesNothingThatNoPlanReaches) {
  const LoweredJob job = JobWithSpeedLimit();
  const planner::Infeasible infeasible{
      .limits = {{.name = "speed", .is_constraint = true, .best = std::nan(""), .limit = 0.2, .detail = ""}},
      .candidates = 1};
  EXPECT_THAT(DiagnoseInfeasible(job, infeasible).helps, IsEmpty());
}

TEST(DiagnoseInfeasibleTest, NamesKeepWhereItStands) {
  LoweredJob job = JobWithSpeedLimit();
  job.ranges["keep"] = Range(60);
  const planner::Infeasible infeasible{.limits = {{.name = "keep", .detail = "without it there is a plan"}}};
  const Diagnostic diagnostic = DiagnoseInfeasible(job, infeasible);
  ASSERT_EQ(diagnostic.secondary.size(), 1);
  EXPECT_EQ(diagnostic.secondary[0].range, Range(60));
  EXPECT_THAT(diagnostic.notes, ElementsAre("limits in conflict: keep"));
}

// `memory` is a good name for a limit of peak_memory.
TEST(DiagnoseInfeasibleTest, AConstraintCalledMemoryIsAConstraint) {
  LoweredJob job = JobWithSpeedLimit();
  job.problem.job.constraints[0].name = "memory";
  const planner::Infeasible infeasible{
      .limits = {{.name = "memory", .is_constraint = true, .best = 0.1, .limit = 0.2, .detail = ""}}};
  EXPECT_EQ(DiagnoseInfeasible(job, infeasible).code, DiagnosticCode::kInfeasible);
}

TEST(DiagnoseInfeasibleTest, MemoryAloneIsItsOwnErrorAtTheModel) {
  const LoweredJob job = JobWithSpeedLimit();
  const planner::Infeasible infeasible{
      .limits = {{.name = "memory", .best = 1, .limit = 0, .detail = "closest miss: stage 0 on T4"}}, .candidates = 0};
  const Diagnostic diagnostic = DiagnoseInfeasible(job, infeasible);
  EXPECT_EQ(diagnostic.code, DiagnosticCode::kOutOfMemory);
  EXPECT_EQ(diagnostic.primary.range, Range(40));
  EXPECT_EQ(diagnostic.primary.text, "closest miss: stage 0 on T4");
  EXPECT_THAT(diagnostic.helps, IsEmpty());
  EXPECT_THAT(DiagnoseInfeasible(job, infeasible, {{.text = "batch { micro = [1, 2] }", .problem = {}}}).helps,
              ElementsAre("this removes the conflict: batch { micro = [1, 2] }"));
}

}  // namespace
}  // namespace sail::driver
