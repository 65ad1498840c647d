// A measured run, and how the simulator sees it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/plan.h"
#include "compiler/ir/problem.h"
#include "tests/bench/accuracy/calibration.h"

namespace sail::bench {

struct Case {
  ir::Problem problem;
  ir::Plan plan;
};

struct Run {
  std::string name;
  std::string set;                // "sailor/gh200-neo"
  std::string fold;               // runs of one plan, left out together
  std::optional<double> seconds;  // per iteration; absent: not measured
  std::optional<double> bytes;    // peak of a GPU
  bool is_calibration = false;
  // An error names what cannot be represented.
  std::function<absl::StatusOr<Case>(const Calibration&)> build;
};

struct Runs {
  std::vector<Run> runs;
  std::vector<std::string> messages;  // files that are absent, lines that were left out and why
};

struct Prediction {
  double seconds = 0;
  double bytes = 0;
};
// Builds the case, checks the plan and plays it on the timeline.
absl::StatusOr<Prediction> Predict(const Run& run, const Calibration& calibration);

}  // namespace sail::bench
