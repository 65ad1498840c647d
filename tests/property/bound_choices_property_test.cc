// Certificates where jobs may recompute and shard the optimizer, nodes may be taken away and money is the objective.
// Failures print the seed.
#include "tests/property/random_bound_checks.h"

namespace sail::planner {
namespace {

TEST(BoundProperty, HoldsOverRecomputationZero1AndPreemptions) {
  CheckRandomProblems(20'000, 30, 15, 3'000, test::Variety::kChoices, "choices");
}

}  // namespace
}  // namespace sail::planner
