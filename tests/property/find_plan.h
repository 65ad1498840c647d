// What the properties of the search share.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "planner/judge.h"
#include "planner/planner.h"
#include "simulator/profiles.h"
#include "simulator/sail_cost_model.h"

namespace sail::planner {

constexpr int64_t kMostPlans = 3'000;
constexpr double kLargestGap = 0.05;
constexpr double kSameValue = 1e-9;  // relative: sums in another order

inline PlanOutcome Find(const ir::Problem& problem, int64_t work = PlannerOptions().work_budget) {
  absl::StatusOr<PlanOutcome> outcome =
      FindPlan(problem, *sim::MakeSailCostModel(problem), {.work_budget = work, .bound_work = 0});
  SAIL_CHECK(outcome.ok()) << outcome.status().ToString();
  return *std::move(outcome);
}

// By how much `a` is worse than `b` in the first term in which they differ; negative if better.
inline double Gap(const ir::Job& job, const ir::Report& a, const ir::Report& b) {
  for (const ir::ObjectiveTerm& term : job.objective) {
    const double x = ir::Value(a, term.metric), y = ir::Value(b, term.metric);
    if (x == y) continue;  // also where there is no share of it: no egress
    const double gap = term.maximize ? y / x - 1 : x / y - 1;
    if (std::abs(gap) > kSameValue) return gap;
  }
  return 0;
}

// Pools, machines, types and zones listed backwards. Their names stay.
inline ir::Problem Backwards(ir::Problem problem) {
  ir::Cluster& cluster = problem.cluster;
  std::reverse(cluster.gpus.begin(), cluster.gpus.end());
  std::reverse(cluster.machines.begin(), cluster.machines.end());
  std::reverse(cluster.zones.begin(), cluster.zones.end());
  std::reverse(cluster.pools.begin(), cluster.pools.end());
  std::reverse(cluster.links.begin(), cluster.links.end());
  for (std::vector<ir::Link>& row : cluster.links) std::reverse(row.begin(), row.end());
  const auto mirrored = [](int index, size_t count) { return static_cast<int>(count) - 1 - index; };
  for (ir::Machine& machine : cluster.machines) {
    machine.gpu = ir::GpuId(mirrored(machine.gpu.index(), cluster.gpus.size()));
  }
  for (ir::Pool& pool : cluster.pools) {
    pool.machine = ir::MachineId(mirrored(pool.machine.index(), cluster.machines.size()));
    pool.zone = ir::ZoneId(mirrored(pool.zone.index(), cluster.zones.size()));
  }
  problem.profile = {};
  const absl::Status status = sim::CompleteProfile(problem);
  SAIL_CHECK(status.ok()) << status.ToString();
  return problem;
}

// The plan of a problem as one of the same problem backwards.
inline ir::Plan Backwards(ir::Plan plan, const ir::Cluster& cluster) {
  const int pools = static_cast<int>(cluster.pools.size());
  for (ir::Pipeline& pipeline : plan.pipelines) {
    for (ir::Stage& stage : pipeline.stages) stage.group.pool = ir::PoolId(pools - 1 - stage.group.pool.index());
  }
  Normalize(plan);
  return plan;
}

// Renames all that has a name.
inline ir::Problem Renamed(ir::Problem problem) {
  ir::Cluster& cluster = problem.cluster;
  const auto rename = [](auto& named, const char* letter) {
    for (size_t i = 0; i < named.size(); ++i) named[i].name = letter + std::to_string(named.size() - i);
  };
  rename(cluster.gpus, "g");
  rename(cluster.machines, "m");
  rename(cluster.zones, "z");
  rename(cluster.pools, "p");
  return problem;
}

// Whether two problems have plans of the same value, or neither has one.
inline void ExpectAlike(const ir::Job& job, const PlanOutcome& a, const PlanOutcome& b) {
  ASSERT_EQ(a.index(), b.index());
  if (!std::holds_alternative<Feasible>(a)) return;
  EXPECT_EQ(Gap(job, std::get<Feasible>(a).report, std::get<Feasible>(b).report), 0);
}

}  // namespace sail::planner
