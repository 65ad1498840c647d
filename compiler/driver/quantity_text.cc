#include "compiler/driver/quantity_text.h"

#include <cmath>
#include <limits>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compiler/base/number_text.h"
#include "compiler/passes/metrics.h"
#include "compiler/passes/unit_table.h"

namespace sail::driver {
namespace {

Unit UnitOf(ir::Metric metric) { return KnownUnit(metric == ir::Metric::kPeakMemory ? "%" : MetricUnit(metric)); }

std::string InUnit(const std::string& number, ir::Metric metric) {
  if (metric == ir::Metric::kPeakMemory) return number + "%";
  absl::string_view unit = MetricUnit(metric);
  if (number == "1" && (unit == "nodes" || unit == "GPUs")) unit.remove_suffix(1);
  return absl::StrCat(number, " ", unit);
}

double Shown(ir::Metric metric, double base) { return base / UnitOf(metric).factor.ToDouble(); }

}  // namespace

std::string SecondsText(Seconds time) {
  const double seconds = time.value();
  if (!(seconds < 1e15)) return absl::StrCat(FourDigits(seconds), " s");  // what no clock shows
  if (seconds >= 3600) {
    const int64_t minutes = std::llround(seconds / 60);
    return absl::StrCat(minutes / 60, " h ", minutes % 60, " min");
  }
  if (seconds >= 60) {
    const int64_t whole = std::llround(seconds);
    return absl::StrCat(whole / 60, " min ", whole % 60, " s");
  }
  if (seconds >= 1 || seconds == 0) return absl::StrCat(FourDigits(seconds), " s");
  if (seconds >= 1e-3) return absl::StrCat(FourDigits(seconds * 1e3), " ms");
  return absl::StrCat(FourDigits(seconds * 1e6), " us");
}

std::string BytesText(Bytes bytes) {
  double value = static_cast<double>(bytes.value());
  for (const absl::string_view unit : {" B", " KiB", " MiB", " GiB"}) {
    if (std::fabs(value) < 1024) return absl::StrCat(FourDigits(value), unit);
    value /= 1024;
  }
  return absl::StrCat(FourDigits(value), " TiB");
}

std::string UsdText(Usd money) { return absl::StrCat(FourDigits(money.value()), " USD"); }

std::string PercentText(double share) { return absl::StrFormat("%.1f %%", 100 * share); }

std::string ChangeText(double from, double to) {
  constexpr double kNotable = 0.001;  // less is no difference to speak of
  if (!(std::abs(from) > 0) || !std::isfinite(to / from)) return "";
  const double change = to / from - 1;
  return std::abs(change) < kNotable / 2 ? "same" : absl::StrFormat("%+.1f %%", 100 * change);
}

std::string MetricText(ir::Metric metric, double base) { return InUnit(FourDigits(Shown(metric, base)), metric); }

bool MakesProgress(const ir::SpotForecast& spot) { return std::isfinite(spot.cost_per_iteration.value()); }

double RoundLimit(ir::Metric metric, double base, bool at_most) {
  const double shown = Shown(metric, base);
  if (shown == 0 || !std::isfinite(shown)) return base;
  const double scale = std::pow(10, 3 - std::floor(std::log10(std::fabs(shown))));
  return (at_most ? std::ceil(shown * scale) : std::floor(shown * scale)) / scale * UnitOf(metric).factor.ToDouble();
}

std::string ExactMetricText(ir::Metric metric, double base) {
  const Rational factor = UnitOf(metric).factor;
  for (int digits = 4; digits <= std::numeric_limits<double>::max_digits10; ++digits) {
    const std::string number = absl::StrFormat("%.*g", digits, Shown(metric, base));
    const auto read = Rational::FromLiteral(number);
    const auto value = read ? read->Multiply(factor) : std::nullopt;
    if (value && value->ToDouble() == base) return InUnit(number, metric);
  }
  return MetricText(metric, base);
}

}  // namespace sail::driver
