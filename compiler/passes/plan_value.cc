// A plan as a value of the language: what `plan` is in assertions.
#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_format.h"
#include "compiler/ir/names.h"
#include "compiler/passes/assertions.h"
#include "compiler/passes/metrics.h"

namespace sail {
namespace {

class PlanRecord {
 public:
  void Add(std::string key, Value value) { record_.fields.emplace_back(std::move(key), std::move(value)); }
  void Add(std::string key, absl::string_view text) { Add(std::move(key), Value{TextValue{std::string(text)}, {}}); }
  // `base_value` in base units, quoted in `unit`.
  void Add(std::string key, double base_value, absl::string_view unit) {
    constexpr double kLargest = 1e18;  // stands for infinitely many tokens per dollar
    const Unit known = KnownUnit(unit);
    const auto exact = Rational::FromLiteral(absl::StrFormat("%.12g", std::min(base_value, kLargest)));
    Add(std::move(key), Value{Amount{.value = exact.value_or(Rational(0)),
                                     .dimension = known.dimension,
                                     .unit = std::string(unit),
                                     .unit_factor = known.factor},
                              {}});
  }
  Value Take() {
    for (const auto& [key, value] : record_.fields) record_.total += SizeOf(value);
    return Value{std::move(record_), {}};
  }

 private:
  RecordValue record_;
};

Value ListOf(std::vector<Value> elements) {
  ListValue list{.elements = std::move(elements)};
  for (const Value& element : list.elements) list.total += SizeOf(element);
  return Value{std::move(list), {}};
}

Value Texts(const std::set<std::string>& texts) {
  std::vector<Value> elements;
  for (const std::string& text : texts) elements.push_back({TextValue{text}, {}});
  return ListOf(std::move(elements));
}

Value Pools(const ir::Cluster& cluster, const ir::Report& report) {
  PlanRecord pools;
  for (size_t i = 0; i < cluster.pools.size(); ++i) {
    const ir::Pool& pool = cluster.pools[i];
    int nodes = 0;
    for (const ir::PoolCost& cost : report.pools) {
      if (cost.pool.index() == static_cast<int>(i)) nodes = cost.nodes;
    }
    PlanRecord record;
    record.Add("nodes", nodes, "nodes");
    record.Add("gpus", nodes * cluster.machines[pool.machine.index()].gpus_per_node, "GPUs");
    record.Add("zone", cluster.zones[pool.zone.index()].name);
    record.Add("machine", cluster.machines[pool.machine.index()].name);
    record.Add("market", ir::ToString(pool.market));
    pools.Add(pool.name, record.Take());
  }
  return pools.Take();
}

Value Links(const ir::Cluster& cluster, const ir::Report& report) {
  std::vector<Value> links;
  for (const ir::LinkTraffic& traffic : report.traffic) {
    const ir::Link& link = cluster.links[traffic.from.index()][traffic.to.index()];
    PlanRecord record;
    record.Add("from", cluster.zones[traffic.from.index()].name);
    record.Add("to", cluster.zones[traffic.to.index()].name);
    record.Add("latency", link.latency.value(), "ms");
    record.Add("bandwidth", link.bandwidth.value(), "Gbps");
    record.Add("egress", link.egress.value(), "USD/GB");
    record.Add("bytes", static_cast<double>(traffic.bytes.value()), "GB");
    links.push_back(record.Take());
  }
  return ListOf(std::move(links));
}

Value Pipelines(const ir::Plan& plan) {
  std::vector<Value> pipelines;
  for (const ir::Pipeline& pipeline : plan.pipelines) {
    PlanRecord record;
    record.Add("stages", static_cast<double>(pipeline.stages.size()), "stages");
    record.Add("micro_batch", pipeline.micro_batch, "samples");
    record.Add("micro_batches", pipeline.micro_batches, "");
    pipelines.push_back(record.Take());
  }
  return ListOf(std::move(pipelines));
}

}  // namespace

Value PlanValue(const ir::Problem& problem, const ir::Plan& plan, const ir::Report& report) {
  const ir::Cluster& cluster = problem.cluster;
  std::set<std::string> regions, zones;
  for (const ir::PoolCost& cost : report.pools) {
    const ir::Zone& zone = cluster.zones[cluster.pools[cost.pool.index()].zone.index()];
    zones.insert(zone.name);
    regions.insert(cluster.regions[zone.region.index()]);
  }
  PlanRecord record;
  record.Add("regions", Texts(regions));
  record.Add("zones", Texts(zones));
  record.Add("pools", Pools(cluster, report));
  record.Add("links", Links(cluster, report));
  record.Add("pipelines", Pipelines(plan));
  for (const auto& [metric, name] : ir::kMetrics) {
    record.Add(std::string(name), ir::Value(report, metric), MetricUnit(metric));
  }
  return record.Take();
}

}  // namespace sail
