#include "planner/movement.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "simulator/network.h"
#include "simulator/spot_model.h"

namespace sail::planner {

// What nodes fetch. Nodes of a pool that miss the same fetch the same: they are of one kind.
struct MovementCost::Flows {
  struct Kind {
    int nodes = 0;
    ir::PoolId pool = ir::PoolId(-1);
    double fetched = 0;     // bytes of a node, from other nodes
    double checkpoint = 0;  // bytes of a node
  };
  std::vector<Kind> kinds;
  std::map<std::pair<int, int>, double> between;  // bytes from a node to each node of a kind
};

MovementCost::MovementCost(const Change& change)
    : change_(change), spaces_(change.problem), offsets_(NodeOffsets(change.problem.cluster)) {
  for (size_t p = 0; p + 1 < offsets_.size(); ++p) {
    pools_.insert(pools_.end(), offsets_[p + 1] - offsets_[p], ir::PoolId(static_cast<int>(p)));
  }
  held_ = spaces_.Of(change.previous, offsets_);
  const int layers = change.problem.model.layer_count();
  for (const NodeState& node : held_) {
    std::vector<int64_t>& before = held_before_.emplace_back(layers + 1, 0);
    int64_t& table = held_table_.emplace_back(0);
    for (const Piece& piece : node.weights) {
      (piece.space < layers ? before[piece.space + 1] : table) = piece.end - piece.begin;
    }
    std::partial_sum(before.begin(), before.end(), before.begin());
  }
  weights_ = SourcesOf(&NodeState::weights);
  optimizer_ = SourcesOf(&NodeState::optimizer);
}

// Every space is cut where some node's piece begins or ends.
MovementCost::Sources MovementCost::SourcesOf(Pieces NodeState::*kind) const {
  std::vector<std::set<int64_t>> cuts(spaces_.count());
  for (const NodeState& node : held_) {
    for (const Piece& piece : node.*kind) cuts[piece.space].insert({piece.begin, piece.end});
  }
  Sources sources(spaces_.count());
  for (int space = 0; space < spaces_.count(); ++space) {
    int64_t begin = 0;
    for (const int64_t cut : cuts[space]) {
      if (cut > begin) sources[space].push_back({.begin = begin, .end = cut, .holders = {}});
      begin = cut;
    }
  }
  for (int node = 0; node < static_cast<int>(held_.size()); ++node) {
    for (const Piece& piece : held_[node].*kind) {
      std::vector<Source>& of_space = sources[piece.space];
      for (size_t i = FirstOverlap(of_space, piece); i < of_space.size() && of_space[i].begin < piece.end; ++i) {
        of_space[i].holders.push_back(node);
      }
    }
  }
  return sources;
}

// The first source that ends beyond the piece's begin.
size_t MovementCost::FirstOverlap(const std::vector<Source>& sources, const Piece& piece) {
  const auto first = std::partition_point(sources.begin(), sources.end(),
                                          [&](const Source& source) { return source.end <= piece.begin; });
  return static_cast<size_t>(first - sources.begin());
}

std::vector<int> MovementCost::Nearest(const std::vector<int>& holders, ir::PoolId pool) const {
  std::vector<int> nearest;
  double best = 0, rate = 0;
  for (size_t i = 0; i < holders.size(); ++i) {
    const int holder = holders[i];
    if (i == 0 || pools_[holder] != pools_[holders[i - 1]]) {
      rate = sim::HopRate(change_.problem.cluster, pools_[holder], pool, 1);
    }
    if (rate > best) nearest.clear();
    if (rate >= best) nearest.push_back(holder);
    best = std::max(best, rate);
  }
  return nearest;
}

void MovementCost::Fetch(const Pieces& pieces, const Sources& sources, double bytes_each, int kind,
                         Flows& flows) const {
  Flows::Kind& of = flows.kinds[kind];
  for (const Piece& piece : pieces) {
    int64_t left = piece.end - piece.begin;
    const std::vector<Source>& of_space = sources[piece.space];
    for (size_t i = FirstOverlap(of_space, piece); i < of_space.size() && of_space[i].begin < piece.end; ++i) {
      const Source& source = of_space[i];
      if (source.holders.empty()) continue;
      const int64_t shared = std::min(piece.end, source.end) - std::max(piece.begin, source.begin);
      left -= shared;
      const double bytes = bytes_each * static_cast<double>(shared);
      const std::vector<int> nearest = Nearest(source.holders, of.pool);
      for (const int holder : nearest) flows.between[{holder, kind}] += bytes / static_cast<double>(nearest.size());
      of.fetched += bytes;
    }
    of.checkpoint += bytes_each * static_cast<double>(left);
  }
}

namespace {

// How long the busiest of the things that flows share works. Things are told apart by (what, node or
// kind of nodes, zone).
class SharedThings {
 public:
  enum Kind { kCardOut, kCardIn, kLinkOut, kLinkIn };
  void Add(Kind kind, int node, int zone, double seconds, size_t link) {
    const auto [it, is_new] = things_.insert({{kind, node, zone}, {}});
    it->second.seconds += seconds;
    it->second.links.insert(link);
  }
  // Raises the seconds of every link to those of the things that its flows use.
  void Raise(std::vector<LinkMove>& links) const {
    for (const auto& [key, thing] : things_) {
      for (const size_t link : thing.links) links[link].seconds = std::max(links[link].seconds, Seconds(thing.seconds));
    }
  }

 private:
  struct Thing {
    double seconds = 0;
    std::set<size_t> links;  // indices of LinkMoves
  };
  std::map<std::tuple<Kind, int, int>, Thing> things_;
};

}  // namespace

void MovementCost::AddTimes(const Flows& flows, Movement& movement) const {
  const ir::Cluster& cluster = change_.problem.cluster;
  std::map<std::pair<ir::ZoneId, ir::ZoneId>, size_t> index;
  const auto zones_of = [&](const std::pair<int, int>& ends) {
    return std::make_pair(cluster.pool(pools_[ends.first]).zone, cluster.pool(flows.kinds[ends.second].pool).zone);
  };
  for (const auto& [ends, bytes] : flows.between) index.insert({zones_of(ends), 0});
  for (auto& [zones, position] : index) {
    position = movement.links.size();
    movement.links.push_back({.from = zones.first, .to = zones.second});
  }
  SharedThings things;
  for (const auto& [ends, bytes] : flows.between) {
    const auto [from, to] = ends;
    const ir::PoolId to_pool = flows.kinds[to].pool;
    const double sent = bytes * flows.kinds[to].nodes;
    const auto zones = zones_of(ends);
    const size_t at = index.at(zones);
    LinkMove& move = movement.links[at];
    const ir::Link& link = cluster.link(pools_[from], to_pool);
    move.bytes += sent;
    move.egress += Usd(link.egress.value() * sent);
    if (link.share == ir::LinkShare::kPerNode) {
      things.Add(SharedThings::kLinkOut, from, zones.second.index(), sent / link.bandwidth.value(), at);
      things.Add(SharedThings::kLinkIn, to, zones.first.index(), bytes / link.bandwidth.value(), at);
    } else {
      move.seconds = std::max(move.seconds, Seconds(bytes / link.bandwidth.value()));
    }
    const auto& out = cluster.machine(pools_[from]).nic;
    const auto& in = cluster.machine(to_pool).nic;
    if (out) things.Add(SharedThings::kCardOut, from, 0, sent / out->value(), at);
    if (in) things.Add(SharedThings::kCardIn, to, 0, bytes / in->value(), at);
  }
  things.Raise(movement.links);
  for (LinkMove& move : movement.links) {
    move.seconds += cluster.links[move.from.index()][move.to.index()].latency;
    movement.bytes += move.bytes;
    movement.egress += move.egress;
    movement.seconds = std::max(movement.seconds, move.seconds);
  }
  for (const Flows::Kind& kind : flows.kinds) {
    movement.checkpoint_bytes += kind.checkpoint * kind.nodes;
    movement.seconds = std::max(movement.seconds, Seconds(kind.checkpoint / sim::kCheckpointBandwidth.value()));
  }
}

void MovementCost::CountProcesses(const ir::Plan& next, Movement& movement) const {
  std::set<std::tuple<ir::PoolId, int, int>> before;
  for (const ir::Pipeline& pipeline : change_.previous.pipelines) {
    for (const ir::Stage& stage : pipeline.stages) {
      if (stage.group.node == kNoNode) continue;
      for (const int gpu : stage.group.gpus) before.insert({stage.group.pool, stage.group.node, gpu});
    }
  }
  for (const ir::Pipeline& pipeline : next.pipelines) {
    for (const ir::Stage& stage : pipeline.stages) {
      for (const int gpu : stage.group.gpus) {
        const bool is_kept = before.contains({stage.group.pool, stage.group.node, gpu});
        ++(is_kept ? movement.processes_kept : movement.processes_started);
      }
    }
  }
  movement.processes_ended = static_cast<int>(before.size()) - movement.processes_kept;
}

Movement MovementCost::Of(const ir::Plan& next) const {
  const std::vector<NodeState> needed = spaces_.Of(next, offsets_);
  Flows flows;
  std::map<std::pair<ir::PoolId, NodeState>, int> kinds;  // by what is missing
  std::vector<std::set<int>> fetched(held_.size());       // spaces, by node
  Movement movement;
  for (int node = 0; node < static_cast<int>(held_.size()); ++node) {
    NodeState missing = spaces_.Missing(needed[node], held_[node]);
    if (missing == NodeState()) continue;
    for (const Piece& piece : missing.weights) fetched[node].insert(piece.space);
    for (const Piece& piece : missing.optimizer) fetched[node].insert(piece.space);
    const auto [it, is_new] = kinds.insert({{pools_[node], std::move(missing)}, static_cast<int>(flows.kinds.size())});
    const int kind = it->second;
    if (is_new) {
      flows.kinds.push_back({.pool = pools_[node]});
      Fetch(it->first.second.weights, weights_, spaces_.weight_bytes(), kind, flows);
      Fetch(it->first.second.optimizer, optimizer_, spaces_.optimizer_bytes(), kind, flows);
    }
    Flows::Kind& of = flows.kinds[kind];
    ++of.nodes;
    movement.nodes.push_back({.node = {.pool = of.pool, .node = node - offsets_[of.pool.index()]},
                              .bytes = of.fetched,
                              .checkpoint_bytes = of.checkpoint});
  }
  AddTimes(flows, movement);
  for (const ir::Pipeline& pipeline : next.pipelines) {
    for (const ir::Stage& stage : pipeline.stages) {
      const std::set<int>& gone = fetched[offsets_[stage.group.pool.index()] + stage.group.node];
      const std::vector<int> needs = spaces_.Of(stage.first_layer, stage.last_layer);
      ++movement.stages;
      if (std::none_of(needs.begin(), needs.end(), [&](int space) { return gone.contains(space); })) {
        ++movement.stages_kept;
      }
    }
  }
  CountProcesses(next, movement);
  return movement;
}

}  // namespace sail::planner
