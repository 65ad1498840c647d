// Time of one judgement of a plan of 512 GPUs: 64 pipelines of four stages of two GPUs, 16 micro-batches each, on 64
// nodes. `./dev bench simulator` prints the median of many beside what we want at most.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/ir/verify_plan.h"
#include "simulator/profiles.h"
#include "simulator/sail_cost_model.h"
#include "simulator/simulate.h"
#include "tests/bench/gpt_neo.h"

namespace {

using namespace sail;  // NOLINT

ir::Problem LargeProblem() {
  ir::Problem problem;
  problem.model = bench::GptNeo();
  problem.job.name = "speed";
  problem.job.global_batch = 1024;
  problem.job.micro_batches = {1};
  problem.job.tensor_degrees = {2};
  problem.job.pipeline_depths = {4};
  problem.job.precision = ir::Precision::kFp16;
  problem.job.objective = {{.metric = ir::Metric::kThroughput}};
  ir::Cluster& cluster = problem.cluster;
  cluster.gpus = {{.name = "A100",
                   .memory = Bytes(int64_t{80} << 30),
                   .peak_fp16 = FlopsPerSecond(312e12),
                   .memory_bandwidth = BytesPerSecond(2039e9)}};
  cluster.machines = {{.name = "node",
                       .gpu = ir::GpuId(0),
                       .gpus_per_node = 8,
                       .intra_node = BytesPerSecond(300e9),
                       .nic = BytesPerSecond(100e9)}};
  cluster.regions = {"r"};
  cluster.zones = {{.name = "z", .region = ir::RegionId(0)}};
  cluster.pools = {{.name = "p", .zone = ir::ZoneId(0), .machine = ir::MachineId(0), .quota = 64}};
  cluster.links = {{{.bandwidth = BytesPerSecond(100e9), .latency = Seconds(10e-6)}}};
  const absl::Status status = sim::CompleteProfile(problem);
  SAIL_CHECK(status.ok()) << status.ToString();
  return problem;
}

// Stage s of pipeline p lies on node 4·(p / 4) + s, so that boundaries cross nodes.
ir::Plan LargePlan() {
  ir::Plan plan;
  for (int p = 0; p < 64; ++p) {
    ir::Pipeline pipeline{.micro_batch = 1, .micro_batches = 16, .stages = {}};
    const int first[] = {0, 9, 17, 25, 34};
    for (int s = 0; s < 4; ++s) {
      const int gpu = 2 * (p % 4);
      pipeline.stages.push_back({.first_layer = first[s],
                                 .last_layer = first[s + 1] - 1,
                                 .group = {.pool = ir::PoolId(0), .node = 4 * (p / 4) + s, .gpus = {gpu, gpu + 1}}});
    }
    plan.pipelines.push_back(std::move(pipeline));
  }
  return plan;
}

// The same up to the names of nodes.
sim::PlanOutline LargeOutline() {
  sim::PlanOutline outline;
  outline.classes.push_back({.count = 64, .micro_batch = 1, .micro_batches = 16, .stages = {}});
  const int first[] = {0, 9, 17, 25, 34};
  for (int s = 0; s < 4; ++s) {
    outline.classes.back().stages.push_back({.first_layer = first[s],
                                             .last_layer = first[s + 1] - 1,
                                             .pool = ir::PoolId(0),
                                             .tensor = 2,
                                             .replicas_per_node = 4});
  }
  return outline;
}

template <class Judge>
double MedianSeconds(int repetitions, Judge judge) {
  std::vector<double> seconds;
  for (int i = 0; i < repetitions; ++i) {
    const auto start = std::chrono::steady_clock::now();
    judge();
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::nth_element(seconds.begin(), seconds.begin() + repetitions / 2, seconds.end());
  return seconds[repetitions / 2];
}

}  // namespace

int main() {
  const ir::Problem problem = LargeProblem();
  const ir::Plan plan = LargePlan();
  const absl::Status status = ir::VerifyPlanStructure(problem, plan);
  SAIL_CHECK(status.ok()) << status.ToString();
  const auto costs = sim::MakeSailCostModel(problem);
  const auto estimator = costs->MakeEstimator();
  const sim::PlanOutline outline = LargeOutline();
  const double estimated = estimator->Judge(outline).iteration;
  const double reported = costs->Evaluate(plan)->iteration.value();
  SAIL_CHECK(std::abs(estimated - reported) <= 1e-9 * reported) << estimated << " and " << reported;

  // Many estimates a time, which are shorter than the clock is sharp.
  constexpr int kAtOnce = 100;
  const double estimate = MedianSeconds(200,
                                        [&] {
                                          for (int i = 0; i < kAtOnce; ++i)
                                            SAIL_CHECK(estimator->Judge(outline).iteration > 0);
                                        }) /
                          kAtOnce;
  const double closed = MedianSeconds(200, [&] { SAIL_CHECK(costs->Evaluate(plan).ok()); });
  const double timeline = MedianSeconds(50, [&] { SAIL_CHECK(sim::Simulate(problem, plan).ok()); });
  std::printf("plan of 512 GPUs, 64 pipelines, 16 micro-batches   median       target\n");
  std::printf("  closed form of its outline                   %8.2f us         5 us\n", estimate * 1e6);
  std::printf("  closed form with report                      %8.1f us            -\n", closed * 1e6);
  std::printf("  timeline with report                         %8.2f ms         5 ms\n", timeline * 1e3);
}
