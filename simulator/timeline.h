// Plays the instruction lists of all ranks (schedule.h) on a clock.
//
// The ranks of a tensor group run in step: they compute for the same time, and the slices that they send or receive
// together are one transfer of that many streams. Receives block, sends do not. A bucket's all-reduce starts when the
// last of its owners has its gradients and is done with the bucket before, and runs its phases one after the other:
// inside the nodes, the rings of the zones side by side, between the zones. Between nodes, transfers and rings share
// cards and links (shared_flows.h); links inside a node belong to one GPU each and are not shared.
#pragma once

#include <vector>

#include "simulator/collective_cost.h"
#include "simulator/plan_costs.h"
#include "simulator/schedule.h"

namespace sail::sim {

// What the ranks play.
struct TimelineInput {
  const ir::Plan& plan;
  const PlanCosts& costs;
  const ir::Trainer& trainer;
  const std::vector<Bucket>& buckets;         // in the order in which they are reduced
  const std::vector<AllReduce>& all_reduces;  // of each bucket
};

// O(events · log events · flows that meet on a link).
PlanTimes PlayTimeline(const TimelineInput& input);

}  // namespace sail::sim
