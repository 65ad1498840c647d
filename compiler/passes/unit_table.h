// The unit table of the language: spellings, exact factors and dimensions. Values are exact rationals in base units
// (byte, second, USD, FLOP and the counts); a spelling that is not in the table is an error that proposes readings.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/rational.h"

namespace sail {

enum class BaseUnit { kByte, kSecond, kUsd, kFlop, kGpu, kNode, kIter, kSample, kToken, kLayer, kStage, kParam, kWork };
inline constexpr int kBaseUnitCount = 13;

// A product of powers of base units: a bandwidth is byte^1 second^-1.
struct Dimension {
  std::array<int, kBaseUnitCount> exponents{};

  int& operator[](BaseUnit unit) { return exponents[static_cast<int>(unit)]; }
  int operator[](BaseUnit unit) const { return exponents[static_cast<int>(unit)]; }
  bool is_number() const { return *this == Dimension{}; }
  // One of the counts (GPUs, nodes, iters, …) to the first power: its values are whole numbers.
  bool is_count() const;
  bool is_data() const;
  Dimension Inverse() const;
  friend Dimension operator*(const Dimension& a, const Dimension& b);
  friend Dimension operator/(const Dimension& a, const Dimension& b) { return a * b.Inverse(); }
  friend bool operator==(const Dimension&, const Dimension&) = default;
};

struct Unit {
  Rational factor = Rational(1);  // base units per unit
  Dimension dimension;
};

// Why a spelling is no unit. `offset` and `length` give the faulty word inside the spelling.
struct UnitError {
  DiagnosticCode code = DiagnosticCode::kUnknownUnit;
  std::string message;
  std::vector<std::string> helps;
  int offset = 0;
  int length = 0;
};

// "GiB", "USD/GPU/h", "%", "" (a plain number). `digits` is the number it follows, used in proposals only.
std::variant<Unit, UnitError> ParseUnit(absl::string_view spelling, absl::string_view digits);

// For spellings written in this program (schema, metrics): a bad one is a bug.
Unit KnownUnit(absl::string_view spelling);

bool IsUnitWord(absl::string_view word);

// A row of the table, for documentation and completion.
struct UnitWord {
  std::string word;
  std::string singular;  // of a count, else empty
  std::string meaning;   // "gigabits per second"
  Unit unit;
};
std::vector<UnitWord> UnitWords();
std::vector<std::string> ReservedUnitWords();  // known, but not supported: SAIL0209

// "a bandwidth", "a price", "a plain number", else the unit: "USD/iter".
std::string Describe(const Dimension& dimension);
// The base units of a dimension: "B/s", "iters/s", "" for a number.
std::string BaseSpelling(const Dimension& dimension);

// An exact value together with the unit it was written in.
struct Amount {
  Rational value;  // base units
  Dimension dimension;
  std::string unit;  // for messages: the author's unit, or the base spelling of a computed value
  Rational unit_factor = Rational(1);
};

Amount MakeAmount(Rational value, Dimension dimension);
// "2.5 nodes", "0.92" (a share prints as a number).
std::string Format(const Amount& quantity);
// "14.69 USD/h": the value expressed in the given unit.
std::string FormatIn(const Rational& base_value, absl::string_view unit);

}  // namespace sail
