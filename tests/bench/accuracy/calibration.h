// tests/bench/calibration.json: everything that was fitted, with the runs that it was fitted to, and the datasheets of
// the GPUs that measured runs name.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "absl/status/statusor.h"

namespace sail::bench {

// A fitted number in base units.
struct Constant {
  double value = 0;
  std::string unit;
  std::string meaning;
  // Fitted to the A100 runs if present: what a datasheet suggests, and how far (standard deviation of the logarithm)
  // the fit may go without paying for it.
  std::optional<double> prior;
  std::optional<double> spread;
};

struct Datasheet {
  double memory_bytes = 0;
  double memory_bytes_per_s = 0;
};

struct Calibration {
  std::map<std::string, Constant> constants;
  std::map<std::string, Datasheet> gpus;
  std::set<std::string> a100_runs;     // names as VtrainRuns makes them
  std::set<std::string> card_per_gpu;  // clusters whose nodes have a network card for each GPU; others have one

  // Requires a constant of this name (kConstantNames; others only where Find is asked).
  double operator()(const std::string& name) const;
};

// InvalidArgument names what is wrong or missing.
absl::StatusOr<Calibration> ReadCalibration(const std::string& path);

}  // namespace sail::bench
