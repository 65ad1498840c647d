// Strict readers of what print.cc writes: clusters, and the times of their gpus.
#include "compiler/ir/parse_fields.h"
#include "compiler/ir/print.h"

namespace sail::ir {
namespace {

int GetIndex(ObjectReader& reader, absl::string_view key, size_t size) {
  int index = 0;
  reader.Get(key, &index);
  if (index >= 0 && index < static_cast<int>(size)) return index;
  reader.Fail(key, absl::StrCat("index ", index, " is out of range"));
  return 0;
}

absl::Status ParseEfficiency(ObjectReader& gpu, std::optional<Efficiency>* out) {
  gpu.Ignore("efficiency");
  if (!gpu.Has("efficiency")) return absl::OkStatus();
  Efficiency& efficiency = out->emplace();
  ObjectReader reader(gpu.Raw("efficiency"), gpu.PathOf("efficiency"));
  reader.Get("matmul", &efficiency.matmul);
  GetQuantity(reader, "ramp_s", &efficiency.ramp);
  reader.Get("memory", &efficiency.memory);
  CheckRange(reader, "matmul", efficiency.matmul, 1 / kLargest, 1);
  CheckRange(reader, "ramp_s", efficiency.ramp.value(), 0, kLargest);
  CheckRange(reader, "memory", efficiency.memory, 1 / kLargest, 1);
  return reader.Finish();
}

absl::Status ParseHardware(ObjectReader& reader, Cluster& cluster) {
  SAIL_RETURN_IF_ERROR(ForEach(reader, "gpus", [&](ObjectReader& element) {
    Gpu& gpu = cluster.gpus.emplace_back();
    element.Get("name", &gpu.name);
    GetEnum(element, "backend", kBackends, &gpu.backend);
    GetBytes(element, "memory_bytes", &gpu.memory);
    element.Get("usable_memory", &gpu.usable_memory);
    CheckRange(element, "memory_bytes", static_cast<double>(gpu.memory.value()), 1, 0x1p50);
    CheckRange(element, "usable_memory", gpu.usable_memory, 0, 1);
    GetOptional(element, "peak_fp32_flop_per_s", &gpu.peak_fp32);
    GetOptional(element, "peak_fp16_flop_per_s", &gpu.peak_fp16);
    GetOptional(element, "peak_bf16_flop_per_s", &gpu.peak_bf16);
    GetOptional(element, "memory_bandwidth_bytes_per_s", &gpu.memory_bandwidth);
    GetOptionalBytes(element, "framework_memory_bytes", &gpu.framework_memory);
    return ParseEfficiency(element, &gpu.efficiency);
  }));
  return ForEach(reader, "machines", [&](ObjectReader& element) {
    Machine& machine = cluster.machines.emplace_back();
    element.Get("name", &machine.name);
    machine.gpu = GpuId(FindNamed(element, "gpu", cluster.gpus));
    element.Get("gpus_per_node", &machine.gpus_per_node);
    CheckRange(element, "gpus_per_node", machine.gpus_per_node, 1, 1024);
    if (machine.gpus_per_node > 1) {
      GetPositive(element, "intra_node_bytes_per_s", &machine.intra_node);
    } else {
      GetQuantity(element, "intra_node_bytes_per_s", &machine.intra_node);
      CheckRange(element, "intra_node_bytes_per_s", machine.intra_node.value(), 0, kLargest);
    }
    GetOptional(element, "nic_bytes_per_s", &machine.nic);
    return absl::OkStatus();
  });
}

absl::Status ParseZones(ObjectReader& reader, Cluster& cluster) {
  reader.Get("regions", &cluster.regions);
  return ForEach(reader, "zones", [&](ObjectReader& element) {
    Zone& zone = cluster.zones.emplace_back();
    element.Get("name", &zone.name);
    std::string region;
    element.Get("region", &region);
    for (size_t i = 0; i < cluster.regions.size(); ++i) {
      if (cluster.regions[i] == region) zone.region = RegionId(static_cast<int>(i));
    }
    if (zone.region.index() < 0) element.Fail("region", absl::StrCat("unknown name \"", region, "\""));
    return absl::OkStatus();
  });
}

absl::Status ParsePools(ObjectReader& reader, Cluster& cluster) {
  return ForEach(reader, "pools", [&](ObjectReader& element) {
    Pool& pool = cluster.pools.emplace_back();
    element.Get("name", &pool.name);
    pool.zone = ZoneId(GetIndex(element, "zone", cluster.zones.size()));
    pool.machine = MachineId(FindNamed(element, "machine", cluster.machines));
    GetEnum(element, "market", kMarkets, &pool.market);
    element.Get("quota_nodes", &pool.quota);
    CheckRange(element, "quota_nodes", pool.quota, 0, 1e6);
    GetQuantity(element, "price_usd_per_s", &pool.price);
    CheckRange(element, "price_usd_per_s", pool.price.value(), 0, kLargest);
    GetOptional(element, "mean_lifetime_s", &pool.mean_lifetime);
    return absl::OkStatus();
  });
}

// Absent, or pairs of bytes and seconds.
void GetCurve(ObjectReader& reader, absl::string_view key, LinkCurve* curve) {
  if (!reader.Has(key)) return;
  const auto is_positive = [](const Json& json) {
    return json.is_number() && json.get<double>() > 0 && json.get<double>() <= kLargest;
  };
  const Json& points = reader.Raw(key);
  if (!points.is_array()) return reader.Fail(key, "expected a list");
  for (const Json& point : points) {
    if (!point.is_array() || point.size() != 2 || !is_positive(point[0]) || !is_positive(point[1])) {
      return reader.Fail(key, "expected pairs of positive numbers");
    }
    const LinkPoint next{.bytes = point[0].get<double>(), .seconds = Seconds(point[1].get<double>())};
    if (!curve->empty() && (next.bytes <= curve->back().bytes || next.seconds < curve->back().seconds)) {
      return reader.Fail(key, "expected sizes that ascend and times that do not fall");
    }
    curve->push_back(next);
  }
}

absl::Status ParseLinks(ObjectReader& reader, Cluster& cluster) {
  const size_t zones = cluster.zones.size();
  cluster.links.assign(zones, std::vector<Link>(zones));
  std::vector<bool> seen(zones * zones, false);
  SAIL_RETURN_IF_ERROR(ForEach(reader, "links", [&](ObjectReader& element) {
    const int from = GetIndex(element, "from", zones);
    const int to = GetIndex(element, "to", zones);
    if (zones == 0) return absl::OkStatus();
    Link& link = cluster.links[from][to];
    GetPositive(element, "bandwidth_bytes_per_s", &link.bandwidth);
    GetQuantity(element, "latency_s", &link.latency);
    CheckRange(element, "latency_s", link.latency.value(), 0, 1e6);
    GetQuantity(element, "egress_usd_per_byte", &link.egress);
    CheckRange(element, "egress_usd_per_byte", link.egress.value(), 0, 1);
    GetEnum(element, "per", kLinkShares, &link.share);
    GetCurve(element, "sends", &link.sends);
    GetCurve(element, "all_reduces", &link.all_reduces);
    seen[from * zones + to] = true;
    return absl::OkStatus();
  }));
  for (size_t i = 0; i < seen.size(); ++i) {
    if (!seen[i]) reader.Fail("links", absl::StrCat("no link from zone ", i / zones, " to zone ", i % zones));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Cluster> ParseCluster(const Json& json, std::string path) {
  Cluster cluster;
  ObjectReader reader(json, std::move(path));
  reader.Get("name", &cluster.name);
  SAIL_RETURN_IF_ERROR(ParseHardware(reader, cluster));
  SAIL_RETURN_IF_ERROR(ParseZones(reader, cluster));
  SAIL_RETURN_IF_ERROR(ParsePools(reader, cluster));
  SAIL_RETURN_IF_ERROR(ParseLinks(reader, cluster));
  SAIL_RETURN_IF_ERROR(reader.Finish());
  return cluster;
}

absl::StatusOr<Profile> ParseProfile(const Json& json, const Cluster& cluster, std::string path) {
  Profile profile;
  if (!json.is_array()) return absl::InvalidArgumentError(absl::StrCat(path, ": expected a list"));
  for (size_t i = 0; i < json.size(); ++i) {
    ObjectReader element(json[i], absl::StrCat(path, "[", i, "]"));
    ProfileKey key;
    LayerTime time;
    GetEnum(element, "layer", kLayerKinds, &key.kind);
    key.gpu = GpuId(FindNamed(element, "gpu", cluster.gpus));
    element.Get("tensor", &key.tensor);
    element.Get("micro_batch", &key.micro_batch);
    CheckRange(element, "tensor", key.tensor, 1, 1024);
    CheckRange(element, "micro_batch", key.micro_batch, 1, kLargestMicroBatch);
    GetPositive(element, "forward_s", &time.forward);
    // An embedding may have no backward worth measuring, and a measured profile no optimizer (simulator/profiles.h).
    GetQuantity(element, "backward_s", &time.backward);
    CheckRange(element, "backward_s", time.backward.value(), 0, kLargest);
    GetQuantity(element, "optimizer_s", &time.optimizer);
    CheckRange(element, "optimizer_s", time.optimizer.value(), 0, kLargest);
    GetOptionalBytes(element, "activation_bytes", &time.activations);
    GetEnum(element, "provenance", kProvenances, &time.provenance);
    SAIL_RETURN_IF_ERROR(element.Finish());
    profile.Set(key, time);
  }
  return profile;
}

}  // namespace sail::ir
