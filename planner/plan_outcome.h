// What a search answers: a plan, or an honest no.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/ir/plan.h"
#include "compiler/ir/report.h"

namespace sail::planner {

// A plan that keeps every limit and is not the best.
struct RunnerUp {
  ir::Plan plan;                  // canonical
  std::vector<double> objective;  // values of the job's objective terms, in base units
  friend bool operator==(const RunnerUp&, const RunnerUp&) = default;
};

// What no plan can beat under the cost model (bound.h).
struct Certificate {
  double bound = 0;  // in the unit of the objective's first term
  double gap = 0;    // 0..1: the share by which the plan's value can be improved at most
  friend bool operator==(const Certificate&, const Certificate&) = default;
};

struct Feasible {
  ir::Plan plan;           // canonical, passes VerifyPlan
  ir::Report report;       // closed form (CostModel::Evaluate)
  int64_t candidates = 0;  // plans evaluated
  // Best first, a few at most, and none of the kind of another or of `plan` (best_plans.h).
  std::vector<RunnerUp> runners_up;
  std::optional<Certificate> certificate;  // absent for objectives without a bound, and where none was asked for
};

// One limit that takes part in the conflict.
struct ConflictingLimit {
  std::string name;  // a constraint's name, or "memory" / "quota" / "keep"
  bool is_constraint = false;
  // In the metric's base unit, with the other limits of the conflict kept; NaN if no plan keeps them. For "memory":
  // bytes missing on the closest miss.
  double best = 0;
  double limit = 0;
  // Of a constraint: the limit with which there is a plan that keeps every other limit of the job; NaN if none was
  // found.
  double relaxed = std::numeric_limits<double>::quiet_NaN();
  std::optional<ir::GpuId> gpu = std::nullopt;  // of "memory": where the closest miss is
  std::string detail;                           // "closest miss: stage 0 on V100_16 needs 17.8 GiB of 14.7 GiB"
};
struct Infeasible {
  std::vector<ConflictingLimit> limits;  // at least one
  int64_t candidates = 0;
};

using PlanOutcome = std::variant<Feasible, Infeasible>;

}  // namespace sail::planner
