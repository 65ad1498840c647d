// What plans are prepared for: the loss of any one node with work, and of any zone with work.
#pragma once

#include <optional>
#include <vector>

#include "planner/membership.h"

namespace sail::planner {

struct Loss {
  // Any one of these is lost: they play equal parts, so that a plan for the loss of one is, with other names for the
  // other nodes, a plan for the loss of another. Ascending; empty if a zone is lost.
  std::vector<NodeName> nodes;
  std::optional<ir::ZoneId> zone;  // all its nodes
  Membership membership;           // after the loss, of the first of `nodes`
};

// Losses of nodes, in order of their first node, then of zones. Two nodes are found to play equal parts if the plan
// becomes the same when names of nodes are forgotten and that node is marked (planner::Normalize): sound, but parts of
// a plan with many symmetries may be listed apart. O(nodes · GPUs · log).
std::vector<Loss> LossesOf(const ir::Problem& problem, const ir::Plan& plan);

}  // namespace sail::planner
