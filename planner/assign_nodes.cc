#include "planner/assign_nodes.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "compiler/base/check.h"

namespace sail::planner {
namespace {

// Bytes that each node of a pool (column) would fetch to play each part (row): parts and nodes of equal states are of
// one kind, and kinds are few.
struct FetchCosts {
  std::vector<int> part_kinds;             // by part
  std::vector<int> node_kinds;             // by node
  std::vector<std::vector<double>> bytes;  // [kind of part][kind of node]
};

// Numbers the states in order of first use and returns one of each.
std::vector<const NodeState*> Distinct(const std::vector<const NodeState*>& states, std::vector<int>& kinds) {
  std::map<NodeState, int> ids;
  std::vector<const NodeState*> distinct;
  for (const NodeState* state : states) {
    const auto [it, is_new] = ids.insert({*state, static_cast<int>(distinct.size())});
    if (is_new) distinct.push_back(state);
    kinds.push_back(it->second);
  }
  return distinct;
}

FetchCosts CostsOf(const StateSpaces& spaces, const std::vector<const NodeState*>& parts,
                   const std::vector<const NodeState*>& nodes) {
  FetchCosts costs;
  const std::vector<const NodeState*> needed = Distinct(parts, costs.part_kinds);
  const std::vector<const NodeState*> held = Distinct(nodes, costs.node_kinds);
  for (const NodeState* need : needed) {
    std::vector<double>& row = costs.bytes.emplace_back();
    for (const NodeState* have : held) row.push_back(spaces.Bytes(spaces.Missing(*need, *have)));
  }
  return costs;
}

std::vector<int> ExactAssignment(const FetchCosts& costs) {
  std::vector<std::vector<double>> bytes;
  for (const int part : costs.part_kinds) {
    std::vector<double>& row = bytes.emplace_back();
    for (const int node : costs.node_kinds) row.push_back(costs.bytes[part][node]);
  }
  return CheapestAssignment(bytes);
}

// Members of each kind, ascending, and how many of them are gone.
struct KindMembers {
  explicit KindMembers(const std::vector<int>& kinds) {
    for (int i = 0; i < static_cast<int>(kinds.size()); ++i) {
      if (kinds[i] >= static_cast<int>(members.size())) members.resize(kinds[i] + 1);
      members[kinds[i]].push_back(i);
    }
    gone.assign(members.size(), 0);
  }
  size_t Left(int kind) const { return members[kind].size() - gone[kind]; }
  int First(int kind) const { return members[kind][gone[kind]]; }

  std::vector<std::vector<int>> members;
  std::vector<size_t> gone;
};

// The cheapest pair first; of equally cheap ones that of the first part, then the first node.
std::vector<int> GreedyAssignment(const FetchCosts& costs) {
  KindMembers parts(costs.part_kinds), nodes(costs.node_kinds);
  std::vector<std::tuple<double, int, int>> pairs;  // of kinds
  for (int part = 0; part < static_cast<int>(costs.bytes.size()); ++part) {
    for (int node = 0; node < static_cast<int>(costs.bytes[part].size()); ++node) {
      pairs.push_back({costs.bytes[part][node], part, node});
    }
  }
  std::sort(pairs.begin(), pairs.end());
  std::vector<int> chosen(costs.part_kinds.size(), -1);
  for (size_t begin = 0, end = 0; begin < pairs.size(); begin = end) {
    // The equally cheap pairs: their kinds of parts, and of nodes by kind of part.
    std::map<int, std::vector<int>> choices;
    for (; end < pairs.size() && std::get<0>(pairs[end]) == std::get<0>(pairs[begin]); ++end) {
      const auto [cost, part, node] = pairs[end];
      if (parts.Left(part) > 0 && nodes.Left(node) > 0) choices[part].push_back(node);
    }
    std::vector<std::pair<int, int>> rows;  // parts that may find a node, and their kinds
    for (const auto& [part, of_nodes] : choices) {
      size_t most = 0;
      for (const int node : of_nodes) most += nodes.Left(node);
      const auto first = parts.members[part].begin() + static_cast<std::ptrdiff_t>(parts.gone[part]);
      const auto last = first + static_cast<std::ptrdiff_t>(std::min(most, parts.Left(part)));
      for (auto row = first; row != last; ++row) rows.push_back({*row, part});
    }
    std::sort(rows.begin(), rows.end());
    for (const auto& [row, part] : rows) {
      int best = -1;
      for (const int node : choices.at(part)) {
        if (nodes.Left(node) > 0 && (best < 0 || nodes.First(node) < nodes.First(best))) best = node;
      }
      if (best < 0) continue;
      chosen[row] = nodes.First(best);
      ++nodes.gone[best];
      ++parts.gone[part];
    }
  }
  return chosen;
}

template <class Do>
void ForEachGroup(ir::Plan& plan, Do action) {
  for (ir::Pipeline& pipeline : plan.pipelines) {
    for (ir::Stage& stage : pipeline.stages) action(stage);
  }
}

}  // namespace

// Row r is matched at `row_of[column]`; potentials keep reduced costs non-negative. Index 0 stands for nothing.
std::vector<int> CheapestAssignment(const std::vector<std::vector<double>>& costs) {
  if (costs.empty()) return {};
  const int rows = static_cast<int>(costs.size()), columns = static_cast<int>(costs[0].size());
  SAIL_CHECK(rows <= columns) << rows << " rows, " << columns << " columns";
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<double> row_potential(rows + 1, 0.0), column_potential(columns + 1, 0.0);
  std::vector<int> row_of(columns + 1, 0), previous(columns + 1, 0);
  for (int row = 1; row <= rows; ++row) {
    row_of[0] = row;
    int column = 0;
    std::vector<double> least(columns + 1, kInfinity);
    std::vector<bool> is_done(columns + 1, false);
    while (row_of[column] != 0) {
      is_done[column] = true;
      const int current = row_of[column];
      double delta = kInfinity;
      int next = 0;
      for (int c = 1; c <= columns; ++c) {
        if (is_done[c]) continue;
        const double reduced = costs[current - 1][c - 1] - row_potential[current] - column_potential[c];
        if (reduced < least[c]) {
          least[c] = reduced;
          previous[c] = column;
        }
        if (least[c] < delta) {
          delta = least[c];
          next = c;
        }
      }
      for (int c = 0; c <= columns; ++c) {
        if (is_done[c]) {
          row_potential[row_of[c]] += delta;
          column_potential[c] -= delta;
        } else {
          least[c] -= delta;
        }
      }
      column = next;
    }
    for (; column != 0; column = previous[column]) row_of[column] = row_of[previous[column]];
  }
  std::vector<int> chosen(rows, -1);
  for (int c = 1; c <= columns; ++c) {
    if (row_of[c] != 0) chosen[row_of[c] - 1] = c - 1;
  }
  return chosen;
}

void AssignNodes(const MovementCost& movement, ir::Plan& plan) {
  const std::vector<int>& offsets = movement.offsets();
  const std::vector<NodeState> needed = movement.spaces().Of(plan, offsets);
  std::map<ir::PoolId, std::set<int>> used;
  ForEachGroup(plan, [&](ir::Stage& stage) { used[stage.group.pool].insert(stage.group.node); });
  std::map<NodeName, int> renamed;
  for (const auto& [pool, nodes] : used) {
    const int first = offsets[pool.index()];
    const std::vector<int> parts(nodes.begin(), nodes.end());
    std::vector<const NodeState*> states;
    for (const int part : parts) states.push_back(&needed[first + part]);
    std::vector<const NodeState*> held;
    for (int node = first; node < offsets[pool.index() + 1]; ++node) held.push_back(&movement.held()[node]);
    const FetchCosts costs = CostsOf(movement.spaces(), states, held);
    const std::vector<int> chosen = parts.size() <= kExactNodes ? ExactAssignment(costs) : GreedyAssignment(costs);
    for (size_t i = 0; i < parts.size(); ++i) renamed[{.pool = pool, .node = parts[i]}] = chosen[i];
  }
  ForEachGroup(plan, [&](ir::Stage& stage) {
    stage.group.node = renamed.at({.pool = stage.group.pool, .node = stage.group.node});
  });
}

void AssignGpus(const Change& change, ir::Plan& plan) {
  using Place = std::tuple<ir::PoolId, int, int, int>;  // pool, node, layers
  const auto place = [](const ir::Stage& stage) {
    return Place{stage.group.pool, stage.group.node, stage.first_layer, stage.last_layer};
  };
  std::map<Place, std::vector<std::vector<int>>> before;  // GPUs of groups, the last one first
  ir::Plan previous = change.previous;
  std::reverse(previous.pipelines.begin(), previous.pipelines.end());
  ForEachGroup(previous, [&](ir::Stage& stage) {
    if (stage.group.node != kNoNode) before[place(stage)].push_back(stage.group.gpus);
  });
  std::map<NodeName, std::vector<bool>> taken;
  const auto taken_on = [&](const ir::TensorGroup& group) -> std::vector<bool>& {
    const int gpus = change.problem.cluster.machine(group.pool).gpus_per_node;
    return taken.try_emplace({.pool = group.pool, .node = group.node}, gpus, false).first->second;
  };
  std::vector<ir::TensorGroup*> others;
  ForEachGroup(plan, [&](ir::Stage& stage) {
    std::vector<std::vector<int>>& known = before[place(stage)];
    if (known.empty() || known.back().size() != stage.group.gpus.size()) {
      others.push_back(&stage.group);
      return;
    }
    stage.group.gpus = std::move(known.back());
    known.pop_back();
    for (const int gpu : stage.group.gpus) taken_on(stage.group)[gpu] = true;
  });
  for (ir::TensorGroup* group : others) {
    std::vector<bool>& is_taken = taken_on(*group);
    int gpu = 0;
    for (int& chosen : group->gpus) {
      while (is_taken[gpu]) ++gpu;
      is_taken[gpu] = true;
      chosen = gpu;
    }
  }
}

}  // namespace sail::planner
