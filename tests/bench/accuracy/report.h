// The tables of `./dev bench accuracy`.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/json.h"
#include "tests/bench/accuracy/statistics.h"

namespace sail::bench {

// (set, "time" or "memory") → its points.
using Results = std::map<std::pair<std::string, std::string>, std::vector<Point>>;

// {"sets": [{"name", "quantity", "n", "mean_abs_pct", "median_abs_pct", "max_abs_pct", "bias_pct", "spearman"}]},
// without the runs that something was fitted to where others are left.
Json ToJson(const Results& results);
// One row per set and quantity, the calibration runs in rows of their own.
std::string RenderStatistics(const Results& results);
// The worst five runs of each.
std::string RenderWorst(const Results& results);

}  // namespace sail::bench
