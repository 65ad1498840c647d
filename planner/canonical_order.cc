#include "planner/canonical_order.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "planner/judge.h"

namespace sail::planner {
namespace {

using Traits = std::vector<double>;  // all that something is but for names

constexpr size_t kMostAlikeRings = 3;  // up to so many zones every order is the same ring

template <class T>
void Add(const std::optional<T>& value, Traits& traits) {
  traits.push_back(value ? value->value() : -1);
}

Traits TraitsOf(const ir::Link& link) {
  Traits traits = {link.bandwidth.value(), link.latency.value(), link.egress.value(), static_cast<double>(link.share)};
  for (const ir::LinkCurve* curve : {&link.sends, &link.all_reduces}) {
    traits.push_back(static_cast<double>(curve->size()));
    for (const ir::LinkPoint& point : *curve) traits.insert(traits.end(), {point.bytes, point.seconds.value()});
  }
  return traits;
}

void AddTraits(const ir::Gpu& gpu, Traits& traits) {
  traits.insert(traits.end(),
                {static_cast<double>(gpu.backend), static_cast<double>(gpu.memory.value()), gpu.usable_memory});
  for (const auto& peak : {gpu.peak_fp32, gpu.peak_fp16, gpu.peak_bf16}) Add(peak, traits);
  Add(gpu.memory_bandwidth, traits);
  const ir::Efficiency efficiency = gpu.efficiency.value_or(ir::Efficiency{.matmul = -1});
  traits.insert(traits.end(), {efficiency.matmul, efficiency.ramp.value(), efficiency.memory});
  traits.push_back(gpu.framework_memory ? static_cast<double>(gpu.framework_memory->value()) : -1);
}

// Of a block: what was measured may tell types apart whose datasheets are equal. Infinite where none can run.
double SecondsOfABlock(const ir::Problem& problem, const sim::CostModel& costs, ir::PoolId pool) {
  const ir::Job& job = problem.job;
  const int tensor = job.tensor_degrees.front();
  const bool can_run = problem.cluster.pool(pool).quota > 0 && tensor <= problem.cluster.machine(pool).gpus_per_node &&
                       ir::CanDivide(problem.model, tensor);
  if (!can_run) return std::numeric_limits<double>::infinity();
  const int block = std::min(1, problem.model.layer_count() - 1);
  const sim::StageShape shape{.first_layer = block,
                              .last_layer = block,
                              .pool = pool,
                              .tensor = tensor,
                              .micro_batch = job.micro_batches.front(),
                              .recompute = job.recomputes.front()};
  return costs.StageTime(shape).value();
}

Traits TraitsOf(const ir::Problem& problem, const sim::CostModel& costs, ir::PoolId id, int least_nodes) {
  const ir::Pool& pool = problem.cluster.pool(id);
  const ir::Machine& machine = problem.cluster.machine(id);
  Traits traits = {SecondsOfABlock(problem, costs, id), static_cast<double>(machine.gpus_per_node),
                   machine.intra_node.value()};
  Add(machine.nic, traits);
  AddTraits(problem.cluster.gpu(id), traits);
  traits.insert(traits.end(), {static_cast<double>(pool.market), static_cast<double>(pool.quota), pool.price.value(),
                               static_cast<double>(least_nodes)});
  Add(pool.mean_lifetime, traits);
  return traits;
}

// The rank of each among the different ones.
template <class T>
std::vector<int> RanksOf(const std::vector<T>& values) {
  std::vector<T> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::vector<int> ranks;
  for (const T& value : values) {
    ranks.push_back(static_cast<int>(std::lower_bound(sorted.begin(), sorted.end(), value) - sorted.begin()));
  }
  return ranks;
}

class ZoneRanks {
 public:
  ZoneRanks(const ir::Cluster& cluster, const std::vector<Traits>& pools)
      : cluster_(cluster), zones_(cluster.zones.size()) {
    std::vector<Traits> links;
    for (const std::vector<ir::Link>& row : cluster.links) {
      for (const ir::Link& link : row) links.push_back(TraitsOf(link));
    }
    links_ = RanksOf(links);
    std::vector<std::pair<std::vector<Traits>, int>> own(zones_);
    for (size_t z = 0; z < zones_; ++z) own[z].second = links_[z * zones_ + z];
    for (size_t p = 0; p < pools.size(); ++p) own[cluster.pools[p].zone.index()].first.push_back(pools[p]);
    for (auto& [traits, link] : own) std::sort(traits.begin(), traits.end());
    ranks_ = RanksOf(own);
  }

  // By zone; no two have the same.
  std::vector<int> Find() {
    for (Refine(); Pick(); Refine()) {
    }
    return std::move(ranks_);
  }

 private:
  // Until zones of one rank have the same links with as many zones of every rank.
  void Refine() {
    for (bool is_finer = true; is_finer;) {
      using Neighbour = std::tuple<int, int, int, bool>;
      std::vector<std::pair<int, std::vector<Neighbour>>> keys(zones_);
      for (size_t z = 0; z < zones_; ++z) {
        keys[z].first = ranks_[z];
        for (size_t other = 0; other < zones_; ++other) {
          if (other == z) continue;
          keys[z].second.emplace_back(ranks_[other], links_[z * zones_ + other], links_[other * zones_ + z],
                                      cluster_.zones[z].region == cluster_.zones[other].region);
        }
        std::sort(keys[z].second.begin(), keys[z].second.end());
      }
      std::vector<int> finer = RanksOf(keys);
      is_finer = finer != ranks_;
      ranks_ = std::move(finer);
    }
  }

  // Puts one of the first zones that are alike before the others; false if no two are.
  bool Pick() {
    std::vector<std::tuple<int, std::string, size_t>> zones;
    for (size_t z = 0; z < zones_; ++z) zones.emplace_back(ranks_[z], cluster_.zones[z].name, z);
    std::sort(zones.begin(), zones.end());
    const auto alike = std::adjacent_find(
        zones.begin(), zones.end(), [](const auto& a, const auto& b) { return std::get<0>(a) == std::get<0>(b); });
    if (alike == zones.end()) return false;
    const auto& [rank, name, picked] = *alike;
    for (size_t z = 0; z < zones_; ++z) ranks_[z] = 2 * ranks_[z] + (ranks_[z] == rank && z != picked ? 1 : 0);
    return true;
  }

  const ir::Cluster& cluster_;
  const size_t zones_;
  std::vector<int> links_;  // [from · zones + to]
  std::vector<int> ranks_;
};

// By zone: its place.
std::vector<int> PlacesOfZones(const ir::Cluster& cluster, const std::vector<Traits>& pools) {
  std::set<ir::ZoneId> in_use;
  for (const ir::Pool& pool : cluster.pools) {
    if (pool.quota > 0) in_use.insert(pool.zone);
  }
  if (in_use.size() <= kMostAlikeRings) return ZoneRanks(cluster, pools).Find();
  std::vector<int> places(cluster.zones.size());
  std::iota(places.begin(), places.end(), 0);
  return places;
}

// Pools as `order` says, zones at their `places`, regions as their first zones.
ir::Cluster Reorder(const ir::Cluster& cluster, const std::vector<ir::PoolId>& order, const std::vector<int>& places) {
  ir::Cluster reordered = cluster;
  const size_t zones = places.size();
  std::vector<size_t> zone_at(zones);
  for (size_t z = 0; z < zones; ++z) zone_at[places[z]] = z;
  reordered.regions.clear();
  std::vector<int> region_place(cluster.regions.size(), -1);
  for (size_t place = 0; place < zones; ++place) {
    const ir::Zone& zone = cluster.zones[zone_at[place]];
    int& region = region_place[zone.region.index()];
    if (region < 0) {
      region = static_cast<int>(reordered.regions.size());
      reordered.regions.push_back(cluster.regions[zone.region.index()]);
    }
    reordered.zones[place] = {.name = zone.name, .region = ir::RegionId(region)};
    for (size_t to = 0; to < zones; ++to) reordered.links[place][to] = cluster.links[zone_at[place]][zone_at[to]];
  }
  for (size_t p = 0; p < order.size(); ++p) {
    reordered.pools[p] = cluster.pool(order[p]);
    reordered.pools[p].zone = ir::ZoneId(places[reordered.pools[p].zone.index()]);
  }
  return reordered;
}

}  // namespace

CanonicalOrder::CanonicalOrder(const ir::Problem& problem, const sim::CostModel& costs,
                               const std::vector<int>& least_nodes)
    : given_(problem), given_costs_(costs), least_nodes_(least_nodes) {
  const ir::Cluster& cluster = problem.cluster;
  std::vector<Traits> traits;
  for (int p = 0; p < static_cast<int>(cluster.pools.size()); ++p) {
    const int wanted = least_nodes.empty() ? 0 : least_nodes[p];
    traits.push_back(TraitsOf(problem, costs, ir::PoolId(p), wanted));
    order_.push_back(ir::PoolId(p));
  }
  const std::vector<int> places = PlacesOfZones(cluster, traits);
  const auto key = [&](ir::PoolId id) {
    const ir::Pool& pool = cluster.pool(id);
    return std::tie(places[pool.zone.index()], traits[id.index()], pool.name);
  };
  std::sort(order_.begin(), order_.end(), [&](ir::PoolId a, ir::PoolId b) { return key(a) < key(b); });
  if (std::is_sorted(order_.begin(), order_.end()) && std::is_sorted(places.begin(), places.end())) {
    order_.clear();
    return;
  }
  reordered_ = {.job = problem.job,
                .model = problem.model,
                .cluster = Reorder(cluster, order_, places),
                .profile = problem.profile};
  costs_ = costs.Reordered(reordered_, order_);
  for (size_t p = 0; p < least_nodes.size(); ++p) least_nodes_[p] = least_nodes[order_[p].index()];
}

ir::Plan CanonicalOrder::Restore(ir::Plan plan) const {
  if (is_given()) return plan;
  for (ir::Pipeline& pipeline : plan.pipelines) {
    for (ir::Stage& stage : pipeline.stages) stage.group.pool = order_[stage.group.pool.index()];
  }
  Normalize(plan);
  return plan;
}

}  // namespace sail::planner
