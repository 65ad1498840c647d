// What is proposed to a job that does not fit is taken at its word: with it there is a plan, with less there is none.
#include "compiler/driver/memory_relief.h"

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/driver/answer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/builders.h"

namespace sail::driver {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// 50 M parameters in four blocks, 16 bytes each, on GPUs of 768 MiB; neither recomputed nor cut.
ir::Problem TooLarge() {
  ir::Problem problem{
      .job = test::TinyJob(), .model = test::TinyModel(), .cluster = test::TinyCluster(), .profile = {}};
  ir::Model& model = problem.model;
  model.hidden = model.embedding_width = 1024;
  model.feed_forward = 4096;
  model.seq_len = model.position_rows = 64;
  ir::Job& job = problem.job;
  job.global_batch = 8;
  job.micro_batches = {1};
  job.tensor_degrees = {1};
  job.pipeline_depths = {1};
  for (ir::Gpu& gpu : problem.cluster.gpus) gpu.memory = Bytes(int64_t{768} << 20);
  return problem;
}

bool HasPlan(const ir::Problem& problem) {
  const absl::StatusOr<Answer> answer = FindAnswer(problem, {.bound_work = 0});
  SAIL_CHECK(answer.ok()) << answer.status().ToString();
  return std::holds_alternative<planner::Feasible>(answer->outcome);
}

std::vector<Relief> ReliefOf(ir::Problem problem) {
  const absl::Status status = sim::CompleteProfile(problem);
  SAIL_CHECK(status.ok()) << status.ToString();
  const absl::StatusOr<Answer> answer = FindAnswer(problem, {.bound_work = 0});
  SAIL_CHECK(answer.ok()) << answer.status().ToString();
  const auto& infeasible = std::get<planner::Infeasible>(answer->outcome);
  SAIL_CHECK(infeasible.limits.size() == 1 && infeasible.limits[0].name == "memory");
  absl::StatusOr<std::vector<Relief>> reliefs = FindMemoryRelief(problem, infeasible.limits[0]);
  SAIL_CHECK(reliefs.ok()) << reliefs.status().ToString();
  return *std::move(reliefs);
}

std::vector<std::string> TextsOf(const std::vector<Relief>& reliefs) {
  std::vector<std::string> texts;
  for (const Relief& relief : reliefs) texts.push_back(relief.text);
  return texts;
}

// Half of the layers fit on a GPU, and so does a half of each layer.
TEST(MemoryRelief, TheLeastOfEachKindThatIsEnough) {
  const ir::Problem problem = TooLarge();
  const std::vector<Relief> reliefs = ReliefOf(problem);
  ASSERT_THAT(TextsOf(reliefs), ElementsAre("parallelism { pipeline = [1, 2] }", "parallelism { tensor = [1, 2] }",
                                            HasSubstr("gpu fast_cpu { memory = ")));
  for (const Relief& relief : reliefs) EXPECT_TRUE(HasPlan(relief.problem)) << relief.text;
  ir::Problem less = reliefs[2].problem;
  less.cluster.gpus[0].memory = Bytes(less.cluster.gpus[0].memory.value() - (int64_t{256} << 20));
  EXPECT_FALSE(HasPlan(less));
}

// With a stage for each layer there is nothing to cut, and large micro-batches are what does not fit.
TEST(MemoryRelief, SmallerMicroBatches) {
  ir::Problem problem = TooLarge();
  problem.job.pipeline_depths = {6};
  problem.job.micro_batches = {8};
  problem.model.seq_len = problem.model.position_rows = 512;
  const std::vector<Relief> reliefs = ReliefOf(problem);
  ASSERT_FALSE(reliefs.empty());
  EXPECT_THAT(reliefs[0].text, HasSubstr("batch { micro = ["));
  EXPECT_TRUE(HasPlan(reliefs[0].problem));
}

}  // namespace
}  // namespace sail::driver
