// A scenario as a problem, and plans of the published planner on it.
//
// Machines have 4 GPUs; prices per GPU hour and memory sizes are those of the published tables, egress that of
// sailor/network. Our own model sees of the network the largest rate between machines of 4 GPUs as the machine's card
// and as the link between zones, and latencies of the same cloud: 30 us in a zone, 500 us in a region, 18 ms between.
// Candidates are the degrees and micro-batches that were measured on any gpu of the scenario. What was not measured on
// one of them ran out of memory: its profile entry keeps more bytes than any gpu has.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "compiler/base/json.h"
#include "compiler/ir/plan.h"
#include "compiler/ir/problem.h"
#include "compiler/ir/report.h"
#include "tests/bench/accuracy/calibration.h"
#include "tests/bench/accuracy/sailor_data.h"
#include "tests/bench/planner/scenario.h"

namespace sail::bench {

// USD of one GB between two zones.
using EgressPrices = std::map<std::pair<std::string, std::string>, double>;
absl::StatusOr<EgressPrices> ReadEgressPrices(const Json& json);

struct PlannerData {
  SailorData sailor;
  EgressPrices egress;
};

absl::StatusOr<ir::Problem> ProblemOf(const Scenario& scenario, const PlannerData& data,
                                      const Calibration& calibration);

// The published planner's plan in a problem with as many nodes as it takes: the quotas of `problem` are raised. Groups
// are read last to first, as the published simulator's ring visits them. The global batch is met exactly where the
// published simulator rounds every pipeline's micro-batches up; the slowest pipeline is the same.
struct PublishedPlan {
  ir::Problem problem;
  ir::Plan plan;
};
absl::StatusOr<PublishedPlan> ImportPublished(const Scenario& scenario, const ir::Problem& problem);

// Empty, or what the plan takes beyond the quotas: "132 of 128 A100_40 in us-west1-b".
std::string BeyondQuotas(const ir::Problem& problem, const ir::Plan& plan);

// As the published simulator counts: GPUs in use, not whole nodes, and egress.
double PublishedUsd(const ir::Problem& problem, const ir::Plan& plan, const ir::Report& report);

}  // namespace sail::bench
