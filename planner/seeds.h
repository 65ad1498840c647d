// Where refinement starts: mixes over parts of the quotas, and one shape repeated (search.h, step 2).
#pragma once

#include <vector>

#include "planner/draft.h"
#include "planner/judge.h"
#include "planner/pipeline_shapes.h"
#include "planner/stage_table.h"

namespace sail::planner {

// In both layouts where that makes a difference is up to the caller.
std::vector<Draft> MakeSeeds(const StageTable& table, const std::vector<PipelineShape>& shapes,
                                const SearchScope& scope);

}  // namespace sail::planner
