// Our `published` cost model against what the published simulator said of the same runs.
#pragma once

#include <string>
#include <vector>

#include "tests/bench/accuracy/sailor_runs.h"

namespace sail::bench {

// One line: on how many runs both agree to how much, and the published simulator's error on what was measured.
std::string ComparePublished(const std::vector<SailorRun>& runs, const SailorData& data,
                             const Calibration& calibration);

}  // namespace sail::bench
