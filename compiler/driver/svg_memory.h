// Memory of the GPUs of each stage as stacked bars.
#pragma once

#include <string>
#include <vector>

#include "compiler/driver/alike_pipelines.h"
#include "compiler/ir/plan.h"
#include "compiler/ir/problem.h"
#include "compiler/ir/report.h"

namespace sail::driver {

// Term i has the class "t<i mod kMemoryColours>".
inline constexpr int kMemoryColours = 12;

// All terms of the report, each once, in the order of their first stage.
std::vector<std::string> MemoryTermNames(const ir::Report& report);

// A bar for each stage of the first pipeline of each group, a box for each term, a mark at the limit; one scale for
// all.
std::string MemoryPicture(const ir::Problem& problem, const ir::Plan& plan, const ir::Report& report,
                          const std::vector<Alike>& groups);

}  // namespace sail::driver
