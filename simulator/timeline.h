// Plays the instruction lists of all ranks (schedule.h) on a clock.
//
// The ranks of a tensor group run in step: they compute for the same time, and the slices that they send or receive
// together are one transfer of that many streams. Receives block, sends do not. A bucket's all-reduce starts when its
// last owner has reached it and runs its phases one after the other: inside the nodes, the rings of the zones side by
// side, between the zones. Between nodes, transfers and rings share cards and links (shared_flows.h); links inside a
// node belong to one GPU each and are not shared.
#pragma once

#include <vector>

#include "simulator/collective_cost.h"
#include "simulator/plan_costs.h"
#include "simulator/schedule.h"

namespace sail::sim {

// `reductions[b]` is the all-reduce of buckets[b]. O(events · log events · flows that meet on a link).
PlanTimes PlayTimeline(const ir::Plan& plan, const PlanCosts& costs, const std::vector<Bucket>& buckets,
                       const std::vector<AllReduce>& reductions);

}  // namespace sail::sim
