// A plan in the terms of the search over drafts (draft.h), and the shapes that are near it.
#pragma once

#include <vector>

#include "planner/draft.h"

namespace sail::planner {

// The pipeline as a team of one. Its micro-batch size and the slots of its stages are in the table.
Team TeamOf(const StageTable& table, const ir::Pipeline& pipeline);

// Teams of equal pipelines, in order of first use.
Draft DraftOf(const StageTable& table, const ir::Plan& plan);

// Chains of one slot of the plan's stages, at any micro-batch size of the job and any depth up to one more than the
// plan's deepest, cut for the least bottleneck. All shapes (GenerateShapes) take a hundred times as long.
std::vector<PipelineShape> NearShapes(const StageTable& table, const ir::Plan& plan);

}  // namespace sail::planner
