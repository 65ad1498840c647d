#include "simulator/public_plan.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/builders.h"

namespace sail::sim {
namespace {

using ::testing::HasSubstr;

std::string FaultOf(absl::string_view text) {
  return std::string(ReadPublicPlan(*ParseJson(text, "test"), "p").status().message());
}

// Two stages of two replicas: tensor groups of two on the four-GPU nodes of pool fast, single GPUs of pool slow.
constexpr char kPlan[] = R"({"id": "x", "global_batch": 8, "micro_batch": 2, "stages": [
  {"layers": [0, 2], "replicas": [["fast-cpu", 4, 2], ["fast-cpu", 4, 2]]},
  {"layers": [3, 5], "replicas": [{"gpu": "slow_cpu", "zone": "b", "tensor": 1, "count": 2}]}]})";

TEST(PublicPlan, IsPlacedOnPools) {
  const auto published = ReadPublicPlan(*ParseJson(kPlan, "test"), "p");
  ASSERT_EQ(published.status(), absl::OkStatus());
  const auto plan = ImportPlan(*published, test::TinyProblem());
  ASSERT_EQ(plan.status(), absl::OkStatus());
  // 8 samples / (2 replicas · 2) = 2 micro-batches. Both fast groups fit on node 0, both slow ones too.
  const ir::Plan expected{
      .pipelines = {{.micro_batch = 2,
                     .micro_batches = 2,
                     .stages = {test::MakeStage(0, 2, 0, 0, {0, 1}), test::MakeStage(3, 5, 1, 0, {0})}},
                    {.micro_batch = 2,
                     .micro_batches = 2,
                     .stages = {test::MakeStage(0, 2, 0, 0, {2, 3}), test::MakeStage(3, 5, 1, 0, {1})}}}};
  EXPECT_EQ(*plan, expected);
}

TEST(PublicPlan, NamesWhatIsWrong) {
  EXPECT_THAT(FaultOf("[]"), HasSubstr("p: micro_batch: expected a number from 1"));
  EXPECT_THAT(FaultOf(R"({"micro_batch": 1, "stages": []})"), HasSubstr("p: stages: expected a list with entries"));
  EXPECT_THAT(FaultOf(R"({"micro_batch": 1, "stages": [{"layers": [0]}]})"), HasSubstr("stages[0].layers"));
  EXPECT_THAT(FaultOf(R"({"micro_batch": 1, "stages": [{"layers": [0, 1], "replicas": [["g", 4]]}]})"),
              HasSubstr("stages[0].replicas[0]: expected [gpu, GPUs per node, tensor degree]"));
  EXPECT_THAT(FaultOf(R"({"micro_batch": 1, "stages": [{"layers": [0, 1], "replicas": [{"gpu": 1}]}]})"),
              HasSubstr("replicas[0].gpu: expected a name"));
  EXPECT_THAT(FaultOf(R"({"micro_batch": 1, "stages": [
      {"layers": [0, 1], "replicas": [["g", 1, 1]]}, {"layers": [2, 3], "replicas": [["g", 1, 1], ["g", 1, 1]]}]})"),
              HasSubstr("stages[1] has 2 replicas, the first stage has 1"));
}

std::string ImportFaultOf(PublicPlan plan) {
  return std::string(ImportPlan(plan, test::TinyProblem()).status().message());
}

TEST(PublicPlan, NamesWhatCannotBeRepresented) {
  PublicPlan plan{.global_batch = 8, .micro_batch = 2, .stages = {{0, 5, {{.gpu = "fast-cpu", .tensor = 4}}}}};
  EXPECT_EQ(ImportFaultOf(plan), "");
  PublicPlan batch = plan;
  batch.global_batch = 16;
  EXPECT_THAT(ImportFaultOf(batch), HasSubstr("for a global batch of 16, job tiny has 8"));
  PublicPlan uneven = plan;
  uneven.micro_batch = 3;
  EXPECT_THAT(ImportFaultOf(uneven), HasSubstr("8 is no multiple of 1 replicas · micro-batch 3"));
  PublicPlan gpu = plan;
  gpu.stages[0].replicas[0].gpu = "H100";
  EXPECT_THAT(ImportFaultOf(gpu), HasSubstr("stage 0, replica 0: no pool has gpu H100"));
  PublicPlan zone = plan;
  zone.stages[0].replicas[0].zone = "b";
  EXPECT_THAT(ImportFaultOf(zone), HasSubstr("no pool has gpu fast-cpu in zone b"));
  PublicPlan machine = plan;
  machine.stages[0].replicas[0].gpus_per_node = 8;
  EXPECT_THAT(ImportFaultOf(machine), HasSubstr("no pool has gpu fast-cpu with 8 per node"));
  PublicPlan many = plan;
  many.micro_batch = 1;
  many.stages[0].replicas.assign(4, plan.stages[0].replicas[0]);  // two nodes hold two
  EXPECT_THAT(ImportFaultOf(many), HasSubstr("stage 0, replica 2: no node is left for 4 fast-cpu"));
}

}  // namespace
}  // namespace sail::sim
