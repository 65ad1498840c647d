// Time and quality of re-planning: 512 GPUs, 64 nodes of 8, of which 9 are lost. replan_speed prints a JSON list with,
// for each cluster, milliseconds of the fast path and of planning from scratch (the best of several runs), the bytes to
// move and the predicted seconds of an iteration of both, and what dropping the broken pipelines would take.
#include <algorithm>
#include <chrono>
#include <iostream>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/base/json.h"
#include "planner/assign_nodes.h"
#include "planner/replan.h"
#include "simulator/profiles.h"
#include "simulator/sail_cost_model.h"
#include "tests/bench/gpt_neo.h"

namespace {

using namespace sail;  // NOLINT

constexpr int kLost = 9;  // of 64 nodes
constexpr int kRepetitions = 5;

struct Case {
  const char* name;
  std::vector<int> nodes;  // of A100_40, then of V100_16
  double lifetime_hours;   // mean, of a spot node; 0: the nodes stay
};

const Case kCases[] = {
    {"64 x 8 A100", {64}, 0},
    {"64 x 8 A100, spot", {64}, 12},
    {"16 x 8 A100 + 48 x 8 V100", {16, 48}, 0},
    {"16 x 8 A100 + 48 x 8 V100, spot", {16, 48}, 12},
};

ir::Problem ProblemOf(const Case& c) {
  ir::Problem problem;
  problem.model = bench::GptNeo();
  ir::Job& job = problem.job;
  job.name = "replan";
  job.global_batch = 2048;
  job.micro_batches = {1, 2, 4, 8};
  job.tensor_degrees = {1, 2, 4, 8};
  for (int depth = 1; depth <= 16; ++depth) job.pipeline_depths.push_back(depth);
  job.precision = ir::Precision::kFp16;
  job.objective = {{.metric = ir::Metric::kThroughput}};
  ir::Cluster& cluster = problem.cluster;
  cluster.gpus = {{.name = "A100_40",
                   .memory = Bytes(int64_t{40} << 30),
                   .peak_fp16 = FlopsPerSecond(312e12),
                   .memory_bandwidth = BytesPerSecond(1555e9)},
                  {.name = "V100_16",
                   .memory = Bytes(int64_t{16} << 30),
                   .peak_fp16 = FlopsPerSecond(125e12),
                   .memory_bandwidth = BytesPerSecond(900e9)}};
  cluster.regions = {"r"};
  cluster.zones = {{.name = "z", .region = ir::RegionId(0)}};
  for (size_t p = 0; p < c.nodes.size(); ++p) {
    cluster.machines.push_back({.name = cluster.gpus[p].name + "x8",
                                .gpu = ir::GpuId(static_cast<int>(p)),
                                .gpus_per_node = 8,
                                .intra_node = BytesPerSecond(p == 0 ? 300e9 : 150e9),
                                .nic = BytesPerSecond(p == 0 ? 12.5e9 : 4e9)});
    cluster.pools.push_back({.name = p == 0 ? "a" : "b",
                             .zone = ir::ZoneId(0),
                             .machine = ir::MachineId(static_cast<int>(p)),
                             .market = c.lifetime_hours > 0 ? ir::Market::kSpot : ir::Market::kOnDemand,
                             .quota = c.nodes[p],
                             .price = UsdPerHour(p == 0 ? 30 : 23)});
    if (c.lifetime_hours > 0) cluster.pools.back().mean_lifetime = Seconds(3600 * c.lifetime_hours);
  }
  cluster.links = {{{.bandwidth = BytesPerSecond(12.5e9), .latency = Seconds(30e-6)}}};
  const absl::Status status = sim::CompleteProfile(problem);
  SAIL_CHECK(status.ok()) << status.ToString();
  return problem;
}

// Every seventh node of all pools in a row.
planner::Membership LoseNine(const ir::Problem& problem) {
  planner::Membership membership;
  for (const ir::Pool& pool : problem.cluster.pools) membership.nodes.push_back(pool.quota);
  for (int i = 0; i < kLost; ++i) {
    int node = 7 * i, pool = 0;
    while (node >= problem.cluster.pools[pool].quota) node -= problem.cluster.pools[pool++].quota;
    membership.lost.push_back({.pool = ir::PoolId(pool), .node = node});
    --membership.nodes[pool];
  }
  return membership;
}

template <class Do>
double BestMilliseconds(int repetitions, Do action) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < repetitions; ++i) {
    const auto start = std::chrono::steady_clock::now();
    action();
    best = std::min(best, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

Json ToJson(const planner::NextPlan& next) {
  return {{"move_bytes", next.movement.bytes},        {"checkpoint_bytes", next.movement.checkpoint_bytes},
          {"move_s", next.movement.seconds.value()},  {"stages_kept", next.movement.stages_kept},
          {"stages", next.movement.stages},           {"iteration_s", next.report.iteration.value()},
          {"with_movement_s", next.iteration.value()}};
}

Json Measure(const Case& c) {
  const ir::Problem problem = ProblemOf(c);
  const auto found = planner::FindPlan(problem, *sim::MakeSailCostModel(problem), {});
  SAIL_CHECK(found.ok() && std::holds_alternative<planner::Feasible>(*found));
  const auto& previous = std::get<planner::Feasible>(*found);
  const auto change = planner::ApplyMembership(problem, previous.plan, LoseNine(problem));
  SAIL_CHECK(change.ok()) << change.status().ToString();
  const auto replan = [&](const planner::ReplanOptions& options) {
    // The cost model is part of what a running job would have to make.
    const auto outcome = planner::Replan(*change, *sim::MakeSailCostModel(change->problem), options);
    SAIL_CHECK(outcome.ok()) << outcome.status().ToString();
    SAIL_CHECK(std::holds_alternative<planner::Replanned>(*outcome)) << "no plan was found";
    return std::get<planner::Replanned>(*outcome);
  };
  planner::Replanned fast;
  const double fast_ms = BestMilliseconds(kRepetitions, [&] { fast = replan({}); });
  const planner::Replanned full = replan({.search = planner::PlannerOptions()});
  const double scratch_ms = BestMilliseconds(
      1, [&] { SAIL_CHECK(planner::FindPlan(change->problem, *sim::MakeSailCostModel(change->problem), {}).ok()); });
  return {{"cluster", c.name},
          {"gpus", 512},
          {"lost_nodes", kLost},
          {"previous_iteration_s", previous.report.iteration.value()},
          {"replan_ms", fast_ms},
          {"candidates", fast.candidates},
          {"replan", ToJson(fast.next)},
          {"from_scratch_ms", scratch_ms},
          {"from_scratch", ToJson(*full.from_scratch)}};
}

}  // namespace

int main() {
  Json rows = Json::array();
  for (const Case& c : kCases) rows.push_back(Measure(c));
  std::cout << DumpJson(rows);
  return 0;
}
