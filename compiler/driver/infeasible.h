// An honest "no" with places: SAIL0501 (limits in conflict) or SAIL0502 (memory alone).
#pragma once

#include "compiler/base/diagnostic.h"
#include "compiler/passes/pipeline.h"
#include "planner/plan_outcome.h"

namespace sail::driver {

Diagnostic DiagnoseInfeasible(const LoweredJob& job, const planner::Infeasible& infeasible);

}  // namespace sail::driver
