// Which all-reduces a plan needs, computed from runs of equal layers instead of from every gradient group: the search
// judges 10^5 plans. The buckets are those of schedule.h (a test compares them).
#pragma once

#include <functional>
#include <vector>

#include "compiler/ir/placement.h"
#include "compiler/ir/problem.h"
#include "simulator/collective_cost.h"
#include "simulator/network.h"

namespace sail::sim {

struct OwnerSet {
  std::vector<ir::Rank> owners;  // ascending
  AllReduce shape;
  double bytes = 0;  // of all its buckets
};
struct SyncBucket {
  int set = 0;    // index into GradientSync::sets
  int layer = 0;  // the lowest whose gradients it holds
  double bytes = 0;
};
struct GradientSync {
  std::vector<OwnerSet> sets;
  std::vector<SyncBucket> buckets;  // in the order in which they are reduced
};

// The all-reduce of ranks `owners`.
AllReduce AllReduceOver(const Network& network, const std::vector<ir::Rank>& owners);

// Layers that lie in the same stage of every pipeline have the same owners: shard k of T is owned by tensor rank
// floor(k·t/T) of each pipeline, replicated parameters by tensor rank 0, which are the owners of shard 0.
// O(layers · T + runs · T · pipelines).
GradientSync ComputeGradientSync(const ir::Problem& problem, const ir::Plan& plan, const ir::Placement& placement,
                                 const Network& network);

// When each rank has its gradients, given when it has finished its last backward: buckets in order, each from the
// moment the last of its owners has the one before and the gradients, ready(rank, lowest layer); links uncontended.
void AdvanceThroughSync(const GradientSync& sync, const std::function<double(ir::Rank, int)>& ready,
                        std::vector<double>& rank_time);

// A lower bound that contention adds: `earliest[node]` + the time its busiest outgoing link needs for all its buckets.
// Overwrites `earliest`.
void AddCardBound(const Network& network, const GradientSync& sync, std::vector<double>& earliest);

}  // namespace sail::sim
