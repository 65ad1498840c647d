// What must hold of the search where no exhaustive planner can follow. Failures print the seed: test::MidsizeProblem is
// the problem. The search is a heuristic: on a richer problem it sometimes ends in another optimum, which is bounded
// here in how often and in how far.
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
#include "simulator/profiles.h"
#include "simulator/sail_cost_model.h"
#include "tests/property/find_plan.h"
#include "tests/support/midsize_problem.h"

namespace sail::planner {
namespace {

constexpr int kInstances = 1'000;
constexpr int64_t kBriefWork = 1'000;  // far below the default: a thousand searches in a minute
constexpr int kReordered = 100;
// What is compared with richer problems: fewer instances, searched as long as any job, from kFirstCompared on.
constexpr int kFirstCompared = 10'000;
constexpr int kCompared = 40;
// Measured of 37 that have a plan: 2 worse with a node more, 3 with a zone more, one of these by 38 %, none with more
// memory or bandwidth.
constexpr double kMostWorse = 0.1;
constexpr double kMostWorseBy = 0.5;

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
  PlanOutcome outcome = seed < kFirstCompared ? Find(problem, kBriefWork) : Find(problem);
  return known.insert({seed, {std::move(problem), std::move(outcome)}}).first->second;
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
void ExpectNoWorse(const std::function<void(ir::Problem&, Rng&)>& change) {
  int compared = 0, worse = 0;
  double largest = 0;
  for (int seed = kFirstCompared; seed < kFirstCompared + kCompared; ++seed) {
    SCOPED_TRACE(seed);
    const Instance& instance = InstanceOf(seed);
    if (instance.found() == nullptr) continue;
    ir::Problem changed = instance.problem;
    Rng rng(seed);
    change(changed, rng);
    const PlanOutcome outcome = Find(changed);
    const auto* found = std::get_if<Feasible>(&outcome);
    ASSERT_NE(found, nullptr) << "no plan any more";
    const double gap = Gap(changed.job, found->report, instance.found()->report);
    ++compared;
    worse += gap > 0 ? 1 : 0;
    largest = std::max(largest, gap);
  }
  std::cout << worse << " of " << compared << " are worse, by at most " << largest << "\n";
  EXPECT_LE(worse, kMostWorse * compared);
  EXPECT_LE(largest, kMostWorseBy);
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

// By construction (planner/canonical_order.h), so a brief search shows it. Backwards it is the same plan, too: the
// names, which decide between pools that are alike, stay.
TEST(MidsizeProperty, OrderAndNamesChangeNothing) {
  for (int seed = 0; seed < kReordered; ++seed) {
    SCOPED_TRACE(seed);
    const Instance& instance = InstanceOf(seed);
    ExpectAlike(instance.problem.job, instance.outcome, Find(Renamed(instance.problem), kBriefWork));
    const PlanOutcome backwards = Find(Backwards(instance.problem), kBriefWork);
    ExpectAlike(instance.problem.job, instance.outcome, backwards);
    if (HasFatalFailure()) return;
    if (instance.found() == nullptr) continue;
    EXPECT_EQ(std::get<Feasible>(backwards).plan, Backwards(instance.found()->plan, instance.problem.cluster));
  }
}

TEST(MidsizeProperty, TwoRunsGiveOnePlan) {
  for (int seed = kFirstCompared; seed < kFirstCompared + kCompared; ++seed) {
    SCOPED_TRACE(seed);
    const ir::Problem problem = test::MidsizeProblem(seed);
    const PlanOutcome a = Find(problem, kBriefWork), b = Find(problem, kBriefWork);
    ASSERT_EQ(a.index(), b.index());
    if (!std::holds_alternative<Feasible>(a)) continue;
    EXPECT_EQ(std::get<Feasible>(a).plan, std::get<Feasible>(b).plan);
    EXPECT_EQ(std::get<Feasible>(a).report, std::get<Feasible>(b).report);
  }
}

TEST(MidsizeProperty, TighterLimitsStayInfeasible) {
  int checked = 0;
  for (int seed = 0; seed < kInstances / 5; ++seed) {
    SCOPED_TRACE(seed);
    ir::Problem problem = InstanceOf(seed).problem;
    if (InstanceOf(seed).found() != nullptr) continue;
    if (std::holds_alternative<Feasible>(Find(problem))) continue;  // which the brief search did not find
    for (ir::Constraint& limit : problem.job.constraints) limit.limit *= limit.at_most ? 0.9 : 1.1;
    problem.job.memory_limit *= 0.9;
    EXPECT_TRUE(std::holds_alternative<Infeasible>(Find(problem)));
    ++checked;
  }
  EXPECT_GE(checked, 10);
}

}  // namespace
}  // namespace sail::planner
