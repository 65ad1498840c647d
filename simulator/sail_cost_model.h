// Sail's own cost model (docs/cost_model.md): the formulas of simulator.md §1–3.
#pragma once

#include <memory>

#include "simulator/cost_model.h"

namespace sail::sim {

// `problem` must outlive the model and have a complete profile (CompleteProfile).
std::unique_ptr<CostModel> MakeSailCostModel(const ir::Problem& problem);

// The same elementary costs, but complete plans are judged on the timeline: slower, and it sees transfers that meet on
// a link.
std::unique_ptr<CostModel> MakeTimelineCostModel(const ir::Problem& problem);

}  // namespace sail::sim
