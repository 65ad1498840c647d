// Time of one search over a generated cluster: search_speed CASE prints {"model", "gpus", "types", "zones", "search_s",
// "gap_pct"} as JSON, search_speed alone the number of cases. tests/bench/search.py runs each in a process of its own.
#include <chrono>
#include <iostream>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/check.h"
#include "compiler/base/json.h"
#include "planner/planner.h"
#include "simulator/profiles.h"
#include "simulator/sail_cost_model.h"

namespace {

using namespace sail;  // NOLINT

constexpr int kGpusPerNode = 4;
constexpr int kZonesPerRegion = 4;

struct GpuType {
  const char* name;
  double memory_gib;
  double fp16_tflops;  // dense
  double memory_gb_per_s;
  double intra_gb_per_s;  // of one GPU
  double card_gb_per_s;   // of a node
  double usd_per_gpu_hour;
};

// Datasheet figures and usual prices, rounded. A case with n types has the first n.
constexpr GpuType kTypes[] = {
    {"A100_40", 40, 312, 1555, 300, 12.5, 3.67},
    {"V100_16", 16, 125, 900, 150, 4, 2.86},
    {"T4", 16, 65, 320, 16, 4, 0.95},
    {"L4", 24, 121, 300, 32, 6.25, 1.2},
    {"A100_80", 80, 312, 2039, 300, 12.5, 5.1},
    {"A10", 24, 125, 600, 32, 6.25, 1.5},
    {"V100_32", 32, 125, 900, 150, 4, 3.1},
    {"H100", 80, 989, 3350, 450, 50, 9.8},
};

struct Case {
  const char* model;
  int types;
  int zones;
  int gpus;                            // of all types in all zones, spread evenly over the pools
  std::vector<int> gpus_by_type = {};  // where the types have not the same number; one zone
};

const std::vector<Case>& Cases() {
  static const std::vector<Case> cases = {
      {"OPT-350M", 1, 1, 128},      {"OPT-350M", 2, 1, 512, {128, 384}}, {"GPT-Neo-2.7B", 2, 1, 512, {128, 384}},
      {"OPT-350M", 1, 5, 640},      {"GPT-Neo-2.7B", 1, 5, 640},         {"GPT-Neo-2.7B", 3, 1, 768},
      {"GPT-Neo-2.7B", 4, 4, 1024}, {"GPT-Neo-2.7B", 8, 4, 4096},        {"GPT-94-blocks", 8, 10, 16384},
  };
  return cases;
}

ir::Model ModelOf(absl::string_view name) {
  ir::Model model{.name = std::string(name), .seq_len = 2048, .vocab = 50272, .position_rows = 2048};
  if (name == "OPT-350M") {
    model.blocks = 24, model.hidden = 1024, model.heads = 16;
  } else if (name == "GPT-Neo-2.7B") {
    model.blocks = 32, model.hidden = 2560, model.heads = 32;
  } else {
    model.blocks = 94, model.hidden = 6144, model.heads = 48;
  }
  model.feed_forward = 4 * model.hidden;
  model.embedding_width = model.hidden;
  return model;
}

ir::Cluster ClusterOf(const Case& c) {
  ir::Cluster cluster;
  cluster.name = "generated";
  for (int t = 0; t < c.types; ++t) {
    const GpuType& type = kTypes[t];
    cluster.gpus.push_back({.name = type.name,
                            .memory = Bytes(static_cast<int64_t>(type.memory_gib * (int64_t{1} << 30))),
                            .peak_fp16 = FlopsPerSecond(type.fp16_tflops * 1e12),
                            .memory_bandwidth = BytesPerSecond(type.memory_gb_per_s * 1e9)});
    cluster.machines.push_back({.name = absl::StrCat(type.name, "x", kGpusPerNode),
                                .gpu = ir::GpuId(t),
                                .gpus_per_node = kGpusPerNode,
                                .intra_node = BytesPerSecond(type.intra_gb_per_s * 1e9),
                                .nic = BytesPerSecond(type.card_gb_per_s * 1e9)});
  }
  for (int z = 0; z < c.zones; ++z) {
    if (z % kZonesPerRegion == 0) cluster.regions.push_back(absl::StrCat("region", z / kZonesPerRegion));
    cluster.zones.push_back({.name = absl::StrCat("zone", z), .region = ir::RegionId(z / kZonesPerRegion)});
  }
  const int pools = c.types * c.zones;
  const int nodes = c.gpus / kGpusPerNode;
  for (int p = 0; p < pools; ++p) {
    const int type = p / c.zones;
    const int quota =
        c.gpus_by_type.empty() ? nodes / pools + (p < nodes % pools) : c.gpus_by_type[type] / kGpusPerNode;
    cluster.pools.push_back({.name = absl::StrCat("pool", 10 + p),  // two digits: by name is by number
                             .zone = ir::ZoneId(p % c.zones),
                             .machine = ir::MachineId(type),
                             .quota = quota,
                             .price = UsdPerHour(kTypes[type].usd_per_gpu_hour * kGpusPerNode)});
  }
  for (const ir::Zone& from : cluster.zones) {
    std::vector<ir::Link>& row = cluster.links.emplace_back();
    for (const ir::Zone& to : cluster.zones) {
      const ir::Link within_zone{.bandwidth = BytesPerSecond(12.5e9), .latency = Seconds(30e-6)};
      const ir::Link within_region{
          .bandwidth = BytesPerSecond(4e9), .latency = Seconds(500e-6), .egress = UsdPerByte(0.01e-9)};
      const ir::Link beyond{.bandwidth = BytesPerSecond(1e9), .latency = Seconds(18e-3), .egress = UsdPerByte(0.02e-9)};
      row.push_back(from.name == to.name ? within_zone : from.region == to.region ? within_region : beyond);
    }
  }
  return cluster;
}

ir::Problem ProblemOf(const Case& c) {
  ir::Problem problem;
  problem.model = ModelOf(c.model);
  problem.cluster = ClusterOf(c);
  problem.job.name = "search";
  problem.job.global_batch = c.gpus > 1024 ? 16384 : problem.model.hidden > 1024 ? 2048 : 1024;
  problem.job.micro_batches = {1, 2, 4, 8};
  problem.job.tensor_degrees = {1, 2, 4};
  for (int depth = 1; depth <= 16; ++depth) problem.job.pipeline_depths.push_back(depth);
  problem.job.precision = ir::Precision::kFp16;
  problem.job.objective = {{.metric = ir::Metric::kThroughput}};
  const absl::Status status = sim::CompleteProfile(problem);
  SAIL_CHECK(status.ok()) << status.ToString();
  return problem;
}

// {"model", "gpus", "types", "zones"} and, after the search, its time.
Json Measure(const Case& c, bool searches) {
  Json row = {{"model", c.model}, {"gpus", c.gpus}, {"types", c.types}, {"zones", c.zones}};
  if (!searches) return row;
  const ir::Problem problem = ProblemOf(c);
  const auto costs = sim::MakeSailCostModel(problem);
  const auto start = std::chrono::steady_clock::now();
  const auto outcome = planner::FindPlan(problem, *costs, {});
  row["search_s"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  SAIL_CHECK(outcome.ok()) << outcome.status().ToString();
  const auto* found = std::get_if<planner::Feasible>(&*outcome);
  SAIL_CHECK(found != nullptr) << "no plan was found";
  row["gap_pct"] = found->certificate ? Json(100 * found->certificate->gap) : Json();
  return row;
}

}  // namespace

int main(int argc, char** argv) {
  const int count = static_cast<int>(Cases().size());
  int chosen = -1;
  if (argc == 2 && absl::SimpleAtoi(argv[1], &chosen) && chosen >= 0 && chosen < count) {
    std::cout << DumpJson(Measure(Cases()[chosen], true));
    return 0;
  }
  if (argc > 1) {
    std::cerr << "usage: search_speed [CASE]  a number below " << count << "; without: all cases, not searched\n";
    return 2;
  }
  Json rows = Json::array();
  for (const Case& c : Cases()) rows.push_back(Measure(c, false));
  std::cout << DumpJson(rows);
  return 0;
}
