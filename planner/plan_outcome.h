// What a search answers: a plan, an honest no, or the best so far when its work budget ran out.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "compiler/ir/plan.h"
#include "compiler/ir/report.h"

namespace sail::planner {

struct Feasible {
  ir::Plan plan;       // canonical, passes VerifyPlan
  ir::Report report;   // closed form (CostModel::Evaluate)
  int64_t candidates = 0;  // plans evaluated
};

// One limit that takes part in the conflict, with the best value reachable while the other limits hold.
struct ConflictingLimit {
  std::string name;  // a constraint's name, or "memory" / "quota"
  double best = 0;   // in the metric's base unit; for "memory" bytes missing on the closest miss
  double limit = 0;
  std::string detail;  // "closest miss: stage 0 on V100_16 needs 17.8 GiB of 14.7 GiB"
};
struct Infeasible {
  std::vector<ConflictingLimit> limits;  // at least one
  int64_t candidates = 0;
};

using PlanOutcome = std::variant<Feasible, Infeasible>;

}  // namespace sail::planner
