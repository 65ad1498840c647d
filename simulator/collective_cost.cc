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

// The pace of the ring over the nodes of `runs`: each sends 2(n−1)/n of the payload to its successor, in 2(n−1) steps
// of the slowest latency; or a double tree, up and down its 2·⌈log2 n⌉ levels (Sanders et al. 2009). One ring alone
// does not fill a card. Links whose all-reduces were measured have their curves instead.
Flow RingOver(const ir::Cluster& cluster, absl::Span<const NodeRun> runs, int weight) {
  Flow ring{.hops = {}, .weight = weight, .rate = std::numeric_limits<double>::infinity()};
  double step = 0;  // seconds
  bool has_tree = true;
  const auto add = [&](ir::PoolId from, ir::PoolId to) {
    const BackendConstants& backend = ConstantsOf(cluster.gpu(from).backend);
    const ir::Link& link = cluster.link(from, to);
    const ir::LinkCurve& curve = link.all_reduces;
    ring.rate = std::min(ring.rate, HopRate(cluster, from, to, weight));
    if (curve.empty()) {
      step = std::max(step, link.latency.value());
      ring.rate = std::min(ring.rate, backend.ring_share * weight * HopRate(cluster, from, to, 1));
    } else if (std::find(ring.measured.begin(), ring.measured.end(), &curve) == ring.measured.end()) {
      ring.measured.push_back(&curve);
    }
    has_tree = has_tree && backend.has_tree_all_reduce && curve.empty();
  };
  unsigned n = 0;
  for (size_t i = 0; i < runs.size(); ++i) {
    n += runs[i].nodes;
    if (runs[i].nodes > 1) add(runs[i].pool, runs[i].pool);
    if (runs.size() > 1) add(runs[i].pool, runs[(i + 1) % runs.size()].pool);
  }
  const double steps = 2.0 * (n - 1);
  ring.latency = steps * step;
  ring.factor = steps / n;
  ring.measured_pairs = static_cast<double>(n - 1);
  ring.measured_share = 2.0 / n;
  if (has_tree) ring.tree_latency = 2.0 * std::bit_width(n - 1) * step;
  return ring;
}

void AddIntraNode(const ir::Cluster& cluster, const NodeRun& run, AllReduce& shape) {
  if (run.ranks < 2) return;
  const BackendConstants& backend = ConstantsOf(cluster.gpu(run.pool).backend);
  const double steps = 2.0 * (run.ranks - 1);
  shape.intra_latency = std::max(shape.intra_latency, steps * backend.intra_node_latency.value());
  shape.intra_seconds_per_byte =
      std::max(shape.intra_seconds_per_byte, steps / run.ranks / cluster.machine(run.pool).intra_node.value());
}

using ZoneRuns = absl::Span<const NodeRun>;

int CountNodes(ZoneRuns runs) {
  int nodes = 0;
  for (const NodeRun& run : runs) nodes += run.nodes;
  return nodes;
}

// Takes the runs of the first zone off `rest`.
ZoneRuns TakeZone(const ir::Cluster& cluster, ZoneRuns& rest) {
  const auto zone = [&](const NodeRun& run) { return cluster.pool(run.pool).zone; };
  size_t size = 1;
  while (size < rest.size() && zone(rest[size]) == zone(rest[0])) ++size;
  const ZoneRuns taken = rest.first(size);
  rest.remove_prefix(size);
  return taken;
}

// After the ring of its zone each of a zone's n nodes holds 1/n of the sum; `lanes` = the least n of all zones rings
// run side by side between the zones, each with 1/lanes of the payload. Lane i goes over the i-th node of each zone.
Flow CrossRing(const ir::Cluster& cluster, absl::Span<const ZoneRuns> zones, int lanes) {
  Flow cross{.hops = {}, .weight = 1, .rate = std::numeric_limits<double>::infinity()};
  absl::InlinedVector<NodeRun, 4> lane_runs;
  absl::InlinedVector<size_t, 4> next(zones.size(), 0);  // by zone: the run after the lane's
  absl::InlinedVector<int, 4> left(zones.size(), 0);     // nodes of the lane's run that no lane has had
  lane_runs.resize(zones.size());
  for (int lane = 0; lane < lanes;) {
    int equal = lanes - lane;  // lanes over nodes of the same runs
    for (size_t z = 0; z < zones.size(); ++z) {
      if (left[z] == 0) {
        lane_runs[z].pool = zones[z][next[z]].pool;
        left[z] = zones[z][next[z]++].nodes;
      }
      equal = std::min(equal, left[z]);
    }
    for (int& nodes : left) nodes -= equal;
    const Flow ring = RingOver(cluster, lane_runs, /*weight=*/1);
    cross.latency = std::max(cross.latency, ring.latency);
    cross.tree_latency = lane == 0 ? ring.tree_latency : std::max(cross.tree_latency, ring.tree_latency);
    cross.rate = std::min(cross.rate, ring.rate);
    cross.measured.insert(cross.measured.end(), ring.measured.begin(), ring.measured.end());
    cross.measured_pairs = ring.measured_pairs;
    cross.measured_share = ring.measured_share / lanes;
    cross.factor = ring.factor / lanes;
    cross.tree_factor = ring.tree_factor / lanes;
    lane += equal;
  }
  return cross;
}

// The nodes of owners in one zone, with the number of owners on each.
struct ZoneNodes {
  std::vector<int> nodes;
  std::vector<int> ranks;
};

}  // namespace

void PaceAllReduce(const ir::Cluster& cluster, absl::Span<const NodeRun> runs, AllReduce& shape) {
  shape.intra_latency = 0;
  shape.intra_seconds_per_byte = 0;
  shape.zone_rings.clear();
  shape.cross_ring.clear();
  absl::InlinedVector<ZoneRuns, 4> zones;
  int lanes = std::numeric_limits<int>::max();
  while (!runs.empty()) {
    const ZoneRuns zone = TakeZone(cluster, runs);
    int streams = zone.front().ranks;
    for (const NodeRun& run : zone) {
      AddIntraNode(cluster, run, shape);
      streams = std::min(streams, run.ranks);
    }
    const int nodes = CountNodes(zone);
    if (nodes > 1) shape.zone_rings.push_back(RingOver(cluster, zone, streams));
    lanes = std::min(lanes, nodes);
    zones.push_back(zone);
  }
  if (zones.size() > 1) shape.cross_ring.push_back(CrossRing(cluster, zones, lanes));
}

AllReduce MakeAllReduce(const Network& network, const std::vector<int>& nodes) {
  // 1. Owners by zone and node. Nodes are in pool order, so the nodes of one zone need not be neighbours.
  std::vector<ZoneNodes> zones(network.cluster().zones.size());
  for (const int node : nodes) {
    ZoneNodes& zone = zones[network.zone(node).index()];
    if (zone.nodes.empty() || zone.nodes.back() != node) {
      zone.nodes.push_back(node);
      zone.ranks.push_back(0);
    }
    ++zone.ranks.back();
  }
  std::erase_if(zones, [](const ZoneNodes& zone) { return zone.nodes.empty(); });
  // 2. The pace of inside the nodes, then between the nodes of a zone, then between zones.
  std::vector<NodeRun> runs;
  size_t lanes = zones.front().nodes.size();
  for (const ZoneNodes& zone : zones) {
    lanes = std::min(lanes, zone.nodes.size());
    for (size_t i = 0; i < zone.nodes.size(); ++i) {
      const NodeRun run{.pool = network.pool(zone.nodes[i]), .nodes = 1, .ranks = zone.ranks[i]};
      const bool is_like_last = i > 0 && runs.back().pool == run.pool && runs.back().ranks == run.ranks;
      if (is_like_last)
        ++runs.back().nodes;
      else
        runs.push_back(run);
    }
  }
  AllReduce shape;
  PaceAllReduce(network.cluster(), runs, shape);
  // 3. The hops.
  size_t ring = 0;
  for (const ZoneNodes& zone : zones) {
    const size_t n = zone.nodes.size();
    if (n == 1) continue;
    auto& hops = shape.zone_rings[ring++].hops;
    hops.reserve(n);
    for (size_t i = 0; i < n; ++i) hops.push_back({.from = zone.nodes[i], .to = zone.nodes[(i + 1) % n]});
  }
  if (zones.size() > 1) {
    auto& hops = shape.cross_ring.front().hops;
    for (size_t lane = 0; lane < lanes; ++lane) {
      for (size_t z = 0; z < zones.size(); ++z) {
        hops.push_back({.from = zones[z].nodes[lane], .to = zones[(z + 1) % zones.size()].nodes[lane]});
      }
    }
  }
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
