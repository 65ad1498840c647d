// Time and traffic of all-reduces (docs/cost_model.md §4).
//
// A group inside one node is a ring over its ranks. A group that spans nodes is hierarchical: reduce-scatter inside
// each node, ring between the nodes of each zone over their cards, ring between the zones, and all-gather back.
#pragma once

#include <vector>

#include "absl/types/span.h"
#include "compiler/base/units.h"
#include "simulator/network.h"

namespace sail::sim {

// Ring all-reduce of `payload` bytes per rank: 2(n−1)·latency + 2(n−1)/n · payload / bandwidth; zero for one rank.
// Assumes that all ranks start together and links are full duplex. Source: Patarasuk & Yuan 2009.
Seconds RingAllReduceTime(Bytes payload, int ranks, Seconds latency, BytesPerSecond bandwidth);

// The shape of one owner set's all-reduce, from which any bucket of it is timed.
struct AllReduce {
  double intra_latency = 0;           // seconds: steps inside the nodes
  double intra_seconds_per_byte = 0;  // of the slowest node
  std::vector<Flow> zone_rings;       // one for each zone with several nodes; they run side by side
  std::vector<Flow> cross_ring;       // empty, or one flow: the rings between zones
};

// Neighbouring nodes of one pool with as many owners each.
struct NodeRun {
  ir::PoolId pool = ir::PoolId(-1);
  int nodes = 1;
  int ranks = 1;  // owners on each
  friend bool operator==(const NodeRun&, const NodeRun&) = default;
};

// Overwrites `shape` by the all-reduce of owners on `runs`, which are sorted by zone; without hops. Allocates nothing
// where `shape` held as many rings before. O(runs).
void PaceAllReduce(const ir::Cluster& cluster, absl::Span<const NodeRun> runs, AllReduce& shape);

// `nodes`: the network's node of each owner, ascending.
AllReduce MakeAllReduce(const Network& network, const std::vector<int>& nodes);

// Duration with all links to itself.
double AllReduceSeconds(const AllReduce& shape, double bytes);

}  // namespace sail::sim
