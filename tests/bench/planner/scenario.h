// The scenarios of baselines.json: what was to be planned, and what the published planner chose.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/base/json.h"
#include "compiler/ir/job.h"
#include "simulator/public_plan.h"

namespace sail::bench {

// What the published planner chose and the published simulator says of it.
struct PublishedResult {
  sim::PublicPlan plan;
  double throughput = 0;  // iterations per second
  double usd = 0;         // per iteration
  double search_s = 0;    // without the construction of its tables
};

struct Scenario {
  std::string name;
  std::string model;
  int64_t global_batch = 0;                                 // samples
  std::map<std::pair<std::string, std::string>, int> gpus;  // (gpu, zone) → GPUs that may be used
  ir::ObjectiveTerm objective;
  std::optional<ir::Constraint> limit;
  PublishedResult published;

  bool minimizes_cost() const { return objective.metric == ir::Metric::kCostPerIter; }
  int total_gpus() const;
  bool is_homogeneous() const { return name == "homogeneous"; }
  bool is_heterogeneous() const { return name == "heterogeneous"; }
  // "32 A100-40 + 96 V100-16", "5 x 80 A100-40".
  std::string Gpus() const;
};

// InvalidArgument names the place of what is wrong.
absl::StatusOr<std::vector<Scenario>> ReadScenarios(const Json& json);

// The value that a slow, independent search reached under the published cost model (docs/planner_comparison.md);
// absent where none is known.
std::optional<double> KnownReachable(const Scenario& scenario);

}  // namespace sail::bench
