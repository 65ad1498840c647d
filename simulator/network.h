// Nodes of a plan, what flows between them share, and how fast one flow is alone.
//
// A flow from node A (zone x) to node B (zone y) uses up to four shared things:
//   card of A, outgoing · card of B, incoming            capacity: the machine's NIC, if declared
//   A's share of link x→y, outgoing · B's, incoming      capacity: the link's bandwidth, if it is declared per node
// and, if the link is declared per flow, is limited to its bandwidth itself. What several flows share is divided in
// proportion to their weights (the number of parallel streams each stands for).
#pragma once

#include <algorithm>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "compiler/ir/cluster.h"
#include "compiler/ir/placement.h"
#include "simulator/link_curve.h"

namespace sail::sim {

struct Hop {
  int from = 0;  // nodes of the Network, different ones
  int to = 0;
};

// Bytes that move over all hops at one common pace, after a latency. The amount is `factor` times a payload.
struct Flow {
  absl::InlinedVector<Hop, 1> hops;  // a transfer has one
  int weight = 1;
  double latency = 0;  // seconds
  double factor = 1;   // bytes over each hop per byte of payload
  double rate = 0;     // bytes per second while nothing else moves: that of the slowest hop

  // Of a ring: the same sum over a double binary tree, which small payloads take. Infinite latency where there is none.
  double tree_latency = std::numeric_limits<double>::infinity();
  double tree_factor = 2;

  // Of a ring of n: the measured all-reduces of its links, each once. They are of two nodes, two rounds of half the
  // payload; the ring has 2(n − 1) rounds of 1/n. What a measured time has over factor · payload / rate is latency.
  std::vector<const ir::LinkCurve*> measured;
  double measured_pairs = 1;  // n − 1
  double measured_share = 1;  // 2 / n

  double SecondsAlone(double payload) const {
    return std::max(MeasuredSeconds(payload),
                    std::min(latency + factor * payload / rate, tree_latency + tree_factor * payload / rate));
  }
  // Itself, or the tree if that is faster, with the latency of that payload.
  Flow For(double payload) const {
    Flow chosen = *this;
    if (tree_latency + tree_factor * payload / rate < latency + factor * payload / rate) {
      chosen.latency = tree_latency;
      chosen.factor = tree_factor;
    }
    chosen.latency = std::max(chosen.latency, MeasuredSeconds(payload) - chosen.factor * payload / rate);
    return chosen;
  }

 private:
  double MeasuredSeconds(double payload) const {
    double seconds = 0;
    for (const ir::LinkCurve* curve : measured) {
      seconds = std::max(seconds, measured_pairs * CurveSeconds(*curve, measured_share * payload));
    }
    return seconds;
  }
};

class Network {
 public:
  // The nodes that the placement uses, in order (pool, node).
  Network(const ir::Cluster& cluster, const ir::Placement& placement);

  int node_count() const { return static_cast<int>(pools_.size()); }
  int NodeOf(ir::Rank rank) const { return node_of_rank_[rank.index()]; }
  ir::PoolId pool(int node) const { return pools_[node]; }
  ir::ZoneId zone(int node) const { return cluster_.pool(pools_[node]).zone; }
  const ir::Cluster& cluster() const { return cluster_; }
  const ir::Link& link(Hop hop) const { return cluster_.link(pools_[hop.from], pools_[hop.to]); }

  // Bytes per second of `weight` parallel streams over the hop while nothing else moves.
  double HopRate(Hop hop, int weight) const;

 private:
  const ir::Cluster& cluster_;
  std::vector<ir::PoolId> pools_;  // by node
  std::vector<int> node_of_rank_;
};

// Bytes per second of `weight` parallel streams between nodes of two pools while nothing else moves.
double HopRate(const ir::Cluster& cluster, ir::PoolId from, ir::PoolId to, int weight);

}  // namespace sail::sim
