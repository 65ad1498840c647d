// Exact rational numbers over 128-bit integers, in lowest terms, denominator positive. Every operation that could
// overflow returns nullopt instead; the evaluator turns that into SAIL0214.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace sail {

class Rational {
 public:
  Rational() = default;  // zero: the additive identity, as for numbers
  explicit Rational(int64_t value) : numerator_(value) {}

  static std::optional<Rational> Create(__int128 numerator, __int128 denominator);
  // Digits with optional '_' separators, fraction and exponent: "50_257", "0.02", "1e9". nullopt on overflow.
  static std::optional<Rational> FromLiteral(absl::string_view text);

  std::optional<Rational> Add(const Rational& other) const;
  std::optional<Rational> Subtract(const Rational& other) const;
  std::optional<Rational> Multiply(const Rational& other) const;
  std::optional<Rational> Divide(const Rational& other) const;  // also nullopt for division by zero

  Rational Floor() const;  // the largest integer that is not above

  bool is_integer() const { return denominator_ == 1; }
  bool is_zero() const { return numerator_ == 0; }
  bool is_negative() const { return numerator_ < 0; }
  std::optional<int64_t> ToInt64() const;  // nullopt when fractional or out of range
  double ToDouble() const;                 // correctly rounded for 53-bit parts, else the quotient of both
  std::string ToString() const;            // "3", "0.02", "1/3"

  friend bool operator==(const Rational&, const Rational&) = default;
  friend bool operator<(const Rational& a, const Rational& b);

 private:
  __int128 numerator_ = 0;
  __int128 denominator_ = 1;
};

}  // namespace sail
