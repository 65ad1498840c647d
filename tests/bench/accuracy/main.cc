// ./dev bench accuracy DATA_DIR [--json]: predicted against measured for every run of the public data.
#include <cstdio>
#include <iostream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/bench/accuracy/calibration.h"
#include "tests/bench/accuracy/fit.h"
#include "tests/bench/accuracy/published.h"
#include "tests/bench/accuracy/report.h"
#include "tests/bench/accuracy/sailor_runs.h"
#include "tests/bench/accuracy/vtrain_runs.h"

namespace sail::bench {
namespace {

struct Options {
  std::string calibration;
  std::string data;
  bool json = false;
  bool all = false;
  bool fit = false;
};

Results Evaluate(const std::vector<Run>& runs, const Calibration& calibration, std::vector<std::string>& messages) {
  Results results;
  for (const Run& run : runs) {
    const absl::StatusOr<Prediction> prediction = Predict(run, calibration);
    if (!prediction.ok()) {
      messages.push_back(absl::StrCat(run.name, " left out: ", prediction.status().message()));
      continue;
    }
    const auto add = [&](const char* quantity, double predicted, const std::optional<double>& measured) {
      if (!measured) return;
      results[{run.set, quantity}].push_back({run.name, predicted, *measured, run.is_calibration});
    };
    add("time", prediction->seconds, run.seconds);
    add("memory", prediction->bytes, run.bytes);
  }
  return results;
}

void PrintAll(const Results& results) {
  for (const auto& [key, points] : results) {
    for (const Point& point : points) {
      std::printf("%s\t%s\t%s\t%.9g\t%.9g\t%+.2f\n", key.first.c_str(), key.second.c_str(), point.name.c_str(),
                  point.predicted, point.measured, 100 * point.Error());
    }
  }
}

int Main(const Options& options) {
  const absl::StatusOr<Calibration> calibration = ReadCalibration(options.calibration);
  if (!calibration.ok()) {
    std::cerr << "accuracy: " << std::string(calibration.status().message()) << "\n";
    return 1;
  }
  SailorData data;
  std::vector<SailorRun> raw;
  Runs runs = ReadSailorRuns(options.data, data, raw);
  const Runs vtrain = ReadVtrainRuns(options.data, *calibration);
  runs.runs.insert(runs.runs.end(), vtrain.runs.begin(), vtrain.runs.end());
  runs.messages.insert(runs.messages.end(), vtrain.messages.begin(), vtrain.messages.end());
  if (options.fit) {
    for (const std::string& message : runs.messages) std::cerr << "accuracy: " << message << "\n";
    std::cout << RenderFits(runs.runs, *calibration);
    return 0;
  }
  const Results results = Evaluate(runs.runs, *calibration, runs.messages);
  for (const std::string& message : runs.messages) std::cerr << "accuracy: " << message << "\n";
  if (results.empty()) {
    std::cerr << "accuracy: nothing to evaluate in " << options.data << "\n";
    return 1;
  }
  if (options.all) {
    PrintAll(results);
  } else if (options.json) {
    std::cout << DumpJson(ToJson(results));
  } else {
    std::cout << RenderStatistics(results) << "\n"
              << RenderWorst(results) << "\n"
              << ComparePublished(raw, data, *calibration);
  }
  return 0;
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
    } else if (word == "--all") {
      options.all = true;
    } else if (word == "--fit") {
      options.fit = true;
    } else if (options.data.empty() && !absl::StartsWith(word, "-")) {
      options.data = std::string(word);
    } else {
      usage = true;
    }
  }
  if (usage || options.data.empty()) {
    std::cerr << "usage: accuracy CALIBRATION DATA_DIR [--json | --all | --fit]\n"
                 "  --all  every run, separated by tabs\n  --fit  refit the constants, and without each run\n";
    return 2;
  }
  return sail::bench::Main(options);
}
