#include "tests/bench/accuracy/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sail::bench {
namespace {

double Mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Ranks from 1.
std::vector<double> RanksOf(const std::vector<double>& values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t x, size_t y) { return values[x] < values[y]; });
  std::vector<double> ranks(values.size());
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin + 1;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (size_t i = begin; i < end; ++i) ranks[order[i]] = static_cast<double>(begin + 1 + end) / 2;
    begin = end;
  }
  return ranks;
}

}  // namespace

std::optional<double> Spearman(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() < 2) return std::nullopt;
  const std::vector<double> x = RanksOf(a);
  const std::vector<double> y = RanksOf(b);
  const double mean = Mean(x);  // of y, too
  double both = 0;
  double of_x = 0;
  double of_y = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    both += (x[i] - mean) * (y[i] - mean);
    of_x += (x[i] - mean) * (x[i] - mean);
    of_y += (y[i] - mean) * (y[i] - mean);
  }
  if (of_x == 0 || of_y == 0) return std::nullopt;
  return both / std::sqrt(of_x * of_y);
}

Statistics StatisticsOf(const std::vector<Point>& points) {
  std::vector<double> signed_errors;
  std::vector<double> errors;
  std::vector<double> predicted;
  std::vector<double> measured;
  for (const Point& point : points) {
    signed_errors.push_back(point.Error());
    errors.push_back(std::abs(point.Error()));
    predicted.push_back(point.predicted);
    measured.push_back(point.measured);
  }
  std::sort(errors.begin(), errors.end());
  const size_t n = errors.size();
  return {.n = static_cast<int>(n),
          .mean_abs_pct = 100 * Mean(errors),
          .median_abs_pct = 100 * (errors[(n - 1) / 2] + errors[n / 2]) / 2,
          .max_abs_pct = 100 * errors.back(),
          .bias_pct = 100 * Mean(signed_errors),
          .spearman = Spearman(predicted, measured)};
}

std::vector<Point> Worst(std::vector<Point> points, size_t count) {
  std::stable_sort(points.begin(), points.end(),
                   [](const Point& a, const Point& b) { return std::abs(a.Error()) > std::abs(b.Error()); });
  if (points.size() > count) points.resize(count);
  return points;
}

}  // namespace sail::bench
