#include "tests/bench/accuracy/fit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tests/bench/accuracy/report.h"

namespace sail::bench {
namespace {

constexpr int kFolds = 5;
constexpr double kNoise = 0.05;  // of the logarithm of a measurement

double Objective(const std::vector<Run>& runs, const Calibration& calibration) {
  double sum = 0;
  for (const Run& run : runs) {
    const absl::StatusOr<Prediction> prediction = Predict(run, calibration);
    if (!prediction.ok()) continue;
    const double z = std::log(prediction->seconds / *run.seconds) / kNoise;
    sum += 2 * (std::sqrt(1 + z * z) - 1);
  }
  for (const auto& [name, constant] : calibration.constants) {
    if (!constant.prior || !constant.spread) continue;
    const double z = std::log(constant.value / *constant.prior) / *constant.spread;
    sum += z * z;
  }
  return sum;
}

// Predictions of `runs` by set, as points of time.
void AddPoints(const std::vector<Run>& runs, const Calibration& calibration, const char* quantity, Results& results) {
  for (const Run& run : runs) {
    const absl::StatusOr<Prediction> prediction = Predict(run, calibration);
    if (prediction.ok()) results[{run.set, quantity}].push_back({run.name, prediction->seconds, *run.seconds});
  }
}

std::string RenderA100(const std::vector<Run>& all, const Calibration& calibration) {
  std::vector<Run> runs;
  for (const Run& run : all) {
    if (run.is_calibration) runs.push_back(run);
  }
  if (runs.empty()) return "No calibration run of the A100 sets is in the data.\n\n";
  const Calibration fitted = FitA100(runs, calibration);
  std::string text = absl::StrFormat(
      "A100 constants, fitted to %d runs\n\n| constant | committed | refitted | prior | unit |\n"
      "| --- | --- | --- | --- | --- |\n",
      runs.size());
  for (const auto& [name, constant] : calibration.constants) {
    if (!constant.prior) continue;
    absl::StrAppend(&text, absl::StrFormat("| %s | %.4g | %.4g | %.4g | %s |\n", name, constant.value, fitted(name),
                                           *constant.prior, constant.unit));
  }
  Results left_out;
  for (int fold = 0; fold < kFolds; ++fold) {
    std::vector<Run> training;
    std::vector<Run> rest;
    for (size_t i = 0; i < runs.size(); ++i) {
      (static_cast<int>(i) % kFolds == fold ? rest : training).push_back(runs[i]);
    }
    AddPoints(rest, FitA100(training, calibration), "time, left out of the fit", left_out);
  }
  return absl::StrCat(text, "\n", RenderStatistics(left_out), "\n");
}

// One constant that is found on a grid: predictions of every run at every value are made once.
class GridFit {
 public:
  // A run's value of the quantity; absent if it was not measured or cannot be represented.
  struct Row {
    const Run* run;
    double measured;
    std::vector<double> predicted;  // by grid point
  };
  GridFit(std::vector<Row> rows, std::vector<double> grid) : rows_(std::move(rows)), grid_(std::move(grid)) {}

  // The grid point with the least sum over sets of the mean absolute error, without the runs of `fold`.
  size_t Best(const std::string& fold) const {
    size_t best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (size_t g = 0; g < grid_.size(); ++g) {
      std::map<std::string, std::pair<double, int>> sets;
      for (const Row& row : rows_) {
        if (row.run->fold == fold) continue;
        auto& [sum, count] = sets[row.run->set];
        sum += std::abs(row.predicted[g] / row.measured - 1);
        ++count;
      }
      double total = 0;
      for (const auto& [set, error] : sets) total += error.first / error.second;
      if (total < least) {
        least = total;
        best = g;
      }
    }
    return best;
  }

  std::string Render(const std::string& name, const std::string& quantity, double committed) const {
    if (rows_.empty()) return absl::StrCat(name, ": no run to fit it to is in the data\n\n");
    Results results;
    std::set<double> values;
    for (const Row& row : rows_) {
      const size_t g = Best(row.run->fold);
      values.insert(grid_[g]);
      results[{row.run->set, quantity + ", its plan left out of the fit"}].push_back(
          {row.run->name, row.predicted[g], row.measured});
    }
    const double value = grid_[Best("")];
    return absl::StrFormat("%s: committed %.4g, refitted %.4g, between %.4g and %.4g with one plan left out\n\n", name,
                           committed, value, *values.begin(), *values.rbegin()) +
           RenderStatistics(results) + "\n";
  }

 private:
  std::vector<Row> rows_;
  std::vector<double> grid_;
};

std::string RenderStepTraffic(const std::vector<Run>& runs, const Calibration& calibration) {
  constexpr char kName[] = "sailor.step_traffic";
  std::vector<double> grid;
  for (double value = 50; value <= 2000; value += 50) grid.push_back(value);
  std::vector<GridFit::Row> rows;
  for (const Run& run : runs) {
    if (!absl::StartsWith(run.set, "sailor/") || !run.seconds || !Predict(run, calibration).ok()) continue;
    GridFit::Row& row = rows.emplace_back(GridFit::Row{&run, *run.seconds, {}});
    for (const double value : grid) {
      Calibration changed = calibration;
      changed.constants[kName].value = value;
      row.predicted.push_back(Predict(run, changed)->seconds);
    }
  }
  return GridFit(std::move(rows), std::move(grid)).Render(kName, "time", calibration(kName));
}

// Framework memory is added to the rest, so one prediction serves all values.
std::string RenderFramework(const std::vector<Run>& runs, const Calibration& calibration) {
  constexpr char kName[] = "sailor.framework.GH-96";
  const double committed = calibration(kName);
  std::vector<double> grid;
  for (double value = 4e9; value <= 5.2e9; value += 0.02e9) grid.push_back(value);
  std::vector<GridFit::Row> rows;
  for (const Run& run : runs) {
    if (!absl::StartsWith(run.set, "sailor/gh200") || !run.bytes) continue;
    const absl::StatusOr<Prediction> prediction = Predict(run, calibration);
    if (!prediction.ok()) continue;
    GridFit::Row& row = rows.emplace_back(GridFit::Row{&run, *run.bytes, {}});
    for (const double value : grid) row.predicted.push_back(prediction->bytes - committed + value);
  }
  return GridFit(std::move(rows), std::move(grid)).Render(kName, "memory", committed);
}

}  // namespace

Calibration FitA100(const std::vector<Run>& runs, Calibration calibration) {
  std::vector<std::string> names;
  for (auto& [name, constant] : calibration.constants) {
    if (!constant.prior || !constant.spread) continue;
    constant.value = *constant.prior;
    names.push_back(name);
  }
  double least = Objective(runs, calibration);
  for (double step = 0.16; step > 0.008; step /= 2) {
    for (bool improves = true; improves;) {
      improves = false;
      for (const std::string& name : names) {
        for (const double factor : {1 + step, 1 / (1 + step)}) {
          Calibration changed = calibration;
          changed.constants[name].value *= factor;
          const double objective = Objective(runs, changed);
          if (objective >= least - 1e-9) continue;
          least = objective;
          calibration = std::move(changed);
          improves = true;
        }
      }
    }
  }
  return calibration;
}

std::string RenderFits(const std::vector<Run>& runs, const Calibration& calibration) {
  return absl::StrCat(RenderA100(runs, calibration), RenderStepTraffic(runs, calibration),
                      RenderFramework(runs, calibration));
}

}  // namespace sail::bench
