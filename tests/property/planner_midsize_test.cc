// What must hold of the search where no exhaustive planner can follow. Failures print the seed: test::MidsizeProblem is
// the problem. The search is a heuristic: on a richer or a reordered problem it sometimes ends in another optimum,
// which is bounded here in how often and in how far.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <utility>

#include "compiler/base/tolerance.h"
#include "compiler/ir/verify_plan.h"
#include "planner/planner.h"
#include "simulator/profiles.h"
#include "simulator/sail_cost_model.h"
#include "tests/support/midsize_problem.h"

namespace sail::planner {
namespace {

constexpr int kInstances = 1'000;
constexpr int64_t kBriefWork = 1'000;  // far below the default: a thousand searches in a minute
constexpr double kSameValue = 1e-9;    // relative: sums in another order
// What is compared: fewer instances, searched for longer, from kFirstCompared on.
constexpr int kFirstCompared = 10'000;
constexpr int kCompared = 40;
constexpr int64_t kWork = 20'000;
// Measured of 37 that have a plan: 2 worse with a node more, 6 with a zone more, none with more memory or bandwidth,
// and 6 that differ backwards, by at most 11 %.
constexpr double kMostWorse = 0.25;
constexpr double kLargestGap = 0.2;

PlanOutcome Find(const ir::Problem& problem, int64_t work) {
  absl::StatusOr<PlanOutcome> outcome =
      FindPlan(problem, *sim::MakeSailCostModel(problem), {.work_budget = work, .bound_work = 0});
  SAIL_CHECK(outcome.ok()) << outcome.status().ToString();
  return *std::move(outcome);
}

struct Instance {
  ir::Problem problem;
  PlanOutcome outcome;
  const Feasible* found() const { return std::get_if<Feasible>(&outcome); }
};

// Searched once, whichever tests run.
const Instance& InstanceOf(int seed) {
  static std::map<int, Instance>& known = *new std::map<int, Instance>;
  const auto it = known.find(seed);
  if (it != known.end()) return it->second;
  ir::Problem problem = test::MidsizeProblem(seed);
  PlanOutcome outcome = Find(problem, seed < kFirstCompared ? kBriefWork : kWork);
  return known.insert({seed, {std::move(problem), std::move(outcome)}}).first->second;
}

// By how much `a` is worse than `b` in the first term in which they differ; negative if better.
double Gap(const ir::Job& job, const ir::Report& a, const ir::Report& b) {
  for (const ir::ObjectiveTerm& term : job.objective) {
    const double x = ir::Value(a, term.metric), y = ir::Value(b, term.metric);
    if (x == y) continue;  // also where there is no share of it: no egress
    const double gap = term.maximize ? y / x - 1 : x / y - 1;
    if (std::abs(gap) > kSameValue) return gap;
  }
  return 0;
}

TEST(MidsizeProperty, PlansAreSoundAndKeepEveryLimit) {
  int feasible = 0, limits = 0;
  for (int seed = 0; seed < kInstances; ++seed) {
    SCOPED_TRACE(seed);
    const Instance& instance = InstanceOf(seed);
    const Feasible* found = instance.found();
    if (found == nullptr) {
      EXPECT_FALSE(std::get<Infeasible>(instance.outcome).limits.empty());
      continue;
    }
    ++feasible;
    const ir::Problem& problem = instance.problem;
    const absl::StatusOr<ir::Report> report = sim::MakeSailCostModel(problem)->Evaluate(found->plan);
    ASSERT_TRUE(report.ok());
    EXPECT_EQ(*report, found->report);
    const absl::Status verified = ir::VerifyPlan(problem, found->plan, *report);
    EXPECT_TRUE(verified.ok()) << verified;
    ASSERT_EQ(report->constraints.size(), problem.job.constraints.size());
    for (const ir::Constraint& limit : problem.job.constraints) {
      const double value = ir::Value(*report, limit.metric);
      const double rounding = kLimitRelativeTolerance * std::abs(limit.limit);
      EXPECT_TRUE(limit.at_most ? value <= limit.limit + rounding : value >= limit.limit - rounding) << limit.name;
      ++limits;
    }
  }
  std::cout << feasible << " of " << kInstances << " have a plan, within " << limits << " limits\n";
  EXPECT_GE(feasible, kInstances / 2);  // the generator draws both kinds
  EXPECT_LE(feasible, kInstances - kInstances / 20);
}

// Compares instances with what `change` makes of them: no worse, but for the few that kMostWorse allows.
void ExpectNoWorse(const std::function<void(ir::Problem&, Rng&)>& change, bool also_no_better = false) {
  int compared = 0, worse = 0;
  double largest = 0;
  for (int seed = kFirstCompared; seed < kFirstCompared + kCompared; ++seed) {
    SCOPED_TRACE(seed);
    const Instance& instance = InstanceOf(seed);
    if (instance.found() == nullptr) continue;
    ir::Problem changed = instance.problem;
    Rng rng(seed);
    change(changed, rng);
    const PlanOutcome outcome = Find(changed, kWork);
    ++compared;
    const auto* found = std::get_if<Feasible>(&outcome);
    EXPECT_NE(found, nullptr) << "no plan any more";
    if (found == nullptr) continue;
    const double gap = Gap(changed.job, found->report, instance.found()->report);
    const double excess = also_no_better ? std::abs(gap) : gap;
    worse += excess > 0 ? 1 : 0;
    largest = std::max(largest, excess);
  }
  std::cout << worse << " of " << compared << (also_no_better ? " differ" : " are worse") << ", by at most " << largest
            << "\n";
  EXPECT_LE(worse, kMostWorse * compared);
  EXPECT_LE(largest, kLargestGap);
}

void CompleteProfileAnew(ir::Problem& problem) {
  problem.profile = {};
  const absl::Status status = sim::CompleteProfile(problem);
  SAIL_CHECK(status.ok()) << status.ToString();
}

TEST(MidsizeProperty, ANodeMoreDoesNotHurt) {
  ExpectNoWorse([](ir::Problem& problem, Rng& rng) {
    std::vector<ir::Pool>& pools = problem.cluster.pools;
    ++pools[rng.Below(static_cast<int64_t>(pools.size()))].quota;
  });
}

TEST(MidsizeProperty, AZoneMoreDoesNotHurt) {
  ExpectNoWorse([](ir::Problem& problem, Rng& rng) {
    ir::Cluster& cluster = problem.cluster;
    test::AddMidsizeZone(rng, cluster);
    ir::Pool pool = test::PickOne(cluster.pools, rng);
    pool.name = "pz";
    pool.zone = ir::ZoneId(static_cast<int>(cluster.zones.size()) - 1);
    cluster.pools.push_back(std::move(pool));
  });
}

TEST(MidsizeProperty, MoreMemoryDoesNotHurt) {
  ExpectNoWorse([](ir::Problem& problem, Rng& /*rng*/) {
    for (ir::Gpu& gpu : problem.cluster.gpus) gpu.memory = gpu.memory * 2;
  });
}

TEST(MidsizeProperty, MoreBandwidthDoesNotHurt) {
  ExpectNoWorse([](ir::Problem& problem, Rng& /*rng*/) {
    for (std::vector<ir::Link>& row : problem.cluster.links) {
      for (ir::Link& link : row) link.bandwidth = link.bandwidth * 2;
    }
    for (ir::Machine& machine : problem.cluster.machines) {
      machine.intra_node = machine.intra_node * 2;
      if (machine.nic) machine.nic = *machine.nic * 2;
    }
    CompleteProfileAnew(problem);
  });
}

// The same cluster with all that it lists backwards, under other names.
TEST(MidsizeProperty, OrderChangesNothing) {
  const auto backwards = [](ir::Problem& problem, Rng& /*rng*/) {
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
    for (size_t p = 0; p < cluster.pools.size(); ++p) {
      ir::Pool& pool = cluster.pools[p];
      pool.name = "q" + std::to_string(p);
      pool.machine = ir::MachineId(mirrored(pool.machine.index(), cluster.machines.size()));
      pool.zone = ir::ZoneId(mirrored(pool.zone.index(), cluster.zones.size()));
    }
    CompleteProfileAnew(problem);
  };
  ExpectNoWorse(backwards, /*also_no_better=*/true);
}

// Two searches, the second under other names.
TEST(MidsizeProperty, TwoRunsUnderAnyNamesGiveOnePlan) {
  for (int seed = kFirstCompared; seed < kFirstCompared + kCompared; ++seed) {
    SCOPED_TRACE(seed);
    const Instance& instance = InstanceOf(seed);
    ir::Problem renamed = instance.problem;
    for (ir::Gpu& gpu : renamed.cluster.gpus) gpu.name = "x" + gpu.name;
    for (ir::Pool& pool : renamed.cluster.pools) pool.name = "x" + pool.name;
    CompleteProfileAnew(renamed);
    const PlanOutcome outcome = Find(renamed, kWork);
    ASSERT_EQ(outcome.index(), instance.outcome.index());
    if (instance.found() == nullptr) continue;
    EXPECT_EQ(std::get<Feasible>(outcome).plan, instance.found()->plan);
    EXPECT_EQ(std::get<Feasible>(outcome).report, instance.found()->report);
  }
}

TEST(MidsizeProperty, TighterLimitsStayInfeasible) {
  int checked = 0;
  for (int seed = 0; seed < kInstances / 3; ++seed) {
    SCOPED_TRACE(seed);
    ir::Problem problem = InstanceOf(seed).problem;
    if (InstanceOf(seed).found() != nullptr) continue;
    for (ir::Constraint& limit : problem.job.constraints) limit.limit *= limit.at_most ? 0.9 : 1.1;
    problem.job.memory_limit *= 0.9;
    EXPECT_TRUE(std::holds_alternative<Infeasible>(Find(problem, kBriefWork)));
    ++checked;
  }
  EXPECT_GE(checked, 10);
}

}  // namespace
}  // namespace sail::planner
