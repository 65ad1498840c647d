// Random sound plans of a problem, to test everything downstream with. Not a baseline: nothing in it is clever.
#pragma once

#include <optional>

#include "compiler/base/rng.h"
#include "compiler/ir/plan.h"
#include "compiler/ir/problem.h"

namespace sail::planner {

// A canonical plan with the structure that ir::VerifyPlanStructure asks for: random depths, cuts, pools, degrees,
// nodes, recomputation, optimizer sharding and shares that add up to the global batch. Memory and constraints are not
// looked at. nullopt if `attempts` draws gave none (few GPUs, or a batch that the micro-batches drawn do not make up).
// Same generator state, same plan.
std::optional<ir::Plan> DrawPlan(const ir::Problem& problem, Rng& rng, int attempts = 100);

}  // namespace sail::planner
