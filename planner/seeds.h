// Where the search starts.
//   mixes    for every part of the quotas worth trying (each combination of node counts on small problems; each set of
//            kinds of pools, whole and in shares, on large ones) and every class of shapes by layers per GPU, the mix
//            with the least time (mix.h). Limits that are linear in the GPUs (money per second, nodes, GPUs) are rows
//            of the mix, so it never leaves them. Leaving GPUs idle is often best: it saves synchronisation.
//   simple   one shape, 1, 2, 3, … times; on small problems every pair of shapes. The best by time and by money of each
//            class of largest stage, least tensor degree and number of pools filled: these stand in for synchronisation,
//            which rates do not see.
//   relays   one pipeline through several pools of a kind, as often as it fits: gradients stay in a zone.
//   uniform  in every pool as many pipelines as fit, all of one depth, degree and micro-batch.
#pragma once

#include <vector>

#include "planner/draft.h"
#include "planner/judge.h"
#include "planner/pipeline_shapes.h"
#include "planner/stage_table.h"

namespace sail::planner {

// All in the layout by pipeline; folded where pools are merged into kinds (pool_kinds.h).
std::vector<Draft> MakeSeeds(DraftJudge& judge, const std::vector<PipelineShape>& shapes);

}  // namespace sail::planner
