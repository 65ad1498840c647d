// The event-driven timeline: plays the instruction lists of all ranks on a clock, with links shared by concurrent
// flows. Where no two flows share a link it agrees with CostModel::Evaluate to kPredictionRelativeTolerance; elsewhere
// it is never faster (docs/cost_model.md §1). It decides between finalists, is what `sailc simulate` shows and what the
// runtime is compared with.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/plan.h"
#include "compiler/ir/problem.h"
#include "compiler/ir/report.h"
#include "simulator/timeline.h"

namespace sail::sim {

// Requires a plan that satisfies VerifyPlanStructure. NotFound naming a profile entry that the plan needs and lacks.
// What happens when is added to `recording` if there is one.
absl::StatusOr<ir::Report> Simulate(const ir::Problem& problem, const ir::Plan& plan, Recording* recording = nullptr);

}  // namespace sail::sim
