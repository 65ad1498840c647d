// The few tolerances that checkers and tests use. A tolerance never decides a plan: the search compares exact values.
#pragma once

namespace sail {

// Two ways of computing one prediction (closed form and timeline) must agree to this relative error.
inline constexpr double kPredictionRelativeTolerance = 1e-9;
// A limit holds if it is exceeded by no more than this share: rounding of sums, not leniency.
inline constexpr double kLimitRelativeTolerance = 1e-12;

}  // namespace sail
