// Where the search starts.
//   mixes    for every part of the quotas worth trying (each combination of node counts on small problems; each set of
//            pools, whole and in shares, on large ones) and every class of shapes by layers per GPU, the mix with the
//            least time (mix.h). Limits that are linear in the GPUs (money per second, nodes, GPUs) are rows of the
//            mix, so it never leaves them. Leaving GPUs idle is often best: it saves synchronisation.
//   simple   one shape, 1, 2, 3, … times; on small problems every pair of shapes. The best by time and by money of each
//            class of largest stage and least tensor degree: these stand in for synchronisation, which rates do not
//            see.
//   uniform  in every pool as many pipelines as fit, all of one depth, degree and micro-batch.
#pragma once

#include <vector>

#include "planner/draft.h"
#include "planner/judge.h"
#include "planner/pipeline_shapes.h"
#include "planner/stage_table.h"

namespace sail::planner {

// All in the layout by pipeline.
std::vector<Draft> MakeSeeds(const StageTable& table, const std::vector<PipelineShape>& shapes,
                             const SearchScope& scope);

}  // namespace sail::planner
