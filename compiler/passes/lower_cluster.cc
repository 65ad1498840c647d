#include "compiler/passes/lower_cluster.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "compiler/base/number_text.h"
#include "compiler/ir/names.h"

namespace sail {
namespace {

struct PlacedPool {
  const CheckedBlock* block = nullptr;
  const CheckedBlock* machine = nullptr;
  const CheckedBlock* gpu = nullptr;
  int zone = 0;  // index into the declared zones
};

constexpr size_t kMaxPools = 1'000;  // of one cluster; the planner has times for all pairs of pools and degrees

class ClusterLowering {
 public:
  ClusterLowering(const CheckedBlock& resources, DiagnosticSink& sink) : resources_(resources), sink_(sink) {}

  std::optional<LoweredCluster> Lower() {
    const int errors = sink_.reports();
    CollectZones();
    CollectPools(resources_, "", -1);
    if (pools_.empty()) return std::nullopt;  // a template, unless a job uses it: the job reports that
    if (sink_.reports() != errors || is_incomplete_) return std::nullopt;
    lowered_.resources = &resources_;
    lowered_.cluster.name = resources_.label;
    LowerZones();
    LowerMachines();
    LowerPools();
    if (sink_.reports() == errors) LowerLinks(zones_, used_, lowered_, sink_);
    if (sink_.reports() == errors && pools_.size() > kMaxPools) {
      Report(DiagnosticCode::kTooLarge, resources_.header,
             absl::StrCat("`", resources_.label, "` has ", pools_.size(), " pools, at most ", kMaxPools,
                          " are supported"));
    }
    if (sink_.reports() != errors) return std::nullopt;
    return std::move(lowered_);
  }

 private:
  void Report(DiagnosticCode code, SourceRange range, std::string message, std::vector<std::string> helps = {},
              std::vector<Label> secondary = {}) {
    sink_.Report(code, range, std::move(message), std::move(helps), std::move(secondary));
  }

  // A zone outside any region forms a region of its own.
  void CollectZones() {
    for (const CheckedBlock* region : resources_.Children("region")) {
      for (const CheckedBlock* zone : region->Children("zone")) AddZone(region->label, *zone);
    }
    for (const CheckedBlock* zone : resources_.Children("zone")) AddZone(zone->label, *zone);
    std::map<std::string, int> uses;
    for (const DeclaredZone& zone : zones_) ++uses[zone.label];
    for (DeclaredZone& zone : zones_) {
      zone.name = uses[zone.label] == 1 ? zone.label : absl::StrCat(zone.region, "/", zone.label);
    }
  }

  void AddZone(const std::string& region, const CheckedBlock& zone) {
    const auto [known, is_new] = zone_index_.emplace(std::pair(region, zone.label), static_cast<int>(zones_.size()));
    if (!is_new) {
      Report(DiagnosticCode::kDuplicateLabel, zone.label_range,
             absl::StrCat("zone `", zone.label, "` is declared twice"), {},
             {{zones_[known->second].range, "first declared here"}});
      return;
    }
    zone_of_block_[&zone] = static_cast<int>(zones_.size());
    zones_.push_back({.region = region, .label = zone.label, .name = "", .range = zone.label_range});
  }

  // Pools of `block` and of the regions and zones inside it.
  void CollectPools(const CheckedBlock& block, const std::string& region, int zone) {
    for (const auto& child : block.children) {
      const absl::string_view kind = child->kind->name;
      if (kind == "region") CollectPools(*child, child->label, -1);
      if (kind == "zone") {
        const auto found = zone_of_block_.find(child.get());
        if (found != zone_of_block_.end()) CollectPools(*child, region, found->second);
      }
      if (kind == "pool") AddPool(*child, region, zone);
    }
  }

  void AddPool(const CheckedBlock& pool, const std::string& region, int zone) {
    const auto [known, is_new] = pool_of_label_.emplace(pool.label, &pool);
    if (!is_new) {
      Report(DiagnosticCode::kDuplicateLabel, pool.label_range,
             absl::StrCat("pool `", pool.label, "` is declared twice in `", resources_.label, "`"),
             {"rename one of them"}, {{known->second->label_range, "first declared here"}});
      return;
    }
    const auto placed = ZoneOf(pool, region, zone);
    if (!placed) return;
    const CheckedBlock* machine = pool.Follow("machine");
    const CheckedBlock* gpu = machine != nullptr && machine->is_sound ? machine->Follow("gpu") : nullptr;
    if (gpu == nullptr || !gpu->is_sound) {
      is_incomplete_ = true;  // what is wrong with them is already reported
      return;
    }
    pools_.push_back({.block = &pool, .machine = machine, .gpu = gpu, .zone = *placed});
  }

  std::optional<int> ZoneOf(const CheckedBlock& pool, const std::string& region, int zone) {
    if (zone >= 0 && pool.Has("zone")) {
      Report(DiagnosticCode::kDuplicateAttribute, pool.RangeOf("zone"),
             absl::StrCat("pool `", pool.label, "` already stands in zone `", zones_[zone].name, "`"),
             {"drop the attribute, or move the pool out of the zone"});
      return std::nullopt;
    }
    if (zone >= 0) return zone;
    if (!pool.Has("zone")) {
      Report(DiagnosticCode::kMissingAttribute, pool.header, absl::StrCat("pool `", pool.label, "` is missing `zone`"),
             {"move it into a `zone` block, or add `zone = \"…\"`"});
      return std::nullopt;
    }
    return FindZone(zones_, pool.GetText("zone"), region, pool.RangeOf("zone"), resources_, sink_);
  }

  void LowerZones() {
    std::set<int> used;
    for (const PlacedPool& pool : pools_) used.insert(pool.zone);
    used_.assign(used.begin(), used.end());
    std::sort(used_.begin(), used_.end(), [&](int a, int b) {
      return std::pair(zones_[a].region, zones_[a].label) < std::pair(zones_[b].region, zones_[b].label);
    });
    ir::Cluster& cluster = lowered_.cluster;
    for (const int index : used_) {
      const DeclaredZone& zone = zones_[index];
      if (cluster.regions.empty() || cluster.regions.back() != zone.region) cluster.regions.push_back(zone.region);
      const int region = static_cast<int>(cluster.regions.size()) - 1;
      zone_ids_.emplace(index, static_cast<int>(cluster.zones.size()));
      cluster.zones.push_back({.name = zone.name, .region = ir::RegionId(region)});
    }
  }

  // Machines and gpus by name; two different blocks of one name cannot be told apart in plans.
  void LowerMachines() {
    std::map<std::string, const CheckedBlock*> machines;
    std::map<std::string, const CheckedBlock*> gpus;
    for (const PlacedPool& pool : pools_) {
      AddNamed(machines, *pool.machine, pool);
      AddNamed(gpus, *pool.gpu, pool);
    }
    for (const auto& [name, block] : gpus) {
      gpu_ids_.emplace(block, static_cast<int>(lowered_.cluster.gpus.size()));
      lowered_.cluster.gpus.push_back(LowerGpu(*block));
    }
    for (const auto& [name, block] : machines) {
      const CheckedBlock* gpu = block->Follow("gpu");
      if (gpu_ids_.find(gpu) == gpu_ids_.end()) continue;  // a name clash, reported
      machine_ids_.emplace(block, static_cast<int>(lowered_.cluster.machines.size()));
      lowered_.cluster.machines.push_back(LowerMachine(*block, ir::GpuId(gpu_ids_.at(gpu))));
    }
  }

  void AddNamed(std::map<std::string, const CheckedBlock*>& by_name, const CheckedBlock& block,
                const PlacedPool& pool) {
    const auto [it, is_new] = by_name.emplace(block.label, &block);
    if (is_new || it->second == &block) return;
    Report(DiagnosticCode::kDuplicateLabel, pool.block->RangeOf("machine"),
           absl::StrCat("two different ", block.kind->name, "s called `", block.label, "` are used in `",
                        resources_.label, "`"),
           {"rename one of them"}, {{it->second->label_range, "one of them"}, {block.label_range, "the other"}});
  }

  static std::optional<FlopsPerSecond> Peak(const CheckedBlock& gpu, const char* name) {
    if (!gpu.Has(name)) return std::nullopt;
    return FlopsPerSecond(gpu.GetDouble(name));
  }

  static ir::Gpu LowerGpu(const CheckedBlock& block) {
    ir::Gpu gpu;
    gpu.name = block.label;
    gpu.backend = *ir::ValueOf(ir::kBackends, block.GetText("backend"));
    gpu.memory = Bytes(block.GetInt("memory"));
    gpu.usable_memory = block.GetDouble("usable_memory");
    gpu.peak_fp32 = Peak(block, "peak_fp32");
    gpu.peak_fp16 = Peak(block, "peak_fp16");
    gpu.peak_bf16 = Peak(block, "peak_bf16");
    if (block.Has("mem_bandwidth")) gpu.memory_bandwidth = BytesPerSecond(block.GetDouble("mem_bandwidth"));
    if (block.Has("framework_memory")) gpu.framework_memory = Bytes(block.GetInt("framework_memory"));
    if (const CheckedBlock* efficiency = block.Child("efficiency")) {
      gpu.efficiency = {.matmul = efficiency->GetDouble("matmul"),
                        .ramp = Seconds(efficiency->GetDouble("ramp")),
                        .memory = efficiency->GetDouble("memory")};
    }
    return gpu;
  }

  ir::Machine LowerMachine(const CheckedBlock& block, ir::GpuId gpu) {
    ir::Machine machine;
    machine.name = block.label;
    machine.gpu = gpu;
    machine.gpus_per_node = static_cast<int>(block.GetInt("gpus_per_node"));
    if (block.Has("intra_node")) {
      machine.intra_node = BytesPerSecond(block.GetDouble("intra_node"));
    } else if (machine.gpus_per_node > 1) {
      Report(DiagnosticCode::kMissingAttribute, block.header,
             absl::StrCat("machine `", block.label, "` has ", machine.gpus_per_node, " GPUs but no `intra_node`"),
             {"add `intra_node = … GB/s`: what one GPU can send to the others of its node"});
    }
    if (block.Has("nic")) machine.nic = BytesPerSecond(block.GetDouble("nic"));
    return machine;
  }

  void LowerPools() {
    std::sort(pools_.begin(), pools_.end(),
              [](const PlacedPool& a, const PlacedPool& b) { return a.block->label < b.block->label; });
    for (const PlacedPool& placed : pools_) {
      const auto machine = machine_ids_.find(placed.machine);
      if (machine == machine_ids_.end()) continue;
      const auto quota = Quota(placed);
      const auto offer = CheapestOffer(placed);
      if (!quota || !offer) continue;
      ir::Pool pool;
      pool.name = placed.block->label;
      pool.zone = zone_ids_.at(placed.zone);
      pool.machine = ir::MachineId(machine->second);
      pool.market = *ir::ValueOf(ir::kMarkets, offer->market);
      pool.quota = *quota;
      pool.price = UsdPerSecond(offer->price.ToDouble());
      if (placed.block->Has("mean_lifetime")) pool.mean_lifetime = Seconds(placed.block->GetDouble("mean_lifetime"));
      lowered_.cluster.pools.push_back(std::move(pool));
      lowered_.pools.push_back(placed.block);
    }
  }

  // In nodes. A quota in GPUs must make up whole nodes.
  std::optional<int> Quota(const PlacedPool& placed) {
    const Amount& quota = placed.block->GetAmount("quota");
    const int64_t count = placed.block->GetInt("quota");
    if (quota.dimension == KnownUnit("nodes").dimension) return static_cast<int>(count);
    const int64_t per_node = placed.machine->GetInt("gpus_per_node");
    if (count % per_node == 0) return static_cast<int>(count / per_node);
    const int64_t below = count / per_node * per_node;
    Report(DiagnosticCode::kQuotaNotWhole, placed.block->RangeOf("quota"),
           absl::StrCat(CountText(count, "GPU"), " is not a whole number of `", placed.machine->label, "` nodes (",
                        per_node, " GPUs each)"),
           {absl::StrCat("write ", below > 0 ? absl::StrCat(below, " or ") : "", below + per_node, " GPUs")},
           {{placed.machine->RangeOf("gpus_per_node"), "GPUs of one node"}});
    return std::nullopt;
  }

  struct Offer {
    std::string market;
    Rational price;  // USD/s of a node
  };

  // Markets differ in price alone, so the cheapest of those allowed is as good as trying each; a tie goes to the
  // one that comes first in the alphabet: on_demand, reserved, spot.
  std::optional<Offer> CheapestOffer(const PlacedPool& placed) {
    std::optional<Offer> best;
    bool allowed = false;
    for (const std::string& market : placed.block->GetTexts("market")) {
      if (!IsAllowed(market)) continue;
      allowed = true;
      if (!HasPrice(placed, market)) {
        // A single market without a price is a mistake; of several, the others remain.
        if (placed.block->GetTexts("market").size() > 1) continue;
        ReportNoPrice(placed, market, placed.machine->Child("price"));
        return std::nullopt;
      }
      const auto price = NodePrice(placed, market);
      if (!price) return std::nullopt;
      if (!best || *price < best->price) best = Offer{market, *price};
    }
    if (allowed && !best)
      ReportNoPrice(placed, placed.block->GetTexts("market").front(), placed.machine->Child("price"));
    return best;
  }

  bool IsAllowed(const std::string& market) const {
    if (!resources_.Has("markets")) return true;
    const std::vector<std::string> markets = resources_.GetTexts("markets");
    return std::find(markets.begin(), markets.end(), market) != markets.end();
  }

  // The pool's own price, else its price block, else the machine's.
  static std::pair<const CheckedBlock*, std::string> PriceSource(const PlacedPool& placed, const std::string& market) {
    const CheckedBlock* own = placed.block->Child("price");
    const CheckedBlock* list = placed.machine->Child("price");
    if (placed.block->Has("price")) return {placed.block, "price"};
    if (own != nullptr && own->Has(market)) return {own, market};
    if (list != nullptr && list->Has(market)) return {list, market};
    return {nullptr, ""};
  }
  static bool HasPrice(const PlacedPool& placed, const std::string& market) {
    return PriceSource(placed, market).first != nullptr;
  }

  // With the discount of the resources.
  std::optional<Rational> NodePrice(const PlacedPool& placed, const std::string& market) {
    const auto [source, attribute] = PriceSource(placed, market);
    const Amount& quantity = source->GetAmount(attribute);
    const bool per_gpu = quantity.dimension == KnownUnit("USD/GPU/h").dimension;
    const Rational gpus(per_gpu ? placed.machine->GetInt("gpus_per_node") : 1);
    const auto share = Rational(1).Subtract(resources_.GetAmount("discount").value);
    const auto node_price = quantity.value.Multiply(gpus);
    const auto price = node_price && share ? node_price->Multiply(*share) : std::nullopt;
    if (!price) Report(DiagnosticCode::kOverflow, source->RangeOf(attribute), "this price is too large to represent");
    return price;
  }

  void ReportNoPrice(const PlacedPool& placed, const std::string& market, const CheckedBlock* list) {
    std::vector<Label> secondary;
    if (list != nullptr) secondary.push_back({list->header, "prices of the machine"});
    Report(DiagnosticCode::kMarketWithoutPrice, placed.block->RangeOf("market"),
           absl::StrCat("pool `", placed.block->label, "` buys `", market, "` but machine `", placed.machine->label,
                        "` has no ", market, " price"),
           {absl::StrCat("add `price { ", market, " = … USD/h }` to the pool or to the machine")},
           std::move(secondary));
  }

  const CheckedBlock& resources_;
  DiagnosticSink& sink_;
  std::vector<DeclaredZone> zones_;
  std::map<std::pair<std::string, std::string>, int> zone_index_;  // by region and label
  std::map<const CheckedBlock*, int> zone_of_block_;
  std::map<std::string, const CheckedBlock*> pool_of_label_;
  std::vector<PlacedPool> pools_;
  std::vector<int> used_;               // declared zones that hold pools, in cluster order
  std::map<int, ir::ZoneId> zone_ids_;  // by declared zone
  std::map<const CheckedBlock*, int> gpu_ids_;
  std::map<const CheckedBlock*, int> machine_ids_;
  bool is_incomplete_ = false;
  LoweredCluster lowered_;
};

// By its label or by "region/label"; asked for every pool and every zone, so it builds no text.
bool IsCalled(const DeclaredZone& zone, absl::string_view name) {
  if (name == zone.label) return true;
  return absl::ConsumePrefix(&name, zone.region) && absl::ConsumePrefix(&name, "/") && name == zone.label;
}

}  // namespace

std::optional<LoweredCluster> LowerCluster(const CheckedBlock& resources, DiagnosticSink& sink) {
  return ClusterLowering(resources, sink).Lower();
}

std::optional<int> FindZone(const std::vector<DeclaredZone>& zones, const std::string& name, const std::string& region,
                            SourceRange range, const CheckedBlock& resources, DiagnosticSink& sink) {
  std::vector<int> matches;
  for (size_t i = 0; i < zones.size(); ++i) {
    if (!region.empty() && zones[i].region != region) continue;
    if (IsCalled(zones[i], name)) matches.push_back(static_cast<int>(i));
  }
  if (matches.size() == 1) return matches.front();
  Diagnostic diagnostic{.code = DiagnosticCode::kUndeclaredZone,
                        .message = "",
                        .primary = {range, ""},
                        .secondary = {},
                        .notes = {},
                        .helps = {}};
  if (matches.empty()) {
    diagnostic.message = absl::StrCat("zone \"", name, "\" is not declared in `", resources.label, "`");
    std::vector<std::string> names;
    for (const DeclaredZone& zone : zones) {
      if (region.empty() || zone.region == region) names.push_back(zone.name);
    }
    const std::string nearest = Nearest(name, names);
    diagnostic.helps = {nearest.empty() ? absl::StrCat("add `zone \"", name, "\" { }` to a region")
                                        : absl::StrCat("did you mean \"", nearest, "\"?")};
  } else {
    diagnostic.message = absl::StrCat("zone \"", name, "\" is declared in ", matches.size(), " regions");
    for (const int match : matches) diagnostic.secondary.push_back({zones[match].range, zones[match].region});
    diagnostic.helps = {absl::StrCat("write \"", zones[matches.front()].name, "\"")};
  }
  sink.Report(std::move(diagnostic));
  return std::nullopt;
}

}  // namespace sail
