// The elementary costs of one plan, which closed form and timeline both start from, and the report that both end in.
#pragma once

#include <vector>

#include "compiler/ir/placement.h"
#include "compiler/ir/plan.h"
#include "compiler/ir/problem.h"
#include "compiler/ir/report.h"
#include "simulator/collective_cost.h"
#include "simulator/network.h"
#include "simulator/pipeline_time.h"
#include "simulator/stage_costs.h"
#include "simulator/transfer_cost.h"

namespace sail::sim {

struct Boundary {  // between a stage and the next
  bool same_node = false;
  Hop activation_hop;  // unused on one node; the gradient goes the other way
  Transfer activation;
  Transfer gradient;
};

struct PlanCosts {
  PlanCosts(const StageCosts& stage_costs, const ir::Plan& plan);

  ir::Placement placement;
  Network network;
  std::vector<std::vector<StageTimes>> stages;    // [pipeline][stage]
  std::vector<std::vector<Boundary>> boundaries;  // [pipeline][stage], one less
};

// How long before the end of its last backward a rank has the gradients of a bucket whose lowest layer is `layer`, if
// it overlaps: the backward of the layers before it. Of a tied embedding's bucket the last stage holds only the head.
double GradientLead(const ir::Plan& plan, const PlanCosts& costs, ir::Rank rank, int layer);

// Bytes between different nodes per iteration, [from zone · zones + to zone].
using Traffic = std::vector<double>;
// What the boundaries carry; all-reduces are added by AddAllReduceTraffic.
Traffic BoundaryTraffic(const PlanCosts& costs, const ir::Plan& plan);
void AddAllReduceTraffic(const Network& network, const AllReduce& shape, double bytes, Traffic& traffic);

// When things ended, from either of the two levels.
struct PlanTimes {
  std::vector<PipelineTime> pipelines;
  double iteration = 0;
  double optimizer = 0;  // of the rank that ends the iteration
};

// Times and their parts, memory by term, money, traffic, constraints. busy = micro-batches · stage time + optimizer.
ir::Report MakeReport(const StageCosts& stage_costs, const ir::Plan& plan, const PlanCosts& costs,
                      const PlanTimes& times, const Traffic& traffic);

}  // namespace sail::sim
