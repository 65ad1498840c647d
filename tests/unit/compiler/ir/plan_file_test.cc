#include "compiler/ir/plan_file.h"

#include "absl/strings/str_replace.h"
#include "compiler/ir/print.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/compiler/ir/small_problem.h"

namespace sail::ir {
namespace {

using ::testing::HasSubstr;

std::string SmallFile() { return PrintPlanFile(SmallProblem(), SmallPlan(), SmallReport()); }

TEST(PlanFile, ReadsBackWhatItWrote) {
  const absl::StatusOr<PlanFile> file = ParsePlanFile(SmallFile(), "a.sailplan");
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->problem, SmallProblem());
  EXPECT_EQ(file->plan, SmallPlan());
}

TEST(PlanFile, SameValueSameBytes) { EXPECT_EQ(SmallFile(), SmallFile()); }

TEST(PlanFile, NewForecastIsNotANewPlan) {
  Report report = SmallReport();
  report.iteration = Seconds(3);
  const Json before = *ParseJson(SmallFile(), "before");
  const Json after = *ParseJson(PrintPlanFile(SmallProblem(), SmallPlan(), report), "after");
  EXPECT_EQ(before["plan_hash"], after["plan_hash"]);
  EXPECT_NE(before["prediction_hash"], after["prediction_hash"]);
}

void ExpectRejected(const std::string& text, absl::StatusCode code, const char* message) {
  const absl::Status status = ParsePlanFile(text, "a.sailplan").status();
  EXPECT_EQ(status.code(), code);
  EXPECT_THAT(std::string(status.message()), HasSubstr(message));
}

TEST(PlanFile, EveryChangedDecisionOrInputIsStale) {
  for (const auto& [from, to] : {std::pair("\"micro_batches\": 4", "\"micro_batches\": 5"),
                                 std::pair("\"quota_nodes\": 1", "\"quota_nodes\": 9"),
                                 std::pair("\"global_batch\": 10", "\"global_batch\": 11")}) {
    const std::string text = absl::StrReplaceAll(SmallFile(), {{from, to}});
    ASSERT_NE(text, SmallFile()) << from;
    ExpectRejected(text, absl::StatusCode::kFailedPrecondition, "plan_hash does not match");
  }
}

TEST(PlanFile, ChangedPredictionIsFound) {
  ExpectRejected(absl::StrReplaceAll(SmallFile(), {{"\"iteration_s\": 2.0", "\"iteration_s\": 1.0"}}),
                 absl::StatusCode::kFailedPrecondition, "prediction_hash does not match");
}

TEST(PlanFile, RejectsWhatIsNoPlan) {
  ExpectRejected("", absl::StatusCode::kInvalidArgument, "not valid JSON");
  ExpectRejected("[]", absl::StatusCode::kInvalidArgument, "expected an object");
  ExpectRejected(absl::StrReplaceAll(SmallFile(), {{"\"1.0\"", "\"2.0\""}}), absl::StatusCode::kInvalidArgument,
                 "version 2.0 is not readable");
  ExpectRejected(absl::StrReplaceAll(SmallFile(), {{"\"kind\": \"sailplan\"", "\"kind\": \"sailplan\", \"extra\": 1"}}),
                 absl::StatusCode::kInvalidArgument, "extra: unknown field");
  ExpectRejected(
      absl::StrReplaceAll(SmallFile(), {{"\"kind\": \"sailplan\"", "\"kind\": \"sailplan\", \"kind\": \"x\""}}),
      absl::StatusCode::kInvalidArgument, "\"kind\" is given twice");
}

TEST(PlanFile, TruncatedAtAnyLengthIsAnErrorAndNoCrash) {
  const std::string text = SmallFile();
  for (size_t length = 0; length + 2 < text.size(); length += 97) {
    EXPECT_FALSE(ParsePlanFile(text.substr(0, length), "a.sailplan").ok());
  }
}

}  // namespace
}  // namespace sail::ir
