// Plans that trade time for money: what is worth looking at beside the best plan.
//
// Epsilon-constraint scan: the fastest plan and the cheapest one, then the fastest under limits on money per iteration
// that divide the way between the two geometrically. Where nodes may be taken away, goodput is scanned like time. All
// limits of the job hold.
#pragma once

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/planner.h"

namespace sail::planner {

inline constexpr int kFrontSteps = 8;  // between the cheapest and the fastest

// Told before each search: which one it is, from 1, and how many there are at most.
using FrontProgress = std::function<void(int search, int searches)>;

// Plans found on the way, each once and in canonical order; some beat others. Empty if no plan keeps the limits.
// `options` are those of each search; there are 2 + kFrontSteps of them, 3 + 2 · kFrontSteps where goodput counts.
absl::StatusOr<std::vector<ir::Plan>> FindFrontCandidates(const ir::Problem& problem, const sim::CostModel& costs,
                                                          const PlannerOptions& options,
                                                          const FrontProgress& progress = nullptr);

// The points that no other beats: none is at least as good in time, money and goodput and better in one. Of points
// equal in all three the first stays, chosen ones always. Ascending in time, then money.
std::vector<ir::FrontPoint> NonDominated(std::vector<ir::FrontPoint> points);

}  // namespace sail::planner
