// A plan as an outline (simulator/outline.h), for a first judgement in microseconds.
#pragma once

#include "compiler/ir/plan.h"
#include "simulator/outline.h"

namespace sail::planner {

// The outline whose expansion the plan is, up to the names of nodes and GPUs, if there is one: equal pipelines form a
// class, and as many of its replicas share a node as on the node of the first. Else, such as where unlike pipelines
// share a node, one that differs in that only. O(stages · classes).
sim::PlanOutline OutlineOf(const ir::Plan& plan);

}  // namespace sail::planner
