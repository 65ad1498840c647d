// Why a plan is as it is, for people. Everything is found by searching the plan's own problem again.
#pragma once

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/driver/read_plan.h"

namespace sail::driver {

// Told before each search: which one it is, from 1, and how many there are.
using ExplainProgress = std::function<void(int search, int searches)>;

// Which limits bind, which stage holds the iteration up, the best plans of other kinds and their distance, and what
// using more of the idle nodes would do. About as many searches as there are pools with idle nodes (kMostPools at
// most).
absl::StatusOr<std::string> ExplainPlan(const ReadPlanFile& plan, const ExplainProgress& progress = nullptr);

// What fulfilling the wish (wish.h) costs: the best plan that does, beside the plan of the file; or which limits rule
// it out. InvalidArgument if the wish is not understood.
absl::StatusOr<std::string> ExplainWish(const ReadPlanFile& plan, absl::string_view wish,
                                        const ExplainProgress& progress = nullptr);

}  // namespace sail::driver
