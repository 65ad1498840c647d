#include "planner/membership.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/number_text.h"

namespace sail::planner {
namespace {

absl::Status CheckMembership(const ir::Cluster& cluster, const Membership& membership) {
  if (membership.nodes.size() != cluster.pools.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the plan knows ", CountText(cluster.pools.size(), "pool"), ", not ", membership.nodes.size()));
  }
  for (size_t p = 0; p < membership.nodes.size(); ++p) {
    if (membership.nodes[p] >= 0) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("pool '", cluster.pools[p].name, "' cannot have fewer than 0 nodes"));
  }
  std::set<NodeName> seen;
  for (const NodeName& node : membership.lost) {
    const ir::Pool& pool = cluster.pool(node.pool);
    if (node.node < 0 || node.node >= pool.quota) {
      return absl::InvalidArgumentError(absl::StrCat("pool '", pool.name, "' had no node ", node.node,
                                                     " to lose, only ", CountText(pool.quota, "node")));
    }
    if (!seen.insert(node).second) {
      return absl::InvalidArgumentError(absl::StrCat("node ", node.node, " of pool '", pool.name, "' is lost twice"));
    }
  }
  return absl::OkStatus();
}

// [node in the previous plan]: its number now, of one pool with `nodes` nodes now. `working` are ascending.
std::vector<int> NumbersNow(int quota, int nodes, const std::set<int>& working) {
  std::vector<int> now(quota, kNoNode);
  int free = 0;
  for (const int node : working) {
    if (node < nodes) {
      now[node] = node;
      continue;
    }
    while (working.contains(free)) ++free;
    now[node] = free++;
  }
  return now;
}

}  // namespace

absl::StatusOr<Change> ApplyMembership(const ir::Problem& problem, const ir::Plan& previous,
                                       const Membership& membership) {
  const ir::Cluster& cluster = problem.cluster;
  const absl::Status checked = CheckMembership(cluster, membership);
  if (!checked.ok()) return checked;
  const std::set<NodeName> lost(membership.lost.begin(), membership.lost.end());
  Change change{.problem = problem, .previous = previous, .was = {}};
  std::vector<std::set<int>> survivors(cluster.pools.size());
  for (const ir::Pipeline& pipeline : previous.pipelines) {
    for (const ir::Stage& stage : pipeline.stages) {
      const bool is_lost = lost.contains({.pool = stage.group.pool, .node = stage.group.node});
      change.is_any |= is_lost;
      if (!is_lost) survivors[stage.group.pool.index()].insert(stage.group.node);
    }
  }
  std::vector<std::vector<int>> now;
  for (size_t p = 0; p < cluster.pools.size(); ++p) {
    const int nodes = membership.nodes[p];
    if (nodes < static_cast<int>(survivors[p].size())) {
      return absl::InvalidArgumentError(absl::StrCat("pool '", cluster.pools[p].name, "' has ",
                                                     CountText(nodes, "node"), " now, but ", survivors[p].size(),
                                                     " of the plan's nodes there are not lost"));
    }
    change.is_any |= nodes != cluster.pools[p].quota;
    change.problem.cluster.pools[p].quota = nodes;
    now.push_back(NumbersNow(cluster.pools[p].quota, nodes, survivors[p]));
    std::vector<int>& was = change.was.emplace_back(nodes, kNoNode);
    for (const int node : survivors[p]) was[now[p][node]] = node;
  }
  for (ir::Pipeline& pipeline : change.previous.pipelines) {
    for (ir::Stage& stage : pipeline.stages) stage.group.node = now[stage.group.pool.index()][stage.group.node];
  }
  return change;
}

}  // namespace sail::planner
