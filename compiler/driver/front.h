// The plans between the fastest and the cheapest, for people and for programs.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/driver/table.h"
#include "compiler/ir/plan.h"
#include "compiler/ir/problem.h"
#include "compiler/ir/report.h"
#include "planner/front.h"

namespace sail::driver {

// The plans that keep the limits of the job and that no other beats (planner/front.h), judged by the timeline, and the
// plan chosen with its forecast, on the front or not. Ascending in time.
absl::StatusOr<std::vector<ir::FrontPoint>> FindFront(const ir::Problem& problem, const ir::Plan& chosen,
                                                      const ir::Report& report, const planner::FrontProgress& progress);

// A row for each, the chosen one marked. Goodput only where some plan may lose nodes.
Table FrontTable(const std::vector<ir::FrontPoint>& front);

}  // namespace sail::driver
