// Plans and reports as tables for people. Same values, same text; artefacts are written by ir/print.h, never from here.
#pragma once

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "compiler/ir/plan.h"
#include "compiler/ir/problem.h"
#include "compiler/ir/report.h"
#include "planner/plan_outcome.h"

namespace sail::driver {

// Who runs what, and the forecast on a few lines: what `sailc plan` shows. Pipelines of one shape share their lines.
// `bound`: a line below the forecast, or nothing.
std::string RenderPlan(const ir::Problem& problem, const ir::Plan& plan, const ir::Report& report,
                       absl::string_view bound = "");
// What is proven of the first term of the objective.
std::string RenderBound(const ir::Problem& problem, const std::optional<planner::Certificate>& certificate);

// Parts of an iteration, stages, memory by term, money, limits: what `sailc simulate` shows.
std::string RenderReport(const ir::Problem& problem, const ir::Plan& plan, const ir::Report& report);

}  // namespace sail::driver
