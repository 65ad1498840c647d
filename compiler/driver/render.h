// Plans and reports as tables for people. Same values, same text; artefacts are written by ir/print.h, never from here.
#pragma once

#include <string>

#include "compiler/ir/plan.h"
#include "compiler/ir/problem.h"
#include "compiler/ir/report.h"

namespace sail::driver {

// Who runs what, and the forecast on a few lines: what `sailc plan` shows. Pipelines of one shape share their lines.
std::string RenderPlan(const ir::Problem& problem, const ir::Plan& plan, const ir::Report& report);

// Parts of an iteration, stages, memory by term, money, limits: what `sailc simulate` shows.
std::string RenderReport(const ir::Problem& problem, const ir::Plan& plan, const ir::Report& report);

}  // namespace sail::driver
