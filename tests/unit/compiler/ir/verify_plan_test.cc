// One hand-made corruption per invariant of verify_plan.h; each must be rejected with a message that names the fault.
#include "compiler/ir/verify_plan.h"

#include <functional>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/compiler/ir/small_problem.h"

namespace sail::ir {
namespace {

using ::testing::HasSubstr;

TEST(VerifyPlan, AcceptsASoundPlan) {
  EXPECT_TRUE(VerifyPlan(SmallProblem(), SmallPlan(), SmallReport()).ok())
      << VerifyPlan(SmallProblem(), SmallPlan(), SmallReport());
}

struct Corruption {
  const char* name;
  std::function<void(Problem&, Plan&, Report&)> apply;
  const char* message;
};

class VerifyPlanRejects : public testing::TestWithParam<Corruption> {};

TEST_P(VerifyPlanRejects, NamesTheFault) {
  Problem problem = SmallProblem();
  Plan plan = SmallPlan();
  Report report = SmallReport();
  GetParam().apply(problem, plan, report);
  const absl::Status status = VerifyPlan(problem, plan, report);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr(GetParam().message));
}

Stage& StageAt(Plan& plan, int p, int s) { return plan.pipelines[p].stages[s]; }

INSTANTIATE_TEST_SUITE_P(
    Corruptions, VerifyPlanRejects,
    testing::Values(
        Corruption{"no_pipeline", [](auto&, auto& plan, auto&) { plan.pipelines.clear(); }, "no pipeline"},
        // Case layers-dropped: 7 + 7 + … instead of all layers.
        Corruption{"layers_dropped", [](auto&, auto& plan, auto&) { StageAt(plan, 0, 1).last_layer = 4; },
                   "pipeline 0: stage sizes sum to 5 layers, the model has 6"},
        // Case layers-override: a stage list that does not sum to the model.
        Corruption{"layers_override", [](auto&, auto& plan, auto&) { StageAt(plan, 1, 0).last_layer = 0; },
                   "pipeline 1: stage sizes sum to 1 layers, the model has 6"},
        Corruption{"layer_gap", [](auto&, auto& plan, auto&) { StageAt(plan, 0, 1).first_layer = 4; },
                   "pipeline 0 stage 1 starts at layer 4, the stages before it end at 2"},
        Corruption{"layer_twice", [](auto&, auto& plan, auto&) { StageAt(plan, 0, 1).first_layer = 2; },
                   "starts at layer 2, the stages before it end at 2"},
        Corruption{"empty_stage", [](auto&, auto& plan, auto&) { StageAt(plan, 0, 0).last_layer = -1; },
                   "pipeline 0 stage 0 holds no layer"},
        // Case batch-truncate: the global batch is exact.
        Corruption{"batch_truncated", [](auto&, auto& plan, auto&) { plan.pipelines[1].micro_batches = 1; },
                   "process 9 samples per iteration, the global batch is 10"},
        Corruption{"micro_batch_no_candidate", [](auto&, auto& plan, auto&) { plan.pipelines[0].micro_batch = 8; },
                   "micro-batch 8"},
        Corruption{"no_micro_batch", [](auto&, auto& plan, auto&) { plan.pipelines[1].micro_batches = 0; },
                   "processes 0 micro-batches"},
        Corruption{"depth_no_candidate", [](auto& problem, auto&, auto&) { problem.job.pipeline_depths = {1}; },
                   "pipeline 0 has 2 stages"},
        Corruption{"degree_no_candidate", [](auto& problem, auto&, auto&) { problem.job.tensor_degrees = {1}; },
                   "tensor degree 2, not a candidate"},
        Corruption{"degree_does_not_divide_key_value_heads",
                   [](auto& problem, auto&, auto&) { problem.model.kv_heads = 1; }, "1 key-value heads"},
        Corruption{"degree_does_not_divide_heads", [](auto& problem, auto&, auto&) { problem.model.heads = 1; },
                   "does not divide 1 heads"},
        Corruption{"pipeline_leaves_its_node",
                   [](auto& problem, auto& plan, auto&) {
                     problem.job.keep.pipeline = Reach::kNode;
                     StageAt(plan, 0, 1).group = {.pool = PoolId(1), .node = 1, .gpus = {0, 1}};
                   },
                   "pipeline 0 spans node 0 of pool fast and node 1 of pool slow"},
        Corruption{"replicas_leave_their_zone",
                   [](auto& problem, auto&, auto&) { problem.job.keep.data = Reach::kZone; },
                   "the replicas of layer 0 span zone a and zone b"},
        Corruption{"unknown_pool", [](auto&, auto& plan, auto&) { StageAt(plan, 1, 0).group.pool = PoolId(2); },
                   "names pool 2"},
        Corruption{"node_over_quota", [](auto&, auto& plan, auto&) { StageAt(plan, 1, 0).group.node = 2; },
                   "uses node 2 of pool slow, whose quota is 2 nodes"},
        // Case nodes-8-2: never more processes on a node than it has GPUs.
        Corruption{"gpu_not_in_node", [](auto&, auto& plan, auto&) { StageAt(plan, 1, 0).group.gpus = {2}; },
                   "uses GPU 2 of a node with 2 GPUs"},
        // Case dup-gpu.
        Corruption{"gpu_twice",
                   [](auto&, auto& plan, auto&) {
                     StageAt(plan, 0, 1).group.gpus = {1, 2};
                   },
                   "GPU 1 of node 0 in pool fast is used twice"},
        Corruption{"gpus_unordered",
                   [](auto&, auto& plan, auto&) {
                     StageAt(plan, 0, 1).group.gpus = {3, 2};
                   },
                   "ascending order"},
        Corruption{"recompute_no_candidate",
                   [](auto&, auto& plan, auto&) { StageAt(plan, 0, 1).recompute = Recompute::kFull; },
                   "pipeline 0 stage 1 has recompute = full, not a candidate of the job"},
        Corruption{"sharding_no_candidate",
                   [](auto&, auto& plan, auto&) { plan.optimizer_sharding = OptimizerSharding::kZero1; },
                   "optimizer_sharding = zero1, not a candidate of the job"},
        Corruption{"mixed_backends",
                   [](auto& problem, auto&, auto&) { problem.cluster.gpus[1].backend = Backend::kCuda; },
                   "mixes cuda and cpu"},
        Corruption{"memory_over_limit",
                   // 500 bytes, half usable, 92 % of that: 230. The stage needs 240.
                   [](auto&, auto&, auto& report) {
                     report.stages[2].memory[0].bytes = Bytes(240);
                     report.stages[2].memory_total = Bytes(240);
                   },
                   "pipeline 1 stage 0 needs 240 bytes of memory, the limit on little is 230"},
        Corruption{"memory_terms_do_not_add_up",
                   [](auto&, auto&, auto& report) { report.stages[0].memory_total = Bytes(1); },
                   "memory terms sum to 100 bytes, the total says 1"},
        Corruption{"memory_limit_of_the_job", [](auto& problem, auto&, auto&) { problem.job.memory_limit = 0.05; },
                   "pipeline 0 stage 0 needs 100 bytes"},
        Corruption{"peak_memory_limit",
                   [](auto& problem, auto&, auto& report) {
                     problem.job.constraints[0] = {
                         .name = "price", .metric = Metric::kPeakMemory, .at_most = true, .limit = 0.05};
                     report.peak_memory = 0.06;
                   },
                   "constraint 'price' does not hold: peak_memory is 0.06"},
        Corruption{"constraint_violated", [](auto&, auto&, auto& report) { report.iteration = Seconds(20); },
                   "constraint 'speed' does not hold"},
        Corruption{"constraint_missing", [](auto&, auto&, auto& report) { report.constraints.pop_back(); },
                   "has 1 constraints, the job 2"},
        Corruption{"constraint_renamed", [](auto&, auto&, auto& report) { report.constraints[1].name = "x"; },
                   "lacks constraint 'speed'"},
        Corruption{"report_of_another_plan", [](auto&, auto&, auto& report) { report.stages.pop_back(); },
                   "does not describe pipeline 1 stage 0"},
        Corruption{"report_has_more_stages",
                   [](auto&, auto&, auto& report) { report.stages.push_back(report.stages[0]); },
                   "more stages than the plan"},
        Corruption{"nodes_miscounted", [](auto&, auto&, auto& report) { report.nodes = 1; }, "counts 1 nodes"},
        Corruption{"no_iteration_time", [](auto&, auto&, auto& report) { report.iteration = Seconds(0); },
                   "no iteration time"}),
    [](const testing::TestParamInfo<Corruption>& info) { return info.param.name; });

}  // namespace
}  // namespace sail::ir
