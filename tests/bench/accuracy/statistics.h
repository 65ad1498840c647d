// What is said about the errors of a set of predictions.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sail::bench {

struct Point {
  std::string name;  // of the run
  double predicted = 0;
  double measured = 0;          // above 0
  bool is_calibration = false;  // a constant was fitted to it
  double Error() const { return predicted / measured - 1; }
};

struct Statistics {
  int n = 0;
  double mean_abs_pct = 0;
  double median_abs_pct = 0;
  double max_abs_pct = 0;
  double bias_pct = 0;             // mean of the signed errors; below 0: predictions are too low
  std::optional<double> spearman;  // absent below two points, or if one side is constant
};

// Requires at least one point.
Statistics StatisticsOf(const std::vector<Point>& points);

// Spearman's rank correlation; equal values share the mean of their ranks.
std::optional<double> Spearman(const std::vector<double>& a, const std::vector<double>& b);

// The `count` points with the largest absolute error, largest first.
std::vector<Point> Worst(std::vector<Point> points, size_t count);

}  // namespace sail::bench
