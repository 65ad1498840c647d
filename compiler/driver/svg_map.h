// Where the plan runs: zones as boxes inside their regions, side by side, and the bytes that cross between them.
#pragma once

#include <string>

#include "compiler/ir/problem.h"
#include "compiler/ir/report.h"

namespace sail::driver {

// Arcs to the right are above the boxes, arcs to the left below; each with bytes per iteration and the price of the
// link. Zones that the plan does not use are shown while there are at most 8.
std::string MapPicture(const ir::Problem& problem, const ir::Report& report);

}  // namespace sail::driver
