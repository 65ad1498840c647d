// Which node each tensor group lies on.
#pragma once

#include <vector>

#include "compiler/ir/plan.h"
#include "compiler/ir/problem.h"

namespace sail::planner {

// Good layouts pull in opposite directions; the search judges several.
enum class Layout {
  kByPipeline,  // consecutive stages share a node: boundaries are cheap
  kByStage,     // equal stages of different pipelines share a node: few bytes of gradients leave it
  kApart,       // only those: unlike stages have cards of their own
};
inline constexpr Layout kLayouts[] = {Layout::kByPipeline, Layout::kByStage, Layout::kApart};

// Gives every tensor group a node (first fit over nodes in use, then a new one); groups keep their degree, GPUs stay
// unassigned. Where first fit leaves gaps that a later group does not fit into, larger groups go first. False if the
// groups do not fit into `quotas`. O(groups · nodes in use).
bool Place(const ir::Problem& problem, const std::vector<int>& quotas, Layout layout, ir::Plan& plan);

}  // namespace sail::planner
