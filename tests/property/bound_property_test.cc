// Certificates of our own cost model on tiny problems. Failures print the seed.
#include "simulator/sail_cost_model.h"
#include "tests/property/random_bound_checks.h"

namespace sail::planner {
namespace {

TEST(BoundProperty, HoldsOfTheOptimum) {
  // With those of the published model (published_bound_property_test.cc) at least 2000 that have a plan.
  CheckRandomProblems(10'000, 2060, 1230, kMostPlans, test::Variety::kThreeTypes, "own model");
}

// The timeline is never faster than the closed form.
TEST(BoundProperty, HoldsOfTheTimeline) {
  for (int seed = 30'000; seed < 30'100; ++seed) {
    SCOPED_TRACE(seed);
    const ir::Problem problem = test::RandomProblem(seed, kMostPlans);
    const absl::StatusOr<ExhaustiveResult> oracle = FindPlanExhaustively(problem, *sim::MakeTimelineCostModel(problem));
    ASSERT_TRUE(oracle.ok()) << oracle.status();
    if (!oracle->report) continue;
    const std::optional<Certificate> certificate =
        Bound(problem, *sim::MakeSailCostModel(problem), ScopeOf(problem), *oracle->report, BoundChecks::kWork);
    if (!certificate) continue;
    const ir::ObjectiveTerm& term = problem.job.objective.front();
    const double best = ir::Value(*oracle->report, term.metric);
    EXPECT_TRUE(term.maximize ? certificate->bound >= best * (1 - 1e-9) : certificate->bound <= best * (1 + 1e-9));
  }
}

}  // namespace
}  // namespace sail::planner
