// Plans as the public runs and the results of published planners write them.
//
//   {"micro_batch": 2, "global_batch": 256,
//    "stages": [{"layers": [0, 12], "replicas": [["Titan-RTX", 8, 8], …]}, …]}
//
// A replica is [gpu, GPUs per node, tensor degree] or {"gpu", "tensor", "zone"?, "count"?}. Layers are numbered like
// ours: 0 is the embedding. Replica d of all stages is one pipeline. Other fields are ignored.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/base/json.h"
#include "compiler/ir/plan.h"
#include "compiler/ir/problem.h"

namespace sail::sim {

struct PublicPlan {
  struct Group {
    std::string gpu;
    std::string zone;       // empty: not said
    int gpus_per_node = 0;  // 0: not said
    int tensor = 1;
  };
  struct Stage {
    int first_layer = 0;
    int last_layer = 0;
    std::vector<Group> replicas;
  };
  int global_batch = 0;  // samples; 0: not said
  int micro_batch = 0;   // samples
  std::vector<Stage> stages;

  int replicas() const { return static_cast<int>(stages.front().replicas.size()); }
};

// InvalidArgument names the place of what is wrong. Stages have the same number of replicas, at least one.
absl::StatusOr<PublicPlan> ReadPublicPlan(const Json& json, const std::string& what);

// Micro-batches of each pipeline. InvalidArgument unless the replicas share `global_batch` evenly.
absl::StatusOr<int> MicroBatchesOf(const PublicPlan& plan, int64_t global_batch);

// The plan on the problem's pools. A group goes to the first node with room of the first pool of its gpu (names
// compared by PublicName), zone and GPUs per node, where these are said. NotFound names what the problem has no pool or
// no room for, InvalidArgument another global batch. What a job may choose is VerifyPlanStructure's to check.
absl::StatusOr<ir::Plan> ImportPlan(const PublicPlan& plan, const ir::Problem& problem);

}  // namespace sail::sim
