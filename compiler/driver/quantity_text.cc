#include "compiler/driver/quantity_text.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "compiler/base/number_text.h"

namespace sail::driver {
namespace {

struct MetricUnit {
  double per_base;  // displayed = base * per_base
  absl::string_view unit;
};

MetricUnit UnitOf(ir::Metric metric) {
  switch (metric) {
    case ir::Metric::kThroughput:
      return {1, " iters/s"};
    case ir::Metric::kIterTime:
      return {1, " s"};
    case ir::Metric::kSampleRate:
      return {1, " samples/s"};
    case ir::Metric::kTokenRate:
      return {1, " tokens/s"};
    case ir::Metric::kCostPerIter:
      return {1, " USD/iter"};
    case ir::Metric::kCostRate:
      return {3600, " USD/h"};
    case ir::Metric::kEgressPerIter:
      return {1e-9, " GB/iter"};
    case ir::Metric::kPeakMemory:
      return {100, "%"};
    case ir::Metric::kNodes:
      return {1, " nodes"};
    case ir::Metric::kGpus:
      return {1, " GPUs"};
  }
  SAIL_CHECK(false) << "metric " << static_cast<int>(metric);
}

double RoundToFourDigits(double value, Round round) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double scale = std::pow(10, 3 - std::floor(std::log10(std::fabs(value))));
  return (round == Round::kDown ? std::floor(value * scale) : std::ceil(value * scale)) / scale;
}

}  // namespace

std::string SecondsText(Seconds time) {
  const double seconds = time.value();
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

std::string MetricText(ir::Metric metric, double base) {
  const MetricUnit unit = UnitOf(metric);
  return absl::StrCat(FourDigits(base * unit.per_base), unit.unit);
}

std::string MetricText(ir::Metric metric, double base, Round round) {
  const MetricUnit unit = UnitOf(metric);
  return absl::StrCat(FourDigits(RoundToFourDigits(base * unit.per_base, round)), unit.unit);
}

}  // namespace sail::driver
