// The estimator of the published cost model (outline.h; the formulas are those of published_model.h).
#pragma once

#include <memory>

#include "simulator/outline.h"
#include "simulator/public_data.h"
#include "simulator/public_network.h"

namespace sail::sim {

// All must outlive the result. Replicas of a class are neighbours in the ring of all-reduces, classes in order.
//
// SyncAtLeast: of the stages with the most layers the plan's first is one reduction, whole: of as many layers as the
// given stage has or more, anywhere. So the synchronisation takes no less than the least over such layers, over degrees
// and over numbers of pipelines from `replicas` to what the job's GPUs and samples allow, with the fastest pair of
// pools for neighbours. Computed once for all, at the first question: O(layers · pipelines · kinds of links).
std::unique_ptr<OutlineEstimator> MakePublishedEstimator(const ir::Problem& problem, const PublicModel& model,
                                                         const PublicNetwork& network);

}  // namespace sail::sim
