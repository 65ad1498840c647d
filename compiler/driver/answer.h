// The best plan of a problem as `sailc` answers it: found by the search, judged by the timeline.
#pragma once

#include "absl/status/statusor.h"
#include "compiler/ir/problem.h"
#include "planner/planner.h"

namespace sail::driver {

// GPUs judged in a search that judges by the timeline, which takes some ten times as long as the closed form.
inline constexpr int64_t kTimelineWork = 15'000;

struct Answer {
  planner::PlanOutcome outcome;
  ir::Report timeline;  // of the plan, if there is one
};

// Whether the forecast keeps every limit of its job.
bool Holds(const ir::Report& report);

// The search judges by the closed form, which does not see links shared by concurrent flows; the timeline has the last
// word. When it breaks a limit that the closed form kept, the search is made once more, judging by the timeline.
absl::StatusOr<Answer> FindAnswer(const ir::Problem& problem, const planner::PlannerOptions& options = {});

}  // namespace sail::driver
