#include "planner/plan_outline.h"

#include <gtest/gtest.h>

#include "compiler/base/rng.h"
#include "tests/support/random_outline.h"
#include "tests/unit/planner/fake_cost_model.h"

namespace sail::planner {
namespace {

// What an outline expands to has it as its outline, unless two of its classes are alike.
TEST(OutlineOf, IsTheInverseOfExpand) {
  Rng rng(5);
  int compared = 0;
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE(round);
    ir::Problem problem = test::FakeProblem(6, {{.gpus_per_node = 4}, {.gpus_per_node = 2}}, 8);
    problem.job.tensor_degrees = {1, 2};
    problem.job.pipeline_depths = {1, 2, 3, 4, 6};
    const sim::PlanOutline outline = test::RandomOutline(problem, /*most_replicas=*/7, rng);
    const absl::StatusOr<ir::Plan> plan = sim::Expand(outline, problem);
    ASSERT_TRUE(plan.ok()) << plan.status();
    const sim::PlanOutline found = OutlineOf(*plan);
    if (found.classes.size() < outline.classes.size()) continue;
    ++compared;
    const absl::StatusOr<ir::Plan> again = sim::Expand(found, problem);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(*again, *plan);
  }
  EXPECT_GT(compared, 100);
}

}  // namespace
}  // namespace sail::planner
