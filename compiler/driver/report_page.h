// A plan and its forecast as one HTML page that needs nothing else: no script, no font, no picture is fetched.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "compiler/ir/plan_file.h"
#include "compiler/ir/report.h"
#include "simulator/timeline.h"

namespace sail::driver {

// `recording` is of the same simulation as `report`. The same plan, the same bytes.
std::string ReportPage(const ir::PlanFile& file, const ir::Report& report, const sim::Recording& recording);

// The page's style sheet: light and dark by what the reader prefers, light on paper.
absl::string_view ReportStyle();

}  // namespace sail::driver
