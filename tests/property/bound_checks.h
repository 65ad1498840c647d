// The search and its certificate against the exhaustive planner, one problem at a time.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <string>
#include <vector>

#include "planner/bound.h"
#include "planner/exhaustive_planner.h"
#include "planner/planner.h"

namespace sail::planner {

class BoundChecks {
 public:
  // Enough for problems as small as these.
  static constexpr int64_t kSearchWork = 10'000;
  static constexpr int64_t kWork = 1'000'000;
  // The plan's certificate holds of the optimum, and so does one made from a worse plan. Passes over problems without a
  // plan.
  void Check(const ir::Problem& problem, const sim::CostModel& costs) {
    const absl::StatusOr<ExhaustiveResult> oracle = FindPlanExhaustively(problem, costs);
    ASSERT_TRUE(oracle.ok()) << oracle.status();
    if (!oracle->plan) return;
    ++instances_;
    const absl::StatusOr<PlanOutcome> outcome =
        FindPlan(problem, costs, {.work_budget = kSearchWork, .bound_work = kWork});
    ASSERT_TRUE(outcome.ok()) << outcome.status();
    const auto* found = std::get_if<Feasible>(&*outcome);
    ASSERT_NE(found, nullptr);
    const ir::ObjectiveTerm& term = problem.job.objective.front();
    const double value = ir::Value(found->report, term.metric);
    const double best = ir::Value(*oracle->report, term.metric);
    if (std::abs(value - best) <= kSameValue * std::abs(best)) ++equal_;
    if (!found->certificate) {
      if (!IsUnbounded(term.metric)) ++without_;
      return;
    }
    ++certified_;
    ExpectHolds(*found->certificate, term, best);
    EXPECT_NEAR(found->certificate->gap, GapTo(found->certificate->bound, term, value), kSameValue);
    // What can be improved is within the gap.
    if (best > 0) {
      const double missing = term.maximize ? 1 - value / best : 1 - best / value;
      EXPECT_LE(missing, found->certificate->gap + kSameValue);
    }
    // A worse plan does not make the claim bolder.
    ir::Report worse = *oracle->report;
    worse.iteration = worse.iteration * 2;
    worse.samples_per_second /= 2;
    worse.tokens_per_second /= 2;
    worse.cost_per_iteration = worse.cost_per_iteration * 2;
    const std::optional<Certificate> again = Bound(problem, costs, ScopeOf(problem), worse, kWork);
    if (again) ExpectHolds(*again, term, best);
    gaps_.push_back(found->certificate->gap);
  }

  // Prints and expects `least_equal` of the plans to be optimal.
  void Finish(const std::string& name, double least_equal, int least_instances) {
    std::sort(gaps_.begin(), gaps_.end());
    std::cout << name << ": " << equal_ << " of " << instances_ << " plans equal the optimum; " << certified_
              << " certificates (" << without_ << " missing), gaps: median " << gaps_[gaps_.size() / 2]
              << ", ninth tenth " << gaps_[gaps_.size() * 9 / 10] << ", largest " << gaps_.back() << "\n";
    EXPECT_GE(equal_, least_equal * instances_);
    EXPECT_GE(instances_, least_instances);
    EXPECT_GE(certified_, least_instances / 2);
    // Where money is the objective the work may be used up before anything is proven.
    EXPECT_LE(without_, instances_ / 20);
  }

 private:
  static constexpr double kSameValue = 1e-9;  // relative: sums in another order

  static void ExpectHolds(const Certificate& certificate, const ir::ObjectiveTerm& term, double best) {
    if (term.maximize) {
      EXPECT_GE(certificate.bound, best * (1 - kSameValue)) << ir::ToString(term.metric);
    } else {
      EXPECT_LE(certificate.bound, best * (1 + kSameValue)) << ir::ToString(term.metric);
    }
  }

  static bool IsUnbounded(ir::Metric metric) {
    return metric == ir::Metric::kNodes || metric == ir::Metric::kEgressCost || metric == ir::Metric::kEgressPerIter;
  }

  int instances_ = 0;
  int equal_ = 0;
  int certified_ = 0;
  int without_ = 0;  // a certificate, though one was hoped for
  std::vector<double> gaps_;
};

}  // namespace sail::planner
