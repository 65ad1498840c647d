// What an iteration costs as a waterfall: each bar starts where the one above it ends, the last is the sum.
#pragma once

#include <string>

#include "compiler/ir/problem.h"
#include "compiler/ir/report.h"

namespace sail::driver {

// Nodes by pool, then egress by link, the dearest first; items beyond the 20th are one bar. Empty if nothing costs
// anything.
std::string CostPicture(const ir::Problem& problem, const ir::Report& report);

}  // namespace sail::driver
