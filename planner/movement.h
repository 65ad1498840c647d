// What it takes to go from the state that nodes hold to another plan: bytes that each node must fetch, over which
// links, how long that takes, and which processes stay.
//
// A node fetches what its stages need and it does not hold (node_state.h). Each piece comes from the surviving nodes
// that hold it and have the fastest hop to the node, in equal parts; what no surviving node holds comes from the last
// checkpoint. All transfers run at once. Cards of nodes and the links that nodes share are used as the simulator uses
// them (simulator/network.h); the time is that of the busiest of them moving all its bytes, and the largest latency.
// A node reads checkpoints at sim::kCheckpointBandwidth.
// Bytes that change GPUs inside a node are not counted: the links there are an order of magnitude faster.
#pragma once

#include <vector>

#include "compiler/base/units.h"
#include "compiler/ir/plan.h"
#include "compiler/ir/problem.h"
#include "planner/membership.h"
#include "planner/node_state.h"

namespace sail::planner {

// From nodes of one zone to nodes of another or the same zone.
struct LinkMove {
  ir::ZoneId from = ir::ZoneId(-1);
  ir::ZoneId to = ir::ZoneId(-1);
  double bytes = 0;
  Seconds seconds = Seconds(0);  // of the busiest thing that these transfers use
  Usd egress = Usd(0);
  friend bool operator==(const LinkMove&, const LinkMove&) = default;
};

struct NodeMove {
  NodeName node;                // now
  double bytes = 0;             // from other nodes
  double checkpoint_bytes = 0;  // that no surviving node holds
  friend bool operator==(const NodeMove&, const NodeMove&) = default;
};

struct Movement {
  double bytes = 0;             // from surviving nodes
  double checkpoint_bytes = 0;  // from the last checkpoint
  Seconds seconds = Seconds(0);
  Usd egress = Usd(0);
  std::vector<LinkMove> links;  // with traffic, by zones
  std::vector<NodeMove> nodes;  // that fetch, by node
  int stages = 0;               // of the next plan, by pipeline
  int stages_kept = 0;          // whose node fetches nothing of them
  int processes_kept = 0;       // GPUs with a worker before and after
  int processes_started = 0;
  int processes_ended = 0;  // on surviving nodes
  friend bool operator==(const Movement&, const Movement&) = default;
};

class MovementCost {
 public:
  // `change` must outlive this.
  explicit MovementCost(const Change& change);

  // To a plan of change.problem. O(nodes · layers + kinds · layers · holders), a kind: nodes of a pool that miss the
  // same.
  Movement Of(const ir::Plan& next) const;

  const Change& change() const { return change_; }
  const StateSpaces& spaces() const { return spaces_; }
  const std::vector<int>& offsets() const { return offsets_; }
  const std::vector<NodeState>& held() const { return held_; }  // by node (NodeOffsets)
  // Parameters of the layers that the node holds. O(1)
  int64_t HeldOf(int first_layer, int last_layer, int node) const {
    const bool has_end = first_layer == 0 || last_layer == change_.problem.model.layer_count() - 1;
    return held_before_[node][last_layer + 1] - held_before_[node][first_layer] + (has_end ? held_table_[node] : 0);
  }

 private:
  // Parameters [begin, end) of a space that the same nodes hold.
  struct Source {
    int64_t begin = 0;
    int64_t end = 0;
    std::vector<int> holders;  // ascending
  };
  using Sources = std::vector<std::vector<Source>>;  // by space, ascending

  struct Flows;
  Sources SourcesOf(Pieces NodeState::*kind) const;
  void Fetch(const Pieces& pieces, const Sources& sources, double bytes_each, int kind, Flows& flows) const;
  static size_t FirstOverlap(const std::vector<Source>& sources, const Piece& piece);
  std::vector<int> Nearest(const std::vector<int>& holders, ir::PoolId pool) const;
  void AddTimes(const Flows& flows, Movement& movement) const;
  void CountProcesses(const ir::Plan& next, Movement& movement) const;

  const Change& change_;
  const StateSpaces spaces_;
  const std::vector<int> offsets_;
  std::vector<ir::PoolId> pools_;  // by node
  std::vector<NodeState> held_;
  std::vector<std::vector<int64_t>> held_before_;  // [node][layer]: parameters of the layers before it
  std::vector<int64_t> held_table_;                // by node: of a tied word embedding
  Sources weights_;
  Sources optimizer_;
};

}  // namespace sail::planner
