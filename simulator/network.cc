#include "simulator/network.h"

#include <algorithm>
#include <tuple>

namespace sail::sim {

Network::Network(const ir::Cluster& cluster, const ir::Placement& placement) : cluster_(cluster) {
  node_of_rank_.reserve(placement.rank_count());
  for (int rank = 0; rank < placement.rank_count(); ++rank) {
    const ir::RankPlace& place = placement.place(ir::Rank(rank));
    // Ranks are numbered by (pool, node, gpu), so a new node begins where the pair changes.
    const bool is_new =
        rank == 0 || std::tie(placement.place(ir::Rank(rank - 1)).pool, placement.place(ir::Rank(rank - 1)).node) !=
                         std::tie(place.pool, place.node);
    if (is_new) pools_.push_back(place.pool);
    node_of_rank_.push_back(node_count() - 1);
  }
}

double HopRate(const ir::Cluster& cluster, ir::PoolId from, ir::PoolId to, int weight) {
  const ir::Link& link = cluster.link(from, to);
  double rate = link.bandwidth.value() * (link.share == ir::LinkShare::kPerFlow ? weight : 1);
  if (const auto& nic = cluster.machine(from).nic) rate = std::min(rate, nic->value());
  if (const auto& nic = cluster.machine(to).nic) rate = std::min(rate, nic->value());
  return rate;
}

double Network::HopRate(Hop hop, int weight) const {
  return sim::HopRate(cluster_, pools_[hop.from], pools_[hop.to], weight);
}

}  // namespace sail::sim
