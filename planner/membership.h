// What has changed since a plan was made: which nodes there are now.
//
// Nodes keep their numbers as far as the pools still have such numbers; survivors beyond take the lowest free ones, in
// order. Every other number stands for a node that holds no state: never used, or new.
#pragma once

#include <compare>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/plan.h"
#include "compiler/ir/problem.h"

namespace sail::planner {

struct NodeName {
  ir::PoolId pool = ir::PoolId(-1);
  int node = 0;
  friend auto operator<=>(const NodeName&, const NodeName&) = default;
};

struct Membership {
  std::vector<int> nodes;      // by pool: that there are now, survivors and new ones
  std::vector<NodeName> lost;  // of the previous problem, in any order; with or without work
};

inline constexpr int kNoNode = -1;

// A previous plan as seen from now.
struct Change {
  ir::Problem problem;                // the previous one; quotas are the nodes that there are now
  ir::Plan previous;                  // nodes by their numbers now; kNoNode for those that are lost
  std::vector<std::vector<int>> was;  // [pool][node now]: its number in the previous plan; kNoNode: it had no work
  bool is_any = false;                // whether a node with work is lost or some pool has another number of nodes
};

// `previous` satisfies VerifyPlanStructure. InvalidArgument: not one count per pool, a count below zero, a node that
// the previous problem does not have or that is named twice, fewer nodes than the plan's that are not lost.
absl::StatusOr<Change> ApplyMembership(const ir::Problem& problem, const ir::Plan& previous,
                                       const Membership& membership);

}  // namespace sail::planner
