#include "tests/bench/accuracy/report.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace sail::bench {
namespace {

std::vector<Point> Select(const std::vector<Point>& points, bool is_calibration) {
  std::vector<Point> selected;
  for (const Point& point : points) {
    if (point.is_calibration == is_calibration) selected.push_back(point);
  }
  return selected;
}

// What counts: all but the calibration runs, or these if there are no others.
std::vector<Point> Judged(const std::vector<Point>& points) {
  std::vector<Point> held_out = Select(points, false);
  return held_out.empty() ? points : held_out;
}

std::string Row(const std::string& name, const std::string& quantity, const std::vector<Point>& points) {
  const Statistics s = StatisticsOf(points);
  const std::string spearman = s.spearman ? absl::StrFormat("%.4f", *s.spearman) : "-";
  return absl::StrFormat("| %s | %s | %d | %.2f | %.2f | %.2f | %+.2f | %s |\n", name, quantity, s.n, s.mean_abs_pct,
                         s.median_abs_pct, s.max_abs_pct, s.bias_pct, spearman);
}

}  // namespace

Json ToJson(const Results& results) {
  Json sets = Json::array();
  for (const auto& [key, points] : results) {
    const Statistics s = StatisticsOf(Judged(points));
    sets.push_back({{"name", key.first},
                    {"quantity", key.second},
                    {"n", s.n},
                    {"mean_abs_pct", s.mean_abs_pct},
                    {"median_abs_pct", s.median_abs_pct},
                    {"max_abs_pct", s.max_abs_pct},
                    {"bias_pct", s.bias_pct},
                    {"spearman", s.spearman ? Json(*s.spearman) : Json()}});
  }
  return {{"sets", std::move(sets)}};
}

std::string RenderStatistics(const Results& results) {
  std::string text =
      "| set | quantity | n | mean abs % | median % | max % | bias % | Spearman |\n"
      "| --- | --- | --- | --- | --- | --- | --- | --- |\n";
  for (const auto& [key, points] : results) {
    const std::vector<Point> fitted = Select(points, true);
    absl::StrAppend(&text, Row(key.first, key.second, Judged(points)));
    if (fitted.empty() || fitted.size() == points.size()) continue;
    absl::StrAppend(&text, Row(key.first + ", calibration runs", key.second, fitted));
  }
  return text;
}

std::string RenderWorst(const Results& results) {
  std::string text =
      "| set | quantity | worst runs | predicted | measured | error % |\n"
      "| --- | --- | --- | --- | --- | --- |\n";
  for (const auto& [key, points] : results) {
    for (const Point& point : Worst(Judged(points), 5)) {
      const bool is_time = key.second == "time";
      absl::StrAppend(
          &text, absl::StrFormat("| %s | %s | %s | %.4f %s | %.4f %s | %+.1f |\n", key.first, key.second, point.name,
                                 point.predicted / (is_time ? 1 : 1e9), is_time ? "s" : "GB",
                                 point.measured / (is_time ? 1 : 1e9), is_time ? "s" : "GB", 100 * point.Error()));
    }
  }
  return text;
}

}  // namespace sail::bench
