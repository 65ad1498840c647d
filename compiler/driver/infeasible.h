// An honest "no" with places: SAIL0501 (limits in conflict) or SAIL0502 (memory alone).
#pragma once

#include "compiler/base/diagnostic.h"
#include "compiler/passes/pipeline.h"
#include "planner/plan_outcome.h"

namespace sail::driver {

// The limits that `timeline` breaks, as the planner would name them.
planner::Infeasible BrokenLimits(const ir::Report& timeline, int64_t candidates);

// `searched` is the job as it was searched: limits may be tighter than written, which a note then says.
Diagnostic DiagnoseInfeasible(const LoweredJob& job, const ir::Job& searched, const planner::Infeasible& infeasible);

}  // namespace sail::driver
