// What can be rented: gpu types, machine types, zones, pools of identical nodes, and the links between zones.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "compiler/base/ids.h"
#include "compiler/base/units.h"

namespace sail::ir {

SAIL_DEFINE_ID(GpuId);
SAIL_DEFINE_ID(MachineId);
SAIL_DEFINE_ID(RegionId);
SAIL_DEFINE_ID(ZoneId);
SAIL_DEFINE_ID(PoolId);

enum class Backend { kCuda, kCpu };
enum class Market { kOnDemand, kSpot, kReserved };
absl::string_view ToString(Market market);  // "on_demand", "spot", "reserved"

// What training reaches of the datasheet: a product of x FLOPs takes x / (matmul · peak) + ramp. Fitted to
// measurements.
struct Efficiency {
  double matmul = 0;          // share of the peak that very large products reach
  Seconds ramp = Seconds(0);  // of every product: start, partly filled waves
  double memory = 0;          // share of the memory bandwidth that streaming kernels reach
  friend bool operator==(const Efficiency&, const Efficiency&) = default;
};

struct Gpu {
  std::string name;
  Backend backend = Backend::kCuda;
  Bytes memory = Bytes::Zero();
  double usable_memory = 1.0;                                     // share of `memory` that a process can get
  std::optional<FlopsPerSecond> peak_fp32, peak_fp16, peak_bf16;  // dense matrix peaks
  std::optional<BytesPerSecond> memory_bandwidth;
  std::optional<Efficiency> efficiency;   // absent: the backend's
  std::optional<Bytes> framework_memory;  // of a process before it holds a model; absent: the backend's
  friend bool operator==(const Gpu&, const Gpu&) = default;
};

struct Machine {
  std::string name;
  GpuId gpu = GpuId(-1);
  int gpus_per_node = 0;
  BytesPerSecond intra_node = BytesPerSecond(0);  // per GPU, one direction; unused for one GPU
  std::optional<BytesPerSecond> nic;              // the node's network card, shared by its GPUs
  friend bool operator==(const Machine&, const Machine&) = default;
};

struct Zone {
  std::string name;
  RegionId region = RegionId(-1);
  friend bool operator==(const Zone&, const Zone&) = default;
};

struct Pool {
  std::string name;  // "fast"
  ZoneId zone = ZoneId(-1);
  MachineId machine = MachineId(-1);
  Market market = Market::kOnDemand;
  int quota = 0;                         // nodes
  UsdPerSecond price = UsdPerSecond(0);  // per node, discount applied
  std::optional<Seconds> mean_lifetime;  // of a spot node
  friend bool operator==(const Pool&, const Pool&) = default;
};

enum class LinkShare { kPerNode, kPerFlow };

// A measured transfer.
struct LinkPoint {
  double bytes = 0;
  Seconds seconds = Seconds(0);
  friend bool operator==(const LinkPoint&, const LinkPoint&) = default;
};
using LinkCurve = std::vector<LinkPoint>;  // sizes ascend, times do not fall; empty: not measured

// From nodes of one zone to (other) nodes of another or the same zone, one direction.
struct Link {
  BytesPerSecond bandwidth = BytesPerSecond(0);
  Seconds latency = Seconds(0);
  UsdPerByte egress = UsdPerByte(0);
  LinkShare share = LinkShare::kPerNode;
  LinkCurve sends;        // of one tensor; where measured, they take the place of latency + bytes / bandwidth
  LinkCurve all_reduces;  // of one node of each end
  friend bool operator==(const Link&, const Link&) = default;
};

struct Cluster {
  std::string name;
  std::vector<Gpu> gpus;
  std::vector<Machine> machines;
  std::vector<std::string> regions;
  std::vector<Zone> zones;
  std::vector<Pool> pools;               // canonical order: by name
  std::vector<std::vector<Link>> links;  // [from zone][to zone], complete

  const Pool& pool(PoolId id) const { return pools[id.index()]; }
  const Machine& machine(PoolId id) const { return machines[pool(id).machine.index()]; }
  const Gpu& gpu(PoolId id) const { return gpus[machine(id).gpu.index()]; }
  GpuId gpu_id(PoolId id) const { return machine(id).gpu; }
  // The link nodes of the two pools use when they are different nodes.
  const Link& link(PoolId from, PoolId to) const { return links[pool(from).zone.index()][pool(to).zone.index()]; }
  friend bool operator==(const Cluster&, const Cluster&) = default;
};

}  // namespace sail::ir
