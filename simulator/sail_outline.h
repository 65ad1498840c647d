// The estimator of our own cost model (outline.h).
#pragma once

#include <memory>

#include "simulator/outline.h"
#include "simulator/stage_costs.h"

namespace sail::sim {

// SyncAtLeast: see sync_bound.h.
// `stage_costs` must outlive the result; its profile has what the outlines need.
std::unique_ptr<OutlineEstimator> MakeSailEstimator(const StageCosts& stage_costs);

}  // namespace sail::sim
