// Where refinement starts: mixes over parts of the quotas, and one shape repeated (search.h, step 2).
#pragma once

#include <vector>

#include "compiler/ir/plan.h"
#include "planner/judge.h"
#include "planner/pipeline_shapes.h"
#include "planner/stage_table.h"

namespace sail::planner {

// Plans without nodes; samples are shared.
std::vector<ir::Plan> MakeSeeds(const StageTable& table, const std::vector<PipelineShape>& shapes,
                                const SearchScope& scope);

}  // namespace sail::planner
