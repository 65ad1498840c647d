// Money and limits (docs/cost_model.md §6).
#pragma once

#include "compiler/ir/placement.h"
#include "compiler/ir/problem.h"
#include "compiler/ir/report.h"
#include "simulator/network.h"

namespace sail::sim {

// Fills pools, traffic, nodes and cost_per_iteration from report.iteration and the bytes of `zone_bytes`
// ([from zone · zones + to zone]): whole nodes are paid, however few of their GPUs work, and every byte over a link
// with an egress price.
void AddMoney(const Network& network, const std::vector<double>& zone_bytes, ir::Report& report);

// One row per constraint of the job. A limit is exceeded only beyond kLimitRelativeTolerance.
void AddConstraints(const ir::Job& job, ir::Report& report);

}  // namespace sail::sim
