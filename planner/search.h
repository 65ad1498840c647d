// From shapes to the best plan found within a scope: seeds, climbs, and refinement. Each of the job's choices of
// optimizer sharding is searched by itself (OptimizerState); the budget is divided among them, but each backend, and
// each region or zone that `keep` confines plans to, has it whole.
//
//   1. Shapes of all chains (pipeline_shapes.h).
//   2. Seeds (seeds.h), as drafts: plans whose GPUs have no names yet, judged in microseconds by the estimator of the
//      cost model (simulator/outline.h), also in another layout.
//   3. Large problems: from the best seeds of each set of slots a climb (draft_climber.h); a few of the best optima
//      are placed on nodes, judged as plans and refined (refine.h).
//      Small problems: every seed is placed in every layout, judged and refined: there single GPUs matter, and drafts
//      do not see which stages of different teams share a node.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "planner/judge.h"

namespace sail::planner {

struct SearchResult {
  std::optional<Judged> best;  // may violate limits, see Judged::violation; nullopt if no plan could be formed
  BestPlans good;              // the best of each kind that keep all limits
  int64_t candidates = 0;      // plans judged
};

// `work` is the budget: so many GPUs judged in plans (judge.h), and beside them so many drafts. Deterministic.
absl::StatusOr<SearchResult> Search(const ir::Problem& problem, const sim::CostModel& costs, const SearchScope& scope,
                                    int64_t work);

}  // namespace sail::planner
