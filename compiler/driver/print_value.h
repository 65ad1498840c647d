// --print: every intermediate value of a compilation as text.
#pragma once

#include <string>

#include "compiler/base/json.h"
#include "compiler/driver/compilation.h"
#include "compiler/driver/options.h"
#include "compiler/passes/pipeline.h"

namespace sail::driver {

// ast: one tree; job, cluster, model: one canonical JSON document per job in source order; otherwise empty.
std::string PrintSpec(const CheckedSpec& spec, Print print);
// The same of one job.
std::string PrintJob(const LoweredJob& job, Print print);
Json ToJson(const planner::Certificate& certificate);
// plan, report: one canonical JSON document; otherwise empty.
std::string PrintPlanned(const ir::Problem& problem, const PlannedJob& planned, Print print);

}  // namespace sail::driver
