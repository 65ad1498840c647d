// From shapes to the best plan found within a scope: seeds, their mixes, and refinement.
//
//   1. Shapes of all chains (pipeline_shapes.h).
//   2. Seeds: for every part of the quotas worth trying (each combination of node counts on small problems; each set of
//      pools, whole and in shares, on large ones) and every class of shapes by layers per GPU, the mix with the least
//      time (mix.h); one shape alone, 1, 2, 3, … times; on small problems every pair of shapes. Limits that are linear
//      in the GPUs (money per second, nodes, GPUs) are rows of the mix, so it never leaves them. Leaving GPUs idle is
//      often best: it saves synchronisation. Classes by layers per GPU stand in for synchronisation, which grows with
//      the parameters of the fullest GPU.
//   3. Every seed is placed (on small problems in both layouts) and judged; the best ones are refined (refine.h) until
//      the budget is used up.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "planner/judge.h"

namespace sail::planner {

struct SearchResult {
  std::optional<Judged> best;  // may violate limits, see Judged::violation; nullopt if no plan could be formed
  int64_t candidates = 0;      // plans judged
};

// `work` is the budget in GPUs judged (judge.h). Deterministic.
absl::StatusOr<SearchResult> Search(const ir::Problem& problem, const sim::CostModel& costs, const SearchScope& scope,
                                    int64_t work);

}  // namespace sail::planner
