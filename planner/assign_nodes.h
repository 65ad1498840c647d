// Which node plays which part of a plan: nodes of a pool are equal but for the state they hold.
#pragma once

#include <vector>

#include "compiler/ir/plan.h"
#include "planner/movement.h"

namespace sail::planner {

// The assignment of each row to a column of its own with the least sum of costs; no more rows than columns. Shortest
// augmenting paths (Kuhn 1955; Jonker & Volgenant 1987): O(rows² · columns).
std::vector<int> CheapestAssignment(const std::vector<std::vector<double>>& costs);

// Renames the nodes of each pool so that they fetch the fewest bytes. Up to kExactNodes of a pool's nodes in use
// exactly; beyond, pairs of part and node with the fewest bytes to fetch go first.
inline constexpr int kExactNodes = 128;
void AssignNodes(const MovementCost& movement, ir::Plan& plan);

// Gives every tensor group GPUs of its node: those of the group that had the same layers there, else the first free
// ones. Where groups were is taken from change.previous.
void AssignGpus(const Change& change, ir::Plan& plan);

}  // namespace sail::planner
