// The next plan after the set of nodes has changed: a good plan for the nodes there are, not far from the state that
// they hold.
//
// Formula. A plan with iteration time t whose start needs a movement of m seconds (movement.h) is expected to run for
// H seconds until nodes change again: H = 1 / Σ nodes / mean_lifetime over its spot pools (the report's mean time
// between failures), else ReplanOptions::horizon. In m + H seconds it trains H / t iterations, so that one takes
//   t' = t · (1 + m / H)          seconds, and costs
//   c' = c + (r · m + e) · t / H  USD, where c is its cost, r the USD/s of the rented nodes, which are idle during the
//                                 movement, and e the egress of the movement.
// Plans are compared by violations of limits (of the plain forecast), then by the job's objective, lexicographic, with
// t' and c' in the place of t and c, then by the canonical key. What every change costs alike (detecting, starting) is
// left out. State that no surviving node holds comes from the last checkpoint: training resumes there, and nodes are
// taken to have kept their own part of it.
//
// Algorithm. Nothing changed: the previous plan. Else the best of
//   repairs  pipelines that lost no node stay in place; broken ones are dropped, rebuilt, or replaced (repair.h)
//   climbs   from the best repairs, as drafts (draft_climber.h); each optimum is placed, and its nodes chosen so that
//            they fetch the fewest bytes (assign_nodes.h)
// judged with the movement counted. If none keeps the limits, or if asked for, FindPlan's plan placed the same way.
// Deterministic; the budget counts work, never seconds.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "absl/status/statusor.h"
#include "planner/membership.h"
#include "planner/movement.h"
#include "planner/planner.h"

namespace sail::planner {

// Of the choices made here: changes with them.
inline constexpr int kReplanSemantics = 1;

struct ReplanOptions {
  // Plans of the previous plan's size that are judged with their movement, and drafts judged without.
  int64_t plan_budget = 24;
  int64_t draft_budget = 2'500;
  Seconds horizon = Seconds(4 * 3600);   // expected time to the next change where no spot pool says it
  std::optional<PlannerOptions> search;  // also plan from scratch
};

struct NextPlan {
  ir::Plan plan;      // of change.problem; canonical, passes VerifyPlan
  ir::Report report;  // closed form, movement not counted
  Movement movement;
  Seconds horizon = Seconds(0);    // H
  Seconds iteration = Seconds(0);  // t'
};

struct Replanned {
  NextPlan next;
  std::optional<NextPlan> from_scratch;  // if it was asked for or needed, and found
  int64_t candidates = 0;                // plans and drafts judged
};

using ReplanOutcome = std::variant<Replanned, Infeasible>;

// `costs` is bound to change.problem, whose profile is complete. Errors only for a broken problem.
absl::StatusOr<ReplanOutcome> Replan(const Change& change, const sim::CostModel& costs, const ReplanOptions& options);

// The report with t' and c' in the place of t and c.
ir::Report Amortised(const ir::Report& report, const Movement& movement, Seconds horizon);

}  // namespace sail::planner
