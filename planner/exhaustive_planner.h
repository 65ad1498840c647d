// The oracle: looks at every plan of a tiny problem. Shares nothing with the search but the value types and
// CostModel::Evaluate, and is meant to be read and believed, not to be fast.
//
// A plan is a set of pipelines. A pipeline is a micro-batch size and count and a chain of stages, each with its last
// layer, pool, tensor degree, recomputation and node; a plan shards its optimizer or not. All of them are enumerated;
// what is left out is equal to something that is not:
//   - pipelines come in ascending order of (description without nodes, micro-batch count): a plan is a set;
//   - nodes of a pool are equal, so a stage may use a node in use or the first one not in use;
//   - GPUs of a node are equal, so a group takes the first free ones.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "compiler/ir/plan.h"
#include "compiler/ir/problem.h"
#include "compiler/ir/report.h"
#include "simulator/cost_model.h"

namespace sail::planner {

struct ExhaustiveResult {
  std::optional<ir::Plan> plan;  // the best plan that keeps memory and constraints; nullopt: there is none
  std::optional<ir::Report> report;
  int64_t plans = 0;  // looked at
};

// Plans with structure (ir::VerifyPlanStructure) of the problem, counted up to `most`.
int64_t CountPlans(const ir::Problem& problem, int64_t most);

// Exponential in everything: for at most about 8 GPUs, 6 layers, 2 types.
absl::StatusOr<ExhaustiveResult> FindPlanExhaustively(const ir::Problem& problem, const sim::CostModel& costs);

}  // namespace sail::planner
