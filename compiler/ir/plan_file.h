// The *.sailplan artefact: {format, kind, plan_hash, prediction_hash, inputs, decisions, predictions} and, if it was
// asked for, {front}; of a plan made from another one, {from, replan}. `inputs` holds the whole resolved Problem, so
// that `simulate` and `build` need nothing but the file. plan_hash covers inputs and decisions, prediction_hash the
// predictions and the front. Canonical JSON; format in docs/plan_file.md.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/plan.h"
#include "compiler/ir/problem.h"
#include "compiler/ir/report.h"

namespace sail::ir {

// Of a plan that follows another one after a change of nodes. In no hash: how a plan came about does not change it.
struct PlanOrigin {
  std::string plan_hash;              // of the previous plan
  int semantics = 0;                  // of the choices made (planner/replan.h)
  std::vector<std::vector<int>> was;  // [pool][node]: its number in the previous plan; -1: it had no work there
  friend bool operator==(const PlanOrigin&, const PlanOrigin&) = default;
};

struct PlanFile {
  Problem problem;
  Plan plan;
  std::string plan_hash;          // "sha256:…"
  std::vector<FrontPoint> front;  // ascending in time; empty: not asked for
  std::optional<PlanOrigin> origin;
};

// What PrintPlanFile writes as plan_hash.
std::string PlanHash(const Problem& problem, const Plan& plan);
std::string PrintPlanFile(const Problem& problem, const Plan& plan, const Report& report,
                          const std::vector<FrontPoint>& front = {},
                          const std::optional<PlanOrigin>& origin = std::nullopt);
// FailedPrecondition when a hash does not match its content (exit code 6), InvalidArgument for any other fault.
absl::StatusOr<PlanFile> ParsePlanFile(absl::string_view text, absl::string_view name);

}  // namespace sail::ir
