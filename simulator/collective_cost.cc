#include "simulator/collective_cost.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "simulator/backend_constants.h"

namespace sail::sim {

Seconds RingAllReduceTime(Bytes payload, int ranks, Seconds latency, BytesPerSecond bandwidth) {
  if (ranks < 2) return Seconds(0);
  const double steps = 2.0 * (ranks - 1);
  return latency * steps + (payload / bandwidth) * (steps / ranks);
}

namespace {

// The ring over `nodes`: each sends 2(n−1)/n of the payload to its successor, in 2(n−1) steps of the slowest latency;
// or a double tree, up and down its 2·⌈log2 n⌉ levels (Sanders et al. 2009). One ring alone does not fill a card.
Flow RingOver(const Network& network, const std::vector<int>& nodes, int weight) {
  const size_t n = nodes.size();
  Flow ring{.hops = {}, .weight = weight, .rate = std::numeric_limits<double>::infinity()};
  ring.hops.reserve(n);
  double step = 0;  // seconds
  bool has_tree = true;
  for (size_t i = 0; i < n; ++i) {
    const Hop hop{.from = nodes[i], .to = nodes[(i + 1) % n]};
    const BackendConstants& backend = ConstantsOf(network.cluster().gpu(network.pool(hop.from)).backend);
    step = std::max(step, network.link(hop).latency.value());
    ring.rate =
        std::min({ring.rate, network.HopRate(hop, weight), backend.ring_share * weight * network.HopRate(hop, 1)});
    has_tree = has_tree && backend.has_tree_all_reduce;
    ring.hops.push_back(hop);
  }
  const double steps = 2.0 * static_cast<double>(n - 1);
  ring.latency = steps * step;
  ring.factor = steps / static_cast<double>(n);
  if (has_tree) ring.tree_latency = 2.0 * std::bit_width(n - 1) * step;
  return ring;
}

// The owners of one node.
struct NodeShare {
  int node = 0;
  int ranks = 0;
};

void AddIntraNode(const Network& network, const NodeShare& share, AllReduce& shape) {
  if (share.ranks < 2) return;
  const ir::Machine& machine = network.cluster().machine(network.pool(share.node));
  const BackendConstants& backend = ConstantsOf(network.cluster().gpu(network.pool(share.node)).backend);
  const double steps = 2.0 * (share.ranks - 1);
  shape.intra_latency = std::max(shape.intra_latency, steps * backend.intra_node_latency.value());
  shape.intra_seconds_per_byte =
      std::max(shape.intra_seconds_per_byte, steps / share.ranks / machine.intra_node.value());
}

// After the ring of its zone each of a zone's n nodes holds 1/n of the sum; `lanes` = the least n of all zones rings
// run side by side between the zones, each with 1/lanes of the payload.
Flow CrossRing(const Network& network, const std::vector<std::vector<NodeShare>>& zones) {
  size_t lanes = zones.front().size();
  for (const auto& zone : zones) lanes = std::min(lanes, zone.size());
  Flow cross{.hops = {}, .weight = 1, .rate = std::numeric_limits<double>::infinity()};
  for (size_t lane = 0; lane < lanes; ++lane) {
    std::vector<int> nodes;
    for (const auto& zone : zones) nodes.push_back(zone[lane].node);
    const Flow ring = RingOver(network, nodes, /*weight=*/1);
    cross.hops.insert(cross.hops.end(), ring.hops.begin(), ring.hops.end());
    cross.latency = std::max(cross.latency, ring.latency);
    cross.tree_latency = lane == 0 ? ring.tree_latency : std::max(cross.tree_latency, ring.tree_latency);
    cross.rate = std::min(cross.rate, ring.rate);
    cross.factor = ring.factor / static_cast<double>(lanes);
    cross.tree_factor = ring.tree_factor / static_cast<double>(lanes);
  }
  return cross;
}

}  // namespace

AllReduce MakeAllReduce(const Network& network, const std::vector<int>& nodes) {
  // 1. Owners by zone and node. Nodes are in pool order, so the nodes of one zone need not be neighbours.
  std::vector<std::vector<NodeShare>> zones(network.cluster().zones.size());
  for (const int node : nodes) {
    std::vector<NodeShare>& zone = zones[network.zone(node).index()];
    if (zone.empty() || zone.back().node != node) zone.push_back({.node = node});
    ++zone.back().ranks;
  }
  std::erase_if(zones, [](const std::vector<NodeShare>& zone) { return zone.empty(); });
  // 2. Inside the nodes, then between the nodes of a zone, then between zones.
  AllReduce shape;
  for (const std::vector<NodeShare>& zone : zones) {
    int streams = zone.front().ranks;
    std::vector<int> members;
    for (const NodeShare& share : zone) {
      AddIntraNode(network, share, shape);
      streams = std::min(streams, share.ranks);
      members.push_back(share.node);
    }
    if (members.size() > 1) shape.zone_rings.push_back(RingOver(network, members, streams));
  }
  if (zones.size() > 1) shape.cross_ring.push_back(CrossRing(network, zones));
  return shape;
}

double AllReduceSeconds(const AllReduce& shape, double bytes) {
  double zone_seconds = 0;
  for (const Flow& ring : shape.zone_rings) zone_seconds = std::max(zone_seconds, ring.SecondsAlone(bytes));
  double seconds = shape.intra_latency + shape.intra_seconds_per_byte * bytes + zone_seconds;
  for (const Flow& ring : shape.cross_ring) seconds += ring.SecondsAlone(bytes);
  return seconds;
}

}  // namespace sail::sim
