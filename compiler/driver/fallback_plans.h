// The plans that `sailc build --fallbacks` puts beside the plan: for the loss of any one node and of any one zone.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/plan_file.h"
#include "runtime/bundle/bundle.h"

namespace sail::driver {

// One for each loss (planner/losses.h), found as `sailc replan` finds it; without a plan file where no plan keeps the
// limits or where the best one is not trained by the runtime.
absl::StatusOr<std::vector<rt::Fallback>> MakeFallbacks(const ir::PlanFile& file);

}  // namespace sail::driver
