#include "compiler/passes/unit_readings.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "compiler/base/number_text.h"

namespace sail {
namespace {

using Units = std::vector<absl::string_view>;

constexpr size_t kShortEnough = 7;  // characters of an exact value that is shown as it is

std::string ValueText(const Rational& value) {
  const std::string exact = value.ToString();
  if (exact.size() <= kShortEnough && !absl::StrContains(exact, "/")) return exact;
  return FourDigits(value.ToDouble());
}

// The largest of `units` (ascending) in which the value is at least one; the first if there is none.
absl::string_view Fitting(const Rational& base, const Units& units) {
  absl::string_view fitting = units.front();
  for (const absl::string_view unit : units) {
    const auto value = base.Divide(KnownUnit(unit).factor);
    if (value && !(*value < Rational(1))) fitting = unit;
  }
  return fitting;
}

bool Has(const Dimension& dimension, absl::string_view unit) { return dimension == KnownUnit(unit).dimension; }

// "USD/GPU/h" with "day" for its last word: "USD/GPU/day".
std::string WithLastWord(absl::string_view unit, absl::string_view word) {
  return absl::StrCat(unit.substr(0, unit.rfind('/') + 1), word);
}

bool IsPriceOfTime(const Dimension& dimension) {
  return Has(dimension, "USD/h") || Has(dimension, "USD/GPU/h") || Has(dimension, "USD/node/h");
}

// The unit of the other reading; empty when there is none. Reciprocals are not its business.
std::string OtherUnit(const Rational& base, const Dimension& dimension, absl::string_view unit) {
  const auto fitting = [&base](const Units& units) { return std::string(Fitting(base, units)); };
  if (unit == "%") return "";
  if (Has(dimension, "B")) {
    if (absl::StrContains(unit, "iB")) return fitting({"B", "KB", "MB", "GB", "TB", "PB"});
    return fitting({"B", "KiB", "MiB", "GiB", "TiB", "PiB"});
  }
  if (Has(dimension, "B/s")) {
    if (absl::EndsWith(unit, "bps")) return fitting({"B/s", "KB/s", "MB/s", "GB/s", "TB/s"});
    return fitting({"bps", "Kbps", "Mbps", "Gbps", "Tbps"});
  }
  if (Has(dimension, "s")) return unit == "s" ? fitting({"ns", "us", "ms", "s", "min", "h", "day"}) : "s";
  if (IsPriceOfTime(dimension)) return WithLastWord(unit, absl::EndsWith(unit, "/h") ? "day" : "h");
  if (Has(dimension, "USD/GB")) return absl::StrContains(unit, "iB") ? "USD/GB" : "USD/GiB";
  return "";
}

}  // namespace

std::optional<std::string> OtherReading(absl::string_view digits, absl::string_view unit) {
  const auto parsed = ParseUnit(unit, digits);
  const auto number = Rational::FromLiteral(digits);
  if (!std::holds_alternative<Unit>(parsed) || !number || unit.empty()) return std::nullopt;
  const Unit known = std::get<Unit>(parsed);
  const auto base = number->Multiply(known.factor);
  if (!base) return std::nullopt;
  if (unit == "%") return ValueText(*base);
  const Dimension& dimension = known.dimension;
  if (Has(dimension, "iters/s") || Has(dimension, "s/iter")) {
    const auto inverse = Rational(1).Divide(*base);
    if (!inverse) return std::nullopt;
    return absl::StrCat(ValueText(*inverse), Has(dimension, "iters/s") ? " s/iter" : " iters/s");
  }
  const std::string other = OtherUnit(*base, dimension, unit);
  if (other.empty() || other == unit) return std::nullopt;
  const auto value = base->Divide(KnownUnit(other).factor);
  if (!value) return std::nullopt;
  return absl::StrCat(ValueText(*value), " ", other);
}

std::vector<std::string> UnitSpellings() {
  std::vector<std::string> spellings = {"%"};
  for (const UnitWord& word : UnitWords()) {
    spellings.push_back(word.word);
    if (!word.singular.empty()) spellings.push_back(word.singular);
  }
  for (const absl::string_view size : {"MB", "GB", "TB", "MiB", "GiB"}) spellings.push_back(absl::StrCat(size, "/s"));
  for (const absl::string_view price :
       {"USD/h", "USD/day", "USD/GPU/h", "USD/node/h", "USD/GB", "USD/GiB", "USD/TB", "USD/iter"}) {
    spellings.push_back(std::string(price));
  }
  for (const absl::string_view count : {"iters", "samples", "tokens"}) spellings.push_back(absl::StrCat(count, "/s"));
  for (const absl::string_view rest : {"s/iter", "GB/iter", "GiB/iter", "GFLOP/s", "TFLOP/s", "PFLOP/s", "GPUs/node"}) {
    spellings.push_back(std::string(rest));
  }
  return spellings;
}

}  // namespace sail
