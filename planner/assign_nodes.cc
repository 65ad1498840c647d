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

// Bytes that each node of a pool would fetch (column) to play each part (row). Equal states are compared once.
std::vector<std::vector<double>> BytesToFetch(const MovementCost& movement, const std::vector<const NodeState*>& parts,
                                              int first_node, int nodes) {
  std::vector<std::vector<double>> bytes;
  const StateSpaces& spaces = movement.spaces();
  std::map<NodeState, int> ids;
  std::vector<int> held_ids;
  std::vector<const NodeState*> held;
  for (int node = 0; node < nodes; ++node) {
    const NodeState& state = movement.held()[first_node + node];
    const auto [it, is_new] = ids.insert({state, static_cast<int>(held.size())});
    if (is_new) held.push_back(&state);
    held_ids.push_back(it->second);
  }
  std::map<NodeState, std::vector<double>> rows;  // of a part: by distinct state held
  for (const NodeState* part : parts) {
    std::vector<double>& row = rows[*part];
    if (row.empty()) {
      for (const NodeState* state : held) row.push_back(spaces.Bytes(spaces.Missing(*part, *state)));
    }
    std::vector<double>& by_node = bytes.emplace_back();
    for (const int id : held_ids) by_node.push_back(row[id]);
  }
  return bytes;
}

// The cheapest pair first.
std::vector<int> GreedyAssignment(const std::vector<std::vector<double>>& costs) {
  std::vector<std::tuple<double, int, int>> pairs;
  for (int row = 0; row < static_cast<int>(costs.size()); ++row) {
    for (int column = 0; column < static_cast<int>(costs[row].size()); ++column) {
      pairs.push_back({costs[row][column], row, column});
    }
  }
  std::sort(pairs.begin(), pairs.end());
  std::vector<int> chosen(costs.size(), -1);
  std::vector<bool> is_taken(costs.empty() ? 0 : costs[0].size(), false);
  for (const auto& [cost, row, column] : pairs) {
    if (chosen[row] >= 0 || is_taken[column]) continue;
    chosen[row] = column;
    is_taken[column] = true;
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
    const auto bytes = BytesToFetch(movement, states, first, offsets[pool.index() + 1] - first);
    const std::vector<int> chosen = parts.size() <= kExactNodes ? CheapestAssignment(bytes) : GreedyAssignment(bytes);
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
