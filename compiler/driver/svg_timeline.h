// The iteration as pictures: its parts as one bar, and what each stage does when.
#pragma once

#include <string>
#include <vector>

#include "compiler/driver/alike_pipelines.h"
#include "compiler/ir/plan.h"
#include "compiler/ir/problem.h"
#include "compiler/ir/report.h"
#include "simulator/timeline.h"

namespace sail::driver {

std::string PartsPicture(const ir::Report& report);

// The first of the groups, as many as fit: those whose stages make at most 64 rows, and at least one.
std::vector<Alike> PicturedGroups(const ir::Plan& plan);

// A row for each stage of the first pipeline of each group: what its GPUs compute above, its gradient synchronisation
// below. A stage with more than 400 computations shows those of its steady phase as one.
std::string TimelinePicture(const ir::Problem& problem, const ir::Plan& plan, const ir::Report& report,
                            const sim::Recording& recording, const std::vector<Alike>& groups);

}  // namespace sail::driver
