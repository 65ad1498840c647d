#include "tests/bench/planner/problem.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/status_macros.h"
#include "compiler/ir/names.h"
#include "tests/bench/accuracy/measured_model.h"

namespace sail::bench {
namespace {

constexpr int kGpusPerNode = 4;
constexpr int kDeepest = 16;  // pipelines, unless the published planner went deeper

template <class... Parts>
absl::Status Fault(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

absl::StatusOr<UsdPerSecond> PriceOf(const std::string& gpu) {
  if (gpu == "A100-40") return UsdPerHour(3.673385);
  if (gpu == "V100-16") return UsdPerHour(2.859998);
  return Fault("no published price of gpu ", gpu);
}

// "us-central1-a" → "us-central1".
std::string RegionOf(const std::string& zone) { return zone.substr(0, zone.rfind('-')); }

template <class Id, class Item>
Id IndexOf(std::vector<Item>& items, const std::string& name, std::string Item::*member) {
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].*member == name) return Id(static_cast<int>(i));
  }
  items.emplace_back().*member = name;
  return Id(static_cast<int>(items.size()) - 1);
}

ir::ZoneId ZoneOf(const std::string& name, ir::Cluster& cluster) {
  const auto zone = IndexOf<ir::ZoneId>(cluster.zones, name, &ir::Zone::name);
  const std::string region = RegionOf(name);
  const auto it = std::find(cluster.regions.begin(), cluster.regions.end(), region);
  cluster.zones[zone.index()].region = ir::RegionId(static_cast<int>(it - cluster.regions.begin()));
  if (it == cluster.regions.end()) cluster.regions.push_back(region);
  return zone;
}

absl::StatusOr<double> RateBetween(const sim::PublicNetwork& network, const sim::LinkEnd& from,
                                   const sim::LinkEnd& to) {
  const sim::LinkCurve* curve = network.Between(from, to);
  if (curve != nullptr) return curve->largest.value();
  return Fault("no bandwidth from ", from.gpu, " in ", from.zone, " to ", to.gpu, " in ", to.zone);
}

// A machine of each gpu, with the fastest card that any of its zones has.
absl::Status AddMachine(const std::string& name, const std::string& zone, const PlannerData& data,
                        const Calibration& calibration, ir::Cluster& cluster) {
  const auto gpu = IndexOf<ir::GpuId>(cluster.gpus, sim::PublicName(name), &ir::Gpu::name);
  const auto sheet = calibration.gpus.find(name);
  const sim::LinkCurve* inside = data.sailor.network.Inside(name, kGpusPerNode);
  if (sheet == calibration.gpus.end() || inside == nullptr) return Fault("no datasheet of gpu ", name);
  cluster.gpus[gpu.index()].memory = Bytes(static_cast<int64_t>(sheet->second.memory_bytes));
  cluster.gpus[gpu.index()].memory_bandwidth = BytesPerSecond(sheet->second.memory_bytes_per_s);
  cluster.machines.resize(cluster.gpus.size());
  ir::Machine& machine = cluster.machines[gpu.index()];
  const sim::LinkEnd end{.gpu = name, .zone = zone, .gpus = kGpusPerNode};
  SAIL_ASSIGN_OR_RETURN(const double rate, RateBetween(data.sailor.network, end, end));
  const double card = std::max(rate, machine.nic ? machine.nic->value() : 0);
  machine = {.name = absl::StrCat(sim::PublicName(name), "x", kGpusPerNode),
             .gpu = gpu,
             .gpus_per_node = kGpusPerNode,
             .intra_node = inside->largest,
             .nic = BytesPerSecond(card)};
  return absl::OkStatus();
}

absl::Status AddLinks(const PlannerData& data, ir::Cluster& cluster) {
  const size_t zones = cluster.zones.size();
  cluster.links.assign(zones, std::vector<ir::Link>(zones));
  for (const ir::Pool& from : cluster.pools) {
    for (const ir::Pool& to : cluster.pools) {
      const ir::Zone& a = cluster.zones[from.zone.index()];
      const ir::Zone& b = cluster.zones[to.zone.index()];
      const auto end = [&](const ir::Pool& pool, const ir::Zone& zone) {
        return sim::LinkEnd{.gpu = cluster.gpus[cluster.machines[pool.machine.index()].gpu.index()].name,
                            .zone = zone.name,
                            .gpus = kGpusPerNode};
      };
      SAIL_ASSIGN_OR_RETURN(const double rate, RateBetween(data.sailor.network, end(from, a), end(to, b)));
      const auto price = data.egress.find({a.name, b.name});
      if (price == data.egress.end()) return Fault("no price of egress from ", a.name, " to ", b.name);
      ir::Link& link = cluster.links[from.zone.index()][to.zone.index()];
      link.bandwidth = std::max(link.bandwidth, BytesPerSecond(rate));
      link.latency = Seconds(from.zone == to.zone ? 30e-6 : a.region == b.region ? 500e-6 : 18e-3);
      link.egress = UsdPerByte(price->second / 1e9);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<ir::Cluster> ClusterOf(const Scenario& scenario, const PlannerData& data,
                                      const Calibration& calibration) {
  ir::Cluster cluster;
  cluster.name = "cluster";
  for (const auto& [place, count] : scenario.gpus) {
    const auto& [gpu, zone] = place;
    if (count % kGpusPerNode != 0) return Fault(count, " GPUs are no whole nodes of ", kGpusPerNode);
    SAIL_RETURN_IF_ERROR(AddMachine(gpu, zone, data, calibration, cluster));
    SAIL_ASSIGN_OR_RETURN(const UsdPerSecond price, PriceOf(gpu));
    const auto machine = IndexOf<ir::GpuId>(cluster.gpus, sim::PublicName(gpu), &ir::Gpu::name);
    cluster.pools.push_back({.name = absl::StrCat(sim::PublicName(gpu), "_", sim::PublicName(zone)),
                             .zone = ZoneOf(zone, cluster),
                             .machine = ir::MachineId(machine.index()),
                             .quota = count / kGpusPerNode,
                             .price = price * kGpusPerNode});
  }
  SAIL_RETURN_IF_ERROR(AddLinks(data, cluster));
  return cluster;
}

void AddCandidates(const Scenario& scenario, const sim::PublicModel& model, ir::Problem& problem) {
  std::set<int> degrees;
  std::set<int> micro_batches;
  for (const auto& [key, times] : model.times) {
    const bool is_used = std::any_of(problem.cluster.gpus.begin(), problem.cluster.gpus.end(),
                                     [&key = key](const ir::Gpu& gpu) { return gpu.name == key.gpu; });
    if (!is_used || key.tensor > kGpusPerNode || model.Sizes(key.tensor) == nullptr) continue;
    degrees.insert(key.tensor);
    micro_batches.insert(key.micro_batch);
  }
  problem.job.tensor_degrees.assign(degrees.begin(), degrees.end());
  problem.job.micro_batches.assign(micro_batches.begin(), micro_batches.end());
  const int deepest = std::max(kDeepest, static_cast<int>(scenario.published.plan.stages.size()));
  for (int depth = 1; depth <= deepest; ++depth) problem.job.pipeline_depths.push_back(depth);
}

// Entries for candidates that were not measured: they fit nowhere.
void CompleteWithMisfits(ir::Problem& problem) {
  constexpr Bytes kFitsNowhere = Bytes(int64_t{1} << 48);
  constexpr Seconds kNever = Seconds(1e6);
  for (size_t g = 0; g < problem.cluster.gpus.size(); ++g) {
    for (const int tensor : problem.job.tensor_degrees) {
      for (const int micro_batch : problem.job.micro_batches) {
        for (const auto& [kind, name] : ir::kLayerKinds) {
          const ir::ProfileKey key{
              .kind = kind, .gpu = ir::GpuId(static_cast<int>(g)), .tensor = tensor, .micro_batch = micro_batch};
          if (problem.profile.Find(key) != nullptr) continue;
          problem.profile.Set(key, {.forward = kNever, .backward = kNever, .activations = kFitsNowhere});
        }
      }
    }
  }
}

// GPUs in use by pool.
std::vector<int> GpusOf(const ir::Cluster& cluster, const ir::Plan& plan) {
  std::vector<int> gpus(cluster.pools.size(), 0);
  for (const ir::Pipeline& pipeline : plan.pipelines) {
    for (const ir::Stage& stage : pipeline.stages) gpus[stage.group.pool.index()] += stage.group.degree();
  }
  return gpus;
}

}  // namespace

absl::StatusOr<EgressPrices> ReadEgressPrices(const Json& json) {
  EgressPrices prices;
  for (const auto& [from, row] : json.items()) {
    for (const auto& [to, price] : row.items()) {
      if (!price.is_number() || !(price.get<double>() >= 0)) {
        return Fault("egress_usd_per_gb.json: ", from, ".", to, ": expected a price");
      }
      prices[{from, to}] = price.get<double>();
    }
  }
  return prices;
}

absl::StatusOr<ir::Problem> ProblemOf(const Scenario& scenario, const PlannerData& data,
                                      const Calibration& calibration) {
  const auto model = data.sailor.models.find(scenario.model);
  if (model == data.sailor.models.end()) return Fault("no measured layers of model ", scenario.model);
  ir::Problem problem;
  SAIL_ASSIGN_OR_RETURN(problem.cluster, ClusterOf(scenario, data, calibration));
  problem.job.name = "job";
  problem.job.global_batch = scenario.global_batch;
  problem.job.objective = {scenario.objective};
  if (scenario.limit) problem.job.constraints = {*scenario.limit};
  AddCandidates(scenario, model->second, problem);
  if (problem.job.tensor_degrees.empty()) return Fault("nothing of ", scenario.model, " was measured on these GPUs");
  SAIL_ASSIGN_OR_RETURN(problem.model, ModelOf(model->second, problem.job.tensor_degrees.back()));
  problem.profile = ProfileOf(model->second, problem.cluster, calibration("sailor.step_traffic"));
  CompleteWithMisfits(problem);
  return problem;
}

absl::StatusOr<PublishedPlan> ImportPublished(const Scenario& scenario, const ir::Problem& problem) {
  PublishedPlan result{.problem = problem, .plan = {}};
  sim::PublicPlan read = scenario.published.plan;
  for (sim::PublicPlan::Stage& stage : read.stages) std::reverse(stage.replicas.begin(), stage.replicas.end());
  for (ir::Pool& pool : result.problem.cluster.pools) pool.quota *= 2;
  if (scenario.global_batch % read.micro_batch != 0) return Fault("the batch is no multiple of the micro-batch");
  const auto micro_batches = static_cast<int>(scenario.global_batch / read.micro_batch);
  const int rounded_up = (micro_batches + read.replicas() - 1) / read.replicas();
  result.problem.job.global_batch = static_cast<int64_t>(rounded_up) * read.replicas() * read.micro_batch;
  SAIL_ASSIGN_OR_RETURN(result.plan, sim::ImportPlan(read, result.problem));
  result.problem.job.global_batch = scenario.global_batch;
  const int too_many = rounded_up * read.replicas() - micro_batches;
  for (int p = 0; p < too_many; ++p) --result.plan.pipelines[p].micro_batches;
  return result;
}

std::string BeyondQuotas(const ir::Problem& problem, const ir::Plan& plan) {
  const ir::Cluster& cluster = problem.cluster;
  const std::vector<int> used = GpusOf(cluster, plan);
  std::vector<std::string> excesses;
  for (size_t p = 0; p < used.size(); ++p) {
    const ir::PoolId pool(static_cast<int>(p));
    const int quota = cluster.pools[p].quota * cluster.machine(pool).gpus_per_node;
    if (used[p] <= quota) continue;
    const std::string& zone = cluster.zones[cluster.pools[p].zone.index()].name;
    excesses.push_back(absl::StrCat(used[p], " of ", quota, " ", cluster.gpu(pool).name, " in ", zone));
  }
  return absl::StrJoin(excesses, ", ");
}

double PublishedUsd(const ir::Problem& problem, const ir::Plan& plan, const ir::Report& report) {
  const std::vector<int> used = GpusOf(problem.cluster, plan);
  Usd usd(0);
  for (size_t p = 0; p < used.size(); ++p) {
    const ir::PoolId pool(static_cast<int>(p));
    const double nodes = static_cast<double>(used[p]) / problem.cluster.machine(pool).gpus_per_node;
    usd += problem.cluster.pool(pool).price * report.iteration * nodes;
  }
  for (const ir::LinkTraffic& traffic : report.traffic) usd += traffic.egress;
  return usd.value();
}

}  // namespace sail::bench
