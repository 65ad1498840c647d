// Which pipelines of a plan are equal, and the plan as an outline (simulator/outline.h), for a first judgement in
// microseconds.
#pragma once

#include "compiler/ir/plan.h"
#include "simulator/outline.h"

namespace sail::planner {

bool IsSameNode(const ir::TensorGroup& a, const ir::TensorGroup& b);
// Whether stages s and s + 1 share a node; false for the last stage.
bool HasNextOnNode(const ir::Pipeline& pipeline, size_t s);

// Whether the pipelines are equal but for nodes and the number of micro-batches.
bool IsAlike(const ir::Pipeline& a, const ir::Pipeline& b);
// The same, and in both the same neighbouring stages share a node.
bool IsPlacedAlike(const ir::Pipeline& a, const ir::Pipeline& b);

// The outline whose expansion the plan is, up to the names of nodes and GPUs, if there is one: equal pipelines form a
// class, and as many of its replicas share a node as on the node of the first. Else, such as where unlike pipelines
// share a node, one that differs in that only. O(stages · classes).
sim::PlanOutline OutlineOf(const ir::Plan& plan);

}  // namespace sail::planner
