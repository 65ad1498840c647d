// What makes a job fit whose plans all need more memory than there is: for each thing that could give way the least of
// it, each verified by planning the changed job.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/problem.h"
#include "planner/plan_outcome.h"

namespace sail::driver {

// One change of a job or of its GPUs after which there is a plan that keeps every limit.
struct Relief {
  std::string text;  // "parallelism { pipeline = [1, 2, 4] }"
  ir::Problem problem;
};

// First a candidate that the job does not allow: micro-batches half as large, then a quarter …; twice as many stages,
// or degrees, …; recomputation; ZeRO-1; at most kMostReliefs of them. Then the memory that the GPU of the closest miss
// would need. `memory` is the limit of that name in an answer to `problem`. A search for each try (planner::HasPlan),
// and for each relief a whole plan.
inline constexpr size_t kMostReliefs = 2;
absl::StatusOr<std::vector<Relief>> FindMemoryRelief(const ir::Problem& problem,
                                                     const planner::ConflictingLimit& memory);

}  // namespace sail::driver
