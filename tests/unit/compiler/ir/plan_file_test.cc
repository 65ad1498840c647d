#include "compiler/ir/plan_file.h"

#include "absl/strings/str_replace.h"
#include "compiler/ir/print.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/compiler/ir/small_problem.h"

namespace sail::ir {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string SmallFile() { return PrintPlanFile(SmallProblem(), SmallPlan(), SmallReport()); }

TEST(PlanFile, ReadsBackWhatItWrote) {
  const absl::StatusOr<PlanFile> file = ParsePlanFile(SmallFile(), "a.sailplan");
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->problem, SmallProblem());
  EXPECT_EQ(file->plan, SmallPlan());
}

TEST(PlanFile, HoldsTheTransfersThatWereMeasured) {
  Problem problem = SmallProblem();
  Link& link = problem.cluster.links[0][0];
  link.sends = {{.bytes = 4096, .seconds = Seconds(0.25)}, {.bytes = 8192, .seconds = Seconds(0.5)}};
  const std::string text = PrintPlanFile(problem, SmallPlan(), SmallReport());
  const absl::StatusOr<PlanFile> file = ParsePlanFile(text, "a.sailplan");
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->problem, problem);
  EXPECT_THAT(text, Not(HasSubstr("all_reduces")));  // of a link without, nothing is said
  Json cluster = ToJson(problem.cluster);
  for (const char* curve : {"3", "[[1]]", "[[0, 1]]", "[[1, -1]]", "[[2, 1], [2, 2]]", "[[1, 2], [2, 1]]"}) {
    cluster["links"][0]["sends"] = *ParseJson(curve, "curve");
    EXPECT_TRUE(absl::IsInvalidArgument(ParseCluster(cluster, "cluster").status())) << curve;
  }
}

// As in the language: more than nothing, or, where one GPU talks to none, anything.
TEST(PlanFile, AnyRateInsideANodeIsRead) {
  Problem problem = SmallProblem();
  Machine& machine = problem.cluster.machines[0];
  const auto reads = [&](int gpus, double rate) {
    machine.gpus_per_node = gpus;
    machine.intra_node = BytesPerSecond(rate);
    return ParseCluster(ToJson(problem.cluster), "cluster").ok();
  };
  EXPECT_TRUE(reads(2, 1e-3));
  EXPECT_TRUE(reads(1, 0));
  EXPECT_FALSE(reads(2, 0));
  EXPECT_FALSE(reads(2, -1));
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

TEST(PlanFile, CarriesTheFrontIfThereIsOne) {
  const std::vector<FrontPoint> front = {
      {.iteration = Seconds(1), .cost_per_iteration = Usd(2), .goodput = 0.75, .nodes = 2, .gpus = 8},
      {.iteration = Seconds(2), .cost_per_iteration = Usd(0), .goodput = 0.5, .nodes = 1, .gpus = 4, .chosen = true}};
  const std::string text = PrintPlanFile(SmallProblem(), SmallPlan(), SmallReport(), front);
  const absl::StatusOr<PlanFile> file = ParsePlanFile(text, "a.sailplan");
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->front, front);
  EXPECT_EQ(file->plan_hash, PlanHash(SmallProblem(), SmallPlan()));
  EXPECT_TRUE(ParsePlanFile(SmallFile(), "a.sailplan")->front.empty());
  ExpectRejected(absl::StrReplaceAll(text, {{"\"goodput_iters_per_s\": 0.75", "\"goodput_iters_per_s\": 0.7"}}),
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

// A plan made from another one says so; its own hash does not depend on it.
TEST(PlanFile, SaysWhatItWasMadeFrom) {
  PlanOrigin origin{.plan_hash = "sha256:before", .semantics = 1, .was = {}};
  for (const Pool& pool : SmallProblem().cluster.pools) origin.was.emplace_back(pool.quota, -1);
  const std::string text = PrintPlanFile(SmallProblem(), SmallPlan(), SmallReport(), {}, origin);
  const absl::StatusOr<PlanFile> file = ParsePlanFile(text, "a.sailplan");
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->origin, origin);
  EXPECT_EQ(file->plan_hash, ParsePlanFile(SmallFile(), "a.sailplan")->plan_hash);
  EXPECT_FALSE(ParsePlanFile(SmallFile(), "a.sailplan")->origin.has_value());

  Json json = *ParseJson(text, "text");
  json.erase("replan");
  EXPECT_FALSE(ParsePlanFile(DumpJson(json), "a.sailplan").ok());
  json = *ParseJson(text, "text");
  json["replan"]["nodes"].front().push_back(0);
  EXPECT_FALSE(ParsePlanFile(DumpJson(json), "a.sailplan").ok());
}

}  // namespace
}  // namespace sail::ir
