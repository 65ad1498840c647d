// What the simulator predicts of a plan. Every number is in base units; tags say where it comes from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/base/units.h"
#include "compiler/ir/cluster.h"
#include "compiler/ir/job.h"
#include "compiler/ir/profile.h"

namespace sail::ir {

// Memory of each rank of a stage, by term. The sum is total().
struct MemoryTerm {
  std::string what;  // "parameters", "gradients", "optimizer states", "activations", "logits", "working set", …
  Bytes bytes = Bytes::Zero();
  Provenance provenance = Provenance::kDerived;
  friend bool operator==(const MemoryTerm&, const MemoryTerm&) = default;
};

struct StageReport {
  int pipeline = 0;
  int stage = 0;
  Seconds busy = Seconds(0);  // computing
  Seconds idle = Seconds(0);  // busy + idle = iteration time
  std::vector<MemoryTerm> memory;
  Bytes memory_total = Bytes::Zero();
  Bytes memory_limit = Bytes::Zero();  // usable memory of the gpu times the job's limit
  friend bool operator==(const StageReport&, const StageReport&) = default;
};

// Parts of an iteration along the slowest pipeline; they add up to the iteration time.
struct IterationParts {
  Seconds fill = Seconds(0);           // until the last stage starts its first forward
  Seconds steady = Seconds(0);         // from there until the last stage finishes its last backward
  Seconds drain = Seconds(0);          // until the first stage finishes its last backward
  Seconds gradient_sync = Seconds(0);  // exposed
  Seconds optimizer = Seconds(0);
  friend bool operator==(const IterationParts&, const IterationParts&) = default;
};

struct PoolCost {
  PoolId pool = PoolId(-1);
  int nodes = 0;
  Usd per_iteration = Usd(0);
  friend bool operator==(const PoolCost&, const PoolCost&) = default;
};
struct LinkTraffic {
  ZoneId from = ZoneId(-1);
  ZoneId to = ZoneId(-1);
  Bytes bytes = Bytes::Zero();  // per iteration, between different nodes
  Usd egress = Usd(0);
  friend bool operator==(const LinkTraffic&, const LinkTraffic&) = default;
};

struct ConstraintReport {
  std::string name;
  double value = 0;
  double limit = 0;
  bool holds = true;
  double slack = 0;  // share of the limit that is left; negative when violated
  friend bool operator==(const ConstraintReport&, const ConstraintReport&) = default;
};

// What preemptions of spot nodes cost (simulator/spot_model.h).
struct SpotForecast {
  Seconds mean_time_between_failures = Seconds(0);  // of any spot node of the plan
  Seconds checkpoint = Seconds(0);                  // to write one; assumed bandwidth
  Seconds checkpoint_interval = Seconds(0);
  double goodput = 1;               // share of the time that makes progress
  Usd cost_per_iteration = Usd(0);  // expected
  friend bool operator==(const SpotForecast&, const SpotForecast&) = default;
};

struct Report {
  Seconds iteration = Seconds(0);
  int64_t steps = 1;  // iterations of the whole job
  IterationParts parts;
  std::vector<StageReport> stages;   // by pipeline, then stage
  std::vector<PoolCost> pools;       // pools in use, by id
  std::vector<LinkTraffic> traffic;  // zone pairs with traffic
  Usd cost_per_iteration = Usd(0);
  double peak_memory = 0;  // largest memory_total / (usable gpu memory), 0..
  double samples_per_second = 0;
  double tokens_per_second = 0;
  int nodes = 0;
  int gpus = 0;
  std::vector<ConstraintReport> constraints;
  std::optional<SpotForecast> spot;          // absent where no node of the plan is known to be taken away
  Provenance timing = Provenance::kDerived;  // measured only if every profile entry used is
  friend bool operator==(const Report&, const Report&) = default;
};

double Value(const Report& report, Metric metric);

// One of the plans that no other beats in time, money and goodput at once.
struct FrontPoint {
  Seconds iteration = Seconds(0);
  Usd cost_per_iteration = Usd(0);
  double goodput = 0;  // expected iters/s
  int nodes = 0;
  int gpus = 0;
  bool chosen = false;  // the plan of the file it stands in
  friend bool operator==(const FrontPoint&, const FrontPoint&) = default;
};

}  // namespace sail::ir
