#include "compiler/passes/unit_table.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "compiler/base/check.h"

namespace sail {
namespace {

struct UnitRow {
  const char* word;
  const char* singular;  // of a count, else null
  int64_t numerator;
  int64_t denominator;
  BaseUnit base;
  bool per_second;
  const char* meaning;
};

constexpr int64_t kKi = 1024;

// Decimal multiples are powers of 1000 and binary ones powers of 1024; bits are eighths of a byte.
constexpr UnitRow kUnits[] = {
    {"B", nullptr, 1, 1, BaseUnit::kByte, false, "bytes"},
    {"KB", nullptr, 1'000, 1, BaseUnit::kByte, false, "kilobytes"},
    {"MB", nullptr, 1'000'000, 1, BaseUnit::kByte, false, "megabytes"},
    {"GB", nullptr, 1'000'000'000, 1, BaseUnit::kByte, false, "gigabytes"},
    {"TB", nullptr, 1'000'000'000'000, 1, BaseUnit::kByte, false, "terabytes"},
    {"PB", nullptr, 1'000'000'000'000'000, 1, BaseUnit::kByte, false, "petabytes"},
    {"KiB", nullptr, kKi, 1, BaseUnit::kByte, false, "kibibytes (1024 B)"},
    {"MiB", nullptr, kKi* kKi, 1, BaseUnit::kByte, false, "mebibytes (1024 KiB)"},
    {"GiB", nullptr, kKi* kKi* kKi, 1, BaseUnit::kByte, false, "gibibytes (1024 MiB)"},
    {"TiB", nullptr, kKi* kKi* kKi* kKi, 1, BaseUnit::kByte, false, "tebibytes (1024 GiB)"},
    {"PiB", nullptr, kKi* kKi* kKi* kKi* kKi, 1, BaseUnit::kByte, false, "pebibytes (1024 TiB)"},
    {"bps", nullptr, 1, 8, BaseUnit::kByte, true, "bits per second"},
    {"Kbps", nullptr, 1'000, 8, BaseUnit::kByte, true, "kilobits per second"},
    {"Mbps", nullptr, 1'000'000, 8, BaseUnit::kByte, true, "megabits per second"},
    {"Gbps", nullptr, 1'000'000'000, 8, BaseUnit::kByte, true, "gigabits per second"},
    {"Tbps", nullptr, 1'000'000'000'000, 8, BaseUnit::kByte, true, "terabits per second"},
    {"KBps", nullptr, 1'000, 1, BaseUnit::kByte, true, "kilobytes per second"},
    {"MBps", nullptr, 1'000'000, 1, BaseUnit::kByte, true, "megabytes per second"},
    {"GBps", nullptr, 1'000'000'000, 1, BaseUnit::kByte, true, "gigabytes per second"},
    {"TBps", nullptr, 1'000'000'000'000, 1, BaseUnit::kByte, true, "terabytes per second"},
    {"ns", nullptr, 1, 1'000'000'000, BaseUnit::kSecond, false, "nanoseconds"},
    {"us", nullptr, 1, 1'000'000, BaseUnit::kSecond, false, "microseconds"},
    {"ms", nullptr, 1, 1'000, BaseUnit::kSecond, false, "milliseconds"},
    {"s", nullptr, 1, 1, BaseUnit::kSecond, false, "seconds"},
    {"min", nullptr, 60, 1, BaseUnit::kSecond, false, "minutes"},
    {"h", nullptr, 3'600, 1, BaseUnit::kSecond, false, "hours"},
    {"day", nullptr, 86'400, 1, BaseUnit::kSecond, false, "days"},
    {"week", nullptr, 604'800, 1, BaseUnit::kSecond, false, "weeks"},
    {"USD", nullptr, 1, 1, BaseUnit::kUsd, false, "US dollars"},
    {"FLOP", nullptr, 1, 1, BaseUnit::kFlop, false, "floating-point operations"},
    {"GFLOP", nullptr, 1'000'000'000, 1, BaseUnit::kFlop, false, "10^9 floating-point operations"},
    {"TFLOP", nullptr, 1'000'000'000'000, 1, BaseUnit::kFlop, false, "10^12 floating-point operations"},
    {"PFLOP", nullptr, 1'000'000'000'000'000, 1, BaseUnit::kFlop, false, "10^15 floating-point operations"},
    {"GPUs", "GPU", 1, 1, BaseUnit::kGpu, false, "GPUs"},
    {"nodes", "node", 1, 1, BaseUnit::kNode, false, "nodes"},
    {"iters", "iter", 1, 1, BaseUnit::kIter, false, "iterations"},
    {"samples", "sample", 1, 1, BaseUnit::kSample, false, "samples"},
    {"tokens", "token", 1, 1, BaseUnit::kToken, false, "tokens"},
    {"layers", "layer", 1, 1, BaseUnit::kLayer, false, "layers"},
    {"stages", "stage", 1, 1, BaseUnit::kStage, false, "pipeline stages"},
    {"params", "param", 1, 1, BaseUnit::kParam, false, "parameters"},
    {"work", nullptr, 1, 1, BaseUnit::kWork, false, "planner work units"},
};

constexpr const char* kReserved[] = {"W", "kW", "kWh", "gCO2e", "EUR", "CHF"};

// Spellings people know from elsewhere, and what to write instead.
constexpr std::pair<const char*, const char*> kElsewhere[] = {
    {"TFLOPS", "TFLOP/s"}, {"GFLOPS", "GFLOP/s"}, {"PFLOPS", "PFLOP/s"},   {"FLOPS", "FLOP/s"}, {"TFLOPs", "TFLOP/s"},
    {"GFLOPs", "GFLOP/s"}, {"PFLOPs", "PFLOP/s"}, {"FLOPs", "FLOP/s"},     {"hosts", "nodes"},  {"hour", "h"},
    {"hours", "h"},        {"sec", "s"},          {"second", "s"},         {"seconds", "s"},    {"minutes", "min"},
    {"days", "day"},       {"weeks", "week"},     {"iterations", "iters"}, {"steps", "iters"},  {"Gbit", "Gbps"},
    {"dollars", "USD"}};

const UnitRow* FindRow(absl::string_view word) {
  for (const UnitRow& row : kUnits) {
    if (word == row.word || (row.singular != nullptr && word == row.singular)) return &row;
  }
  return nullptr;
}

Unit UnitOfRow(const UnitRow& row) {
  Unit unit;
  unit.factor = *Rational::Create(row.numerator, row.denominator);
  unit.dimension[row.base] = 1;
  if (row.per_second) unit.dimension[BaseUnit::kSecond] = -1;
  return unit;
}

// "`Gbps` is gigabits per second (100 Gbps = 12.5 GBps)": bits and bytes are always shown side by side.
std::string Reading(const UnitRow& row, absl::string_view digits) {
  std::string text = absl::StrCat("`", row.word, "` is ", row.meaning);
  if (!row.per_second || row.base != BaseUnit::kByte || absl::string_view(row.word) == "bps") return text;
  std::string twin = row.word;  // Gbps <-> GBps
  twin[1] = twin[1] == 'b' ? 'B' : 'b';
  const auto number = Rational::FromLiteral(digits);
  const auto base = number ? number->Multiply(UnitOfRow(row).factor) : std::nullopt;
  if (!base) return text;
  return absl::StrCat(text, " (", digits, " ", row.word, " = ", FormatIn(*base, twin), ")");
}

UnitError ExplainUnknownWord(absl::string_view word, absl::string_view digits) {
  UnitError error;
  if (word == "m" || word == "M") {
    error.code = DiagnosticCode::kAmbiguousUnit;
    error.message = absl::StrCat("`", word, "` is not a unit");
    error.helps = {"`min` is minutes, `ms` is milliseconds, `MB` is megabytes"};
    return error;
  }
  for (const char* reserved : kReserved) {
    if (word != reserved) continue;
    error.code = DiagnosticCode::kReservedUnit;
    error.message = absl::StrCat("`", word, "` is reserved but not supported yet");
    const bool money = word == "EUR" || word == "CHF";
    error.helps = {money ? "convert to USD with a rate of your own: `let usd_per_eur = 1.10`"
                         : "leave the attribute out: energy is not planned for"};
    return error;
  }
  for (const auto& [spelling, instead] : kElsewhere) {
    if (word != spelling) continue;
    error.message = absl::StrCat("unknown unit `", word, "`");
    error.helps = {absl::StrCat("write `", instead, "`")};
    return error;
  }
  for (const UnitRow& row : kUnits) {
    const bool same = absl::EqualsIgnoreCase(word, row.word) ||
                      (row.singular != nullptr && absl::EqualsIgnoreCase(word, row.singular));
    if (same) error.helps.push_back(Reading(row, digits));
  }
  if (!error.helps.empty()) {
    error.code = DiagnosticCode::kUnitCase;
    error.message = absl::StrCat("unit `", word, "` is not known; unit names are case-sensitive");
    return error;
  }
  error.message = absl::StrCat("unknown unit `", word, "`");
  std::vector<std::string> candidates;
  for (const UnitRow& row : kUnits) candidates.push_back(row.word);
  error.helps = DidYouMean(Nearest(word, candidates));
  return error;
}

struct NamedDimension {
  const char* unit;
  const char* name;
};
constexpr NamedDimension kNamedDimensions[] = {
    {"", "a plain number"},         {"B", "a data size"},
    {"B/s", "a bandwidth"},         {"s", "a time"},
    {"USD", "an amount of money"},  {"USD/h", "a price per time"},
    {"USD/GB", "a price per data"}, {"FLOP", "an amount of compute"},
    {"FLOP/s", "a compute speed"},
};

}  // namespace

bool Dimension::is_count() const {
  Dimension rest = *this;
  for (int i = static_cast<int>(BaseUnit::kGpu); i < kBaseUnitCount; ++i) {
    if (exponents[i] != 1) continue;
    rest.exponents[i] = 0;
    return rest.is_number();
  }
  return false;
}

bool Dimension::is_data() const {
  Dimension data;
  data[BaseUnit::kByte] = 1;
  return *this == data;
}

Dimension Dimension::Inverse() const {
  Dimension inverse;
  for (int i = 0; i < kBaseUnitCount; ++i) inverse.exponents[i] = -exponents[i];
  return inverse;
}

Dimension operator*(const Dimension& a, const Dimension& b) {
  Dimension product;
  for (int i = 0; i < kBaseUnitCount; ++i) product.exponents[i] = a.exponents[i] + b.exponents[i];
  return product;
}

std::variant<Unit, UnitError> ParseUnit(absl::string_view spelling, absl::string_view digits) {
  Unit unit;
  if (spelling.empty()) return unit;
  if (spelling == "%") {
    unit.factor = *Rational::Create(1, 100);
    return unit;
  }
  int offset = 0;
  for (const absl::string_view word : absl::StrSplit(spelling, '/')) {
    const UnitRow* row = FindRow(word);
    if (row == nullptr) {
      UnitError error = ExplainUnknownWord(word, digits);
      error.offset = offset;
      error.length = static_cast<int>(word.size());
      return error;
    }
    const Unit factor = UnitOfRow(*row);
    const bool first = offset == 0;
    const auto product = first ? factor.factor : unit.factor.Divide(factor.factor);
    if (!product) {
      return UnitError{.code = DiagnosticCode::kOverflow,
                       .message = absl::StrCat("unit `", spelling, "` is too large"),
                       .helps = {},
                       .offset = 0,
                       .length = static_cast<int>(spelling.size())};
    }
    unit.factor = *product;
    unit.dimension = first ? factor.dimension : unit.dimension / factor.dimension;
    offset += static_cast<int>(word.size()) + 1;
  }
  return unit;
}

Unit KnownUnit(absl::string_view spelling) {
  auto parsed = ParseUnit(spelling, "1");
  SAIL_CHECK(std::holds_alternative<Unit>(parsed)) << "unit " << std::string(spelling);
  return std::get<Unit>(parsed);
}

bool IsUnitWord(absl::string_view word) { return FindRow(word) != nullptr; }

std::vector<UnitWord> UnitWords() {
  std::vector<UnitWord> words;
  for (const UnitRow& row : kUnits) {
    words.push_back({row.word, row.singular != nullptr ? row.singular : "", row.meaning, UnitOfRow(row)});
  }
  return words;
}

std::vector<std::string> ReservedUnitWords() { return {std::begin(kReserved), std::end(kReserved)}; }

std::string BaseSpelling(const Dimension& dimension) {
  static constexpr const char* kPlural[] = {"B",       "s",      "USD",    "FLOP",   "GPUs",   "nodes", "iters",
                                            "samples", "tokens", "layers", "stages", "params", "work"};
  static constexpr const char* kSingular[] = {"B",      "s",     "USD",   "FLOP",  "GPU",   "node", "iter",
                                              "sample", "token", "layer", "stage", "param", "work"};
  std::vector<std::string> above;
  std::string below;
  for (int i = 0; i < kBaseUnitCount; ++i) {
    for (int n = 0; n < dimension.exponents[i]; ++n) above.push_back(kPlural[i]);
    for (int n = 0; n < -dimension.exponents[i]; ++n) absl::StrAppend(&below, "/", kSingular[i]);
  }
  if (above.empty() && below.empty()) return "";
  return absl::StrCat(above.empty() ? "1" : absl::StrJoin(above, "*"), below);
}

std::string Describe(const Dimension& dimension) {
  for (const NamedDimension& named : kNamedDimensions) {
    if (KnownUnit(named.unit).dimension == dimension) return named.name;
  }
  const std::string unit = BaseSpelling(dimension);
  return dimension.is_count() ? absl::StrCat("a number of ", unit) : absl::StrCat("a value in ", unit);
}

Amount MakeAmount(Rational value, Dimension dimension) {
  return Amount{.value = value, .dimension = dimension, .unit = BaseSpelling(dimension), .unit_factor = Rational(1)};
}

std::string Format(const Amount& quantity) {
  const auto shown = quantity.value.Divide(quantity.unit_factor);
  if (!shown) return absl::StrCat(quantity.value.ToString(), " ", BaseSpelling(quantity.dimension));
  if (quantity.unit.empty()) return shown->ToString();
  return absl::StrCat(shown->ToString(), quantity.unit == "%" ? "" : " ", quantity.unit);
}

std::string FormatIn(const Rational& base_value, absl::string_view unit) {
  const Unit known = KnownUnit(unit);
  return Format(Amount{
      .value = base_value, .dimension = known.dimension, .unit = std::string(unit), .unit_factor = known.factor});
}

}  // namespace sail
