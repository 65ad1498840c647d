// Pipelines of one shape do the same on different nodes: tables and pictures show them once.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "compiler/ir/plan.h"

namespace sail::driver {

// Pipelines with the same micro-batches and, stage by stage, the same layers, pool and degree: ascending indices into
// plan.pipelines, at least one.
using Alike = std::vector<int>;
// In the order of their first pipelines.
std::vector<Alike> GroupAlike(const ir::Plan& plan);

// "0-3,7" of ascending numbers; "0,5,...,90" when there are many ranges.
std::string RangesText(const std::set<int>& numbers);
// "0-3,7"
std::string NumbersText(const Alike& group);
// "pipeline 4", "pipelines 0-3 (4 alike)"
std::string PipelinesText(const Alike& group);

// The first stage report of each pipeline, so that stages of pipeline p are at offset[p] + stage.
std::vector<int> StageOffsets(const ir::Plan& plan);

}  // namespace sail::driver
