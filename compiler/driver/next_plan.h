// The plan after a change of nodes, as `sailc` answers it: found by the planner, judged by the timeline, and shown
// beside the plan before.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "absl/status/statusor.h"
#include "compiler/base/json.h"
#include "compiler/driver/read_plan.h"
#include "planner/replan.h"

namespace sail::driver {

struct NextAnswer {
  planner::Replanned replanned;
  ir::Report timeline;                         // of the next plan
  std::optional<ir::Report> scratch_timeline;  // of the plan from scratch, if there is one
};

using NextOutcome = std::variant<NextAnswer, planner::Infeasible>;

// Plans from scratch too, and takes that plan if it is the better one with the movement counted. The timeline has the
// last word, as in FindAnswer (answer.h). `change.problem` must have a complete profile.
absl::StatusOr<NextOutcome> FindNext(const planner::Change& change, planner::ReplanOptions options);

// For the file of the next plan.
ir::PlanOrigin OriginOf(const planner::Change& change, const std::string& previous_hash);

// What stays, what moves, and the forecast beside the old one.
std::string RenderNext(const ReadPlanFile& previous, const planner::Change& change, const NextAnswer& answer);
Json ToJson(const ReadPlanFile& previous, const planner::Change& change, const NextAnswer& answer);

}  // namespace sail::driver
