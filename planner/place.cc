#include "planner/place.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace sail::planner {
namespace {

// Free GPUs of the nodes in use, by pool.
class NodeSet {
 public:
  NodeSet(const ir::Problem& problem, const std::vector<int>& quotas)
      : problem_(problem), quotas_(quotas), free_(quotas.size()) {}

  // The node with the fewest free GPUs that has `gpus`; the earliest of equals, else a new one, else -1.
  int Find(ir::PoolId pool, int gpus) {
    std::vector<int>& nodes = free_[pool.index()];
    int best = -1;
    for (int node = 0; node < static_cast<int>(nodes.size()); ++node) {
      if (nodes[node] >= gpus && (best < 0 || nodes[node] < nodes[best])) best = node;
    }
    if (best >= 0) return best;
    const int per_node = problem_.cluster.machine(pool).gpus_per_node;
    if (gpus > per_node || static_cast<int>(nodes.size()) >= quotas_[pool.index()]) return -1;
    nodes.push_back(per_node);
    return static_cast<int>(nodes.size()) - 1;
  }

  int Free(ir::PoolId pool, int node) const { return free_[pool.index()][node]; }

  bool Put(ir::TensorGroup& group) {
    const int node = Find(group.pool, group.degree());
    if (node >= 0) PutOn(node, group);
    return node >= 0;
  }
  void PutOn(int node, ir::TensorGroup& group) {
    group.node = node;
    free_[group.pool.index()][node] -= group.degree();
  }

 private:
  const ir::Problem& problem_;
  const std::vector<int>& quotas_;
  std::vector<std::vector<int>> free_;
};

// Runs of consecutive stages that fit on one node go there together.
bool PlaceByPipeline(NodeSet& nodes, ir::Plan& plan) {
  for (ir::Pipeline& pipeline : plan.pipelines) {
    for (size_t s = 0; s < pipeline.stages.size();) {
      const ir::PoolId pool = pipeline.stages[s].group.pool;
      int wanted = 0;
      for (size_t i = s; i < pipeline.stages.size() && pipeline.stages[i].group.pool == pool; ++i) {
        const int more = wanted + pipeline.stages[i].group.degree();
        if (i > s && nodes.Find(pool, more) < 0) break;
        wanted = more;
      }
      const int node = nodes.Find(pool, wanted);
      if (node < 0) return false;
      while (s < pipeline.stages.size() && pipeline.stages[s].group.pool == pool &&
             nodes.Free(pool, node) >= pipeline.stages[s].group.degree()) {
        nodes.PutOn(node, pipeline.stages[s++].group);
      }
    }
  }
  return true;
}

std::vector<ir::TensorGroup*> GroupsBy(ir::Plan& plan, bool largest_first) {
  std::vector<std::pair<int, ir::TensorGroup*>> groups;
  for (ir::Pipeline& pipeline : plan.pipelines) {
    for (ir::Stage& stage : pipeline.stages) {
      groups.push_back({largest_first ? -stage.group.degree() : stage.first_layer, &stage.group});
    }
  }
  std::stable_sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<ir::TensorGroup*> sorted;
  for (const auto& [key, group] : groups) sorted.push_back(group);
  return sorted;
}

// Each pool has nodes for each first layer.
bool PlaceApart(const ir::Problem& problem, const std::vector<int>& quotas, ir::Plan& plan) {
  std::map<std::pair<ir::PoolId, int>, std::pair<int, int>> open;  // (pool, first layer): node, free GPUs
  std::vector<int> next(quotas.size(), 0);
  for (ir::Pipeline& pipeline : plan.pipelines) {
    for (ir::Stage& stage : pipeline.stages) {
      ir::TensorGroup& group = stage.group;
      auto& [node, free] = open[{group.pool, stage.first_layer}];
      if (free < group.degree()) {
        node = next[group.pool.index()]++;
        free = problem.cluster.machine(group.pool).gpus_per_node;
        if (node >= quotas[group.pool.index()] || free < group.degree()) return false;
      }
      group.node = node;
      free -= group.degree();
    }
  }
  return true;
}

bool PlaceGroups(NodeSet& nodes, const std::vector<ir::TensorGroup*>& groups) {
  return std::all_of(groups.begin(), groups.end(), [&](ir::TensorGroup* group) { return nodes.Put(*group); });
}

}  // namespace

bool Place(const ir::Problem& problem, const std::vector<int>& quotas, Layout layout, ir::Plan& plan) {
  if (layout == Layout::kApart) return PlaceApart(problem, quotas, plan);
  NodeSet nodes(problem, quotas);
  const bool is_placed = layout == Layout::kByPipeline ? PlaceByPipeline(nodes, plan)
                                                       : PlaceGroups(nodes, GroupsBy(plan, /*largest_first=*/false));
  if (is_placed) return true;
  NodeSet fresh(problem, quotas);
  return PlaceGroups(fresh, GroupsBy(plan, /*largest_first=*/true));
}

}  // namespace sail::planner
