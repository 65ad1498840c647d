#include "runtime/bundle/trainable.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/builders.h"

namespace sail::rt {
namespace {

using ::testing::HasSubstr;

std::string Refusal(const ir::Model& model, ir::Precision precision = ir::Precision::kFp32) {
  const absl::Status status = CheckTrainable(model, precision);
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status.ToString();
  return std::string(status.message());
}

TEST(CheckTrainable, TheGptFamilyIsTrained) {
  ir::Model model = test::TinyModel();
  EXPECT_TRUE(CheckTrainable(model, ir::Precision::kFp32).ok());
  model.activation = ir::Activation::kRelu;
  model.qkv_bias = false;
  model.tied_head = false;
  model.position_rows = model.seq_len + 2;
  EXPECT_TRUE(CheckTrainable(model, ir::Precision::kFp64).ok());
}

TEST(CheckTrainable, WhatIsNotImplementedIsNamed) {
  ir::Model model = test::TinyModel();
  model.norm = ir::NormPlacement::kPost;
  EXPECT_THAT(Refusal(model), HasSubstr("norm = post"));
  model = test::TinyModel();
  model.embedding_width = 16;
  EXPECT_THAT(Refusal(model), HasSubstr("embedding_width = 16 differs from hidden = 32"));
  model = test::TinyModel();
  model.position_rows = 15;
  EXPECT_THAT(Refusal(model), HasSubstr("position_rows = 15"));
  model = test::TinyModel();
  model.heads = 5;
  EXPECT_THAT(Refusal(model), HasSubstr("5 heads"));
  EXPECT_THAT(Refusal(test::TinyModel(), ir::Precision::kBf16), HasSubstr("precision = bf16"));
  EXPECT_THAT(Refusal(test::TinyModel(), ir::Precision::kFp16), HasSubstr("precision = fp16"));
}

}  // namespace
}  // namespace sail::rt
