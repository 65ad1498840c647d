// A problem in an order that comes from what its pools, zones and regions are, not from what they are called or where
// they are listed: what is searched in it is found under any names and in any order.
//
// Zones: by their pools and links first, then again and again by what they have with zones of which order (colour
// refinement), until nothing tells zones apart. Of zones that are still alike one is put before the others, and what
// follows from that is refined again; which one does not matter where a symmetry of the cluster maps one to the other,
// elsewhere the name decides (it takes at least six zones in regular patterns of links). Then pools: by zone, what a
// block takes on them, and all else but names.
// Cost models reduce gradients around a ring of zones in their order, over the first nodes of each in the order of
// pools. Of up to three zones whose links are alike both ways there is one ring; the order of more zones means
// something, and is kept. FindPlan searches in the order given where the plan found in this one is worth something else
// there.
#pragma once

#include <memory>
#include <vector>

#include "compiler/ir/plan.h"
#include "compiler/ir/problem.h"
#include "simulator/cost_model.h"

namespace sail::planner {

class CanonicalOrder {
 public:
  // The arguments must outlive this. `least_nodes` (PlannerOptions) may be empty. O(zones³ · log + pools · log).
  CanonicalOrder(const ir::Problem& problem, const sim::CostModel& costs, const std::vector<int>& least_nodes);

  bool is_given() const { return order_.empty(); }  // the problem has this order already
  const ir::Problem& problem() const { return is_given() ? given_ : reordered_; }
  const sim::CostModel& costs() const { return is_given() ? given_costs_ : *costs_; }
  const std::vector<int>& least_nodes() const { return least_nodes_; }  // of `problem()`

  // A plan of `problem()` as one of the problem given; canonical.
  ir::Plan Restore(ir::Plan plan) const;

 private:
  const ir::Problem& given_;
  const sim::CostModel& given_costs_;
  std::vector<ir::PoolId> order_;  // of the pools given; empty: as they are
  ir::Problem reordered_;
  std::unique_ptr<sim::CostModel> costs_;
  std::vector<int> least_nodes_;
};

}  // namespace sail::planner
