#include "planner/losses.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "planner/judge.h"

namespace sail::planner {
namespace {

std::set<NodeName> NodesOf(const ir::Plan& plan) {
  std::set<NodeName> nodes;
  for (const ir::Pipeline& pipeline : plan.pipelines) {
    for (const ir::Stage& stage : pipeline.stages) nodes.insert({.pool = stage.group.pool, .node = stage.group.node});
  }
  return nodes;
}

// Equal for nodes that play equal parts. The marked stages are those whose first layer is below zero.
ir::Plan PartOf(const NodeName& node, ir::Plan plan) {
  for (ir::Pipeline& pipeline : plan.pipelines) {
    for (ir::Stage& stage : pipeline.stages) {
      if (stage.group.pool == node.pool && stage.group.node == node.node) stage.first_layer = -1 - stage.first_layer;
    }
  }
  Normalize(plan);
  return plan;
}

Membership AllNodes(const ir::Cluster& cluster) {
  Membership membership;
  for (const ir::Pool& pool : cluster.pools) membership.nodes.push_back(pool.quota);
  return membership;
}

}  // namespace

std::vector<Loss> LossesOf(const ir::Problem& problem, const ir::Plan& plan) {
  const ir::Cluster& cluster = problem.cluster;
  const std::set<NodeName> nodes = NodesOf(plan);
  std::vector<Loss> losses;
  std::map<ir::Plan, size_t> parts;  // index of the loss
  for (const NodeName& node : nodes) {
    const auto [part, is_new] = parts.insert({PartOf(node, plan), losses.size()});
    if (is_new) {
      Loss& loss = losses.emplace_back(Loss{.nodes = {}, .zone = std::nullopt, .membership = AllNodes(cluster)});
      loss.membership.lost = {node};
      --loss.membership.nodes[node.pool.index()];
    }
    losses[part->second].nodes.push_back(node);
  }
  std::set<ir::ZoneId> zones;
  for (const NodeName& node : nodes) zones.insert(cluster.pool(node.pool).zone);
  for (const ir::ZoneId zone : zones) {
    Loss& loss = losses.emplace_back(Loss{.nodes = {}, .zone = zone, .membership = AllNodes(cluster)});
    for (size_t p = 0; p < cluster.pools.size(); ++p) {
      if (cluster.pools[p].zone == zone) loss.membership.nodes[p] = 0;
    }
    std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(loss.membership.lost),
                 [&](const NodeName& node) { return cluster.pool(node.pool).zone == zone; });
  }
  return losses;
}

}  // namespace sail::planner
