// An honest "no" with places: SAIL0501 (limits in conflict) or SAIL0502 (memory alone).
#pragma once

#include <string>
#include <vector>

#include "compiler/base/diagnostic.h"
#include "compiler/driver/memory_relief.h"
#include "compiler/passes/pipeline.h"
#include "planner/plan_outcome.h"

namespace sail::driver {

// `relief`: changes after which the job fits (memory_relief.h).
Diagnostic DiagnoseInfeasible(const LoweredJob& job, const planner::Infeasible& infeasible,
                              const std::vector<Relief>& relief = {});

// The same without places, where there is no source: a line for each limit, indented by four.
std::string ConflictText(const ir::Job& job, const planner::Infeasible& infeasible);

}  // namespace sail::driver
