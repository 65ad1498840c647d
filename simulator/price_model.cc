#include "simulator/price_model.h"

#include <cmath>

#include "compiler/base/tolerance.h"

namespace sail::sim {

void AddMoney(const Network& network, const std::vector<double>& zone_bytes, ir::Report& report) {
  const ir::Cluster& cluster = network.cluster();
  for (int node = 0; node < network.node_count(); ++node) {
    const ir::PoolId pool = network.pool(node);
    if (report.pools.empty() || report.pools.back().pool != pool) report.pools.push_back({.pool = pool});
    ++report.pools.back().nodes;
  }
  report.nodes = network.node_count();
  Usd cost(0);
  for (ir::PoolCost& pool : report.pools) {
    pool.per_iteration = cluster.pool(pool.pool).price * report.iteration * pool.nodes;
    cost += pool.per_iteration;
  }
  const size_t zones = cluster.zones.size();
  for (size_t from = 0; from < zones; ++from) {
    for (size_t to = 0; to < zones; ++to) {
      const Bytes bytes(std::llround(zone_bytes[from * zones + to]));
      if (bytes.value() == 0) continue;
      const Usd egress = cluster.links[from][to].egress * bytes;
      report.traffic.push_back({.from = ir::ZoneId(static_cast<int>(from)),
                                .to = ir::ZoneId(static_cast<int>(to)),
                                .bytes = bytes,
                                .egress = egress});
      cost += egress;
    }
  }
  report.cost_per_iteration = cost;
}

void AddConstraints(const ir::Job& job, ir::Report& report) {
  for (const ir::Constraint& constraint : job.constraints) {
    ir::ConstraintReport row{
        .name = constraint.name, .value = ir::Value(report, constraint.metric), .limit = constraint.limit};
    const double left = constraint.at_most ? row.limit - row.value : row.value - row.limit;
    const double scale = std::abs(row.limit);
    row.holds = left >= -scale * kLimitRelativeTolerance;
    // A limit of zero has no share to be left; met exactly it has none, otherwise all of it is missing.
    row.slack = scale > 0 ? left / scale : left < 0 ? -1 : 0;
    report.constraints.push_back(std::move(row));
  }
}

}  // namespace sail::sim
