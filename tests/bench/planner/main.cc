// ./dev bench planner DATA_DIR [--json]: our planner against the published one on the published scenarios.
#include <iostream>

#include "absl/strings/match.h"
#include "compiler/base/status_macros.h"
#include "tests/bench/accuracy/data_files.h"
#include "tests/bench/planner/report.h"

namespace sail::bench {
namespace {

struct Options {
  std::string calibration;
  std::string data;
  bool json = false;
  bool plans = false;
};

absl::StatusOr<PlannerData> ReadPlannerData(const std::string& directory) {
  PlannerData data;
  std::vector<std::string> messages;  // of models; a scenario that lacks its model says so
  SAIL_RETURN_IF_ERROR(ReadSailorData(directory, data.sailor, messages));
  SAIL_ASSIGN_OR_RETURN(const Json egress, ReadDataJson(directory + "/network/egress_usd_per_gb.json"));
  SAIL_ASSIGN_OR_RETURN(data.egress, ReadEgressPrices(egress));
  return data;
}

// The number of scenarios that failed.
absl::StatusOr<int> Main(const Options& options) {
  SAIL_ASSIGN_OR_RETURN(const Calibration calibration, ReadCalibration(options.calibration));
  SAIL_ASSIGN_OR_RETURN(const PlannerData data, ReadPlannerData(options.data + "/sailor"));
  SAIL_ASSIGN_OR_RETURN(const Json baselines, ReadDataJson(options.data + "/baselines.json"));
  SAIL_ASSIGN_OR_RETURN(const std::vector<Scenario> scenarios, ReadScenarios(baselines));
  std::vector<Result> results;
  int failures = 0;
  for (const Scenario& scenario : scenarios) {
    const absl::StatusOr<Result> result = Compare(scenario, data, calibration);
    const std::string fault = result.ok() ? result->fault_of_ours : std::string(result.status().message());
    if (result.ok()) results.push_back(*result);
    if (fault.empty()) continue;
    ++failures;
    std::cerr << "planner: " << scenario.name << ", " << scenario.model << ", " << scenario.Gpus() << ": " << fault
              << "\n";
  }
  if (options.json) {
    std::cout << DumpJson(ToJson(results));
  } else {
    std::cout << RenderComparison(results);
    if (options.plans) std::cout << "\n" << RenderPlans(results);
  }
  return failures;
}

}  // namespace
}  // namespace sail::bench

int main(int argc, char** argv) {
  sail::bench::Options options;
  bool usage = argc < 3;
  if (!usage) options.calibration = argv[1];
  for (int i = 2; i < argc; ++i) {
    const absl::string_view word = argv[i];
    if (word == "--json") {
      options.json = true;
    } else if (word == "--plans") {
      options.plans = true;
    } else if (options.data.empty() && !absl::StartsWith(word, "-")) {
      options.data = std::string(word);
    } else {
      usage = true;
    }
  }
  if (usage || options.data.empty()) {
    std::cerr << "usage: planner CALIBRATION DATA_DIR [--json | --plans]\n  --plans  also our plans\n";
    return 2;
  }
  const absl::StatusOr<int> failures = sail::bench::Main(options);
  if (!failures.ok()) {
    std::cerr << "planner: " << std::string(failures.status().message()) << "\n";
    return 1;
  }
  return *failures == 0 ? 0 : 1;
}
