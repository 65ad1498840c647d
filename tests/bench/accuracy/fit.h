// Refits the constants of calibration.json, on all their runs and with some left out, so that over-fitting shows.
#pragma once

#include <string>
#include <vector>

#include "tests/bench/accuracy/run.h"

namespace sail::bench {

// Minimises over the constants that have a prior  Σ soft-L1((ln predicted − ln measured) / 0.05) over `runs`
// + Σ ((ln value − ln prior) / spread)²  by coordinate search on logarithms, from the priors.
Calibration FitA100(const std::vector<Run>& runs, Calibration calibration);

// Tables: the A100 constants, fitted to all calibration runs and in five folds; the step's traffic and the GH200
// framework memory, fitted to all runs of runs.json and without each plan.
std::string RenderFits(const std::vector<Run>& runs, const Calibration& calibration);

}  // namespace sail::bench
