#include "runtime/bundle/trainable.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/builders.h"

namespace sail::rt {
namespace {

using ::testing::HasSubstr;

absl::Status Check(const ir::Model& model, ir::Precision precision = ir::Precision::kFp32) {
  ir::Problem problem{
      .job = test::TinyJob(), .model = test::TinyModel(), .cluster = test::TinyCluster(), .profile = {}};
  problem.model = model;
  problem.job.precision = precision;
  return CheckTrainable(problem, test::TinyPlan());
}

std::string Refusal(const ir::Model& model, ir::Precision precision = ir::Precision::kFp32) {
  const absl::Status status = Check(model, precision);
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status.ToString();
  return std::string(status.message());
}

TEST(CheckTrainable, TheGptFamilyIsTrained) {
  ir::Model model = test::TinyModel();
  EXPECT_TRUE(Check(model, ir::Precision::kFp32).ok());
  model.activation = ir::Activation::kRelu;
  model.qkv_bias = false;
  model.tied_head = false;
  model.position_rows = model.seq_len + 2;
  EXPECT_TRUE(Check(model, ir::Precision::kFp64).ok());
}

TEST(CheckTrainable, WhatIsNotImplementedIsNamed) {
  EXPECT_THAT(Refusal(test::TinyLlama()), HasSubstr("family = llama"));
  ir::Model model = test::TinyModel();
  model.norm = ir::NormPlacement::kPost;
  EXPECT_THAT(Refusal(model), HasSubstr("norm = post"));
  model = test::TinyModel();
  model.embedding_width = 16;
  EXPECT_THAT(Refusal(model), HasSubstr("embedding_width = 16 differs from hidden = 32"));
  model = test::TinyModel();
  model.heads = 5;
  EXPECT_THAT(Refusal(model), HasSubstr("5 heads"));
  EXPECT_THAT(Refusal(test::TinyModel(), ir::Precision::kBf16), HasSubstr("precision = bf16"));
  EXPECT_THAT(Refusal(test::TinyModel(), ir::Precision::kFp16), HasSubstr("precision = fp16"));
}

TEST(CheckTrainable, WhatCanOnlyBeSimulatedIsNamed) {
  ir::Problem problem{
      .job = test::TinyJob(), .model = test::TinyModel(), .cluster = test::TinyCluster(), .profile = {}};
  ir::Plan plan = test::TinyPlan();
  plan.pipelines[0].stages[1].recompute = ir::Recompute::kFull;
  EXPECT_THAT(std::string(CheckTrainable(problem, plan).message()),
              AllOf(HasSubstr("recompute = full of pipeline 0 stage 1"), HasSubstr("write `recompute = none`")));
  plan = test::TinyPlan();
  plan.optimizer_sharding = ir::OptimizerSharding::kZero1;
  EXPECT_THAT(std::string(CheckTrainable(problem, plan).message()),
              AllOf(HasSubstr("optimizer_sharding = zero1;"), HasSubstr("write `optimizer_sharding = none`")));
  problem.job.trainer.overlap_gradients = true;
  EXPECT_THAT(std::string(CheckTrainable(problem, test::TinyPlan()).message()), HasSubstr("another trainer"));
}

// Samples have 16 tokens. A table of 16 rows is GPT-2's and one of 18 OPT's; of any other nobody knows which rows to
// use.
TEST(CheckTrainable, OnlyPositionTablesWhoseRowsAreKnownAreTrained) {
  ir::Model model = test::TinyModel();
  for (const int64_t rows : {0, 1, 15, 17, 19, 32, 2050}) {
    model.position_rows = rows;
    EXPECT_THAT(Refusal(model), HasSubstr("position_rows = " + std::to_string(rows) + " with seq_len = 16; only"));
  }
  for (const int64_t rows : {16, 18}) {
    model.position_rows = rows;
    EXPECT_TRUE(Check(model, ir::Precision::kFp32).ok()) << rows;
  }
}

}  // namespace
}  // namespace sail::rt
