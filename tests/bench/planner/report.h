// The tables of `./dev bench planner`.
#pragma once

#include <string>
#include <vector>

#include "compiler/base/json.h"
#include "tests/bench/planner/comparison.h"

namespace sail::bench {

// {"scenarios": [{"scenario", "model", "gpus", "published": {"value", "valid"},
//                 "ours": {"published_model", "own_model", "search_s", "gap_pct", "valid"}}]}
// Values are iterations per second, or USD per iteration where cost is the objective; search and gap are those under
// the published cost model.
Json ToJson(const std::vector<Result>& results);

// Both tables, the means of their ratios and what is wrong with plans.
std::string RenderComparison(const std::vector<Result>& results);
// Our plans, one per line.
std::string RenderPlans(const std::vector<Result>& results);

}  // namespace sail::bench
