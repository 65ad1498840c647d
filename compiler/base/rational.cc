#include "compiler/base/rational.h"

#include <algorithm>

#include "compiler/base/check.h"

namespace sail {
namespace {

using Int = __int128;

Int Gcd(Int a, Int b) {
  while (b != 0) {
    const Int rest = a % b;
    a = b;
    b = rest;
  }
  return a < 0 ? -a : a;
}

bool MultiplyInto(Int a, Int b, Int& product) { return !__builtin_mul_overflow(a, b, &product); }

std::string IntToString(Int value) {
  if (value == 0) return "0";
  const bool negative = value < 0;
  std::string digits;
  // Digit by digit from the negative side, which holds the smallest value too.
  for (Int rest = negative ? value : -value; rest != 0; rest /= 10) digits += static_cast<char>('0' - rest % 10);
  if (negative) digits += '-';
  std::reverse(digits.begin(), digits.end());
  return digits;
}

}  // namespace

std::optional<Rational> Rational::Create(Int numerator, Int denominator) {
  constexpr Int kLowest = static_cast<Int>(static_cast<unsigned __int128>(1) << 127);
  if (denominator == 0 || numerator == kLowest || denominator == kLowest) return std::nullopt;
  if (denominator < 0) {
    numerator = -numerator;
    denominator = -denominator;
  }
  const Int divisor = Gcd(numerator, denominator);
  Rational result;
  result.numerator_ = numerator / divisor;
  result.denominator_ = denominator / divisor;
  return result;
}

std::optional<Rational> Rational::FromLiteral(absl::string_view text) {
  Int digits = 0;
  int fraction_digits = 0;
  bool in_fraction = false;
  size_t i = 0;
  for (; i < text.size() && text[i] != 'e' && text[i] != 'E'; ++i) {
    if (text[i] == '_') continue;
    if (text[i] == '.') {
      in_fraction = true;
      continue;
    }
    if (!MultiplyInto(digits, 10, digits) || __builtin_add_overflow(digits, static_cast<Int>(text[i] - '0'), &digits)) {
      return std::nullopt;
    }
    if (in_fraction) ++fraction_digits;
  }
  int exponent = 0;
  if (i < text.size()) {
    ++i;
    const bool negative = i < text.size() && text[i] == '-';
    if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
    for (; i < text.size(); ++i) {
      if (text[i] == '_') continue;
      exponent = std::min(exponent * 10 + (text[i] - '0'), 1000);
    }
    if (negative) exponent = -exponent;
  }
  if (digits == 0) return Rational(0);
  exponent -= fraction_digits;
  Int power = 1;
  for (int k = 0; k < (exponent < 0 ? -exponent : exponent); ++k) {
    if (!MultiplyInto(power, 10, power)) return std::nullopt;
  }
  if (exponent < 0) return Create(digits, power);
  if (!MultiplyInto(digits, power, digits)) return std::nullopt;
  return Create(digits, 1);
}

std::optional<Rational> Rational::Add(const Rational& other) const {
  // a/b + c/d over lcm(b, d), so that sums of like fractions stay small.
  const Int common = Gcd(denominator_, other.denominator_);
  Int left = 0, right = 0, denominator = 0, sum = 0;
  if (!MultiplyInto(numerator_, other.denominator_ / common, left) ||
      !MultiplyInto(other.numerator_, denominator_ / common, right) ||
      !MultiplyInto(denominator_ / common, other.denominator_, denominator) ||
      __builtin_add_overflow(left, right, &sum)) {
    return std::nullopt;
  }
  return Create(sum, denominator);
}

std::optional<Rational> Rational::Subtract(const Rational& other) const {
  Rational negated = other;
  negated.numerator_ = -negated.numerator_;
  return Add(negated);
}

std::optional<Rational> Rational::Multiply(const Rational& other) const {
  // Cross-reduce first: the product of two fractions in lowest terms then needs no further reduction.
  const Int left = Gcd(numerator_, other.denominator_);
  const Int right = Gcd(other.numerator_, denominator_);
  Int numerator = 0, denominator = 0;
  if (!MultiplyInto(numerator_ / left, other.numerator_ / right, numerator) ||
      !MultiplyInto(denominator_ / right, other.denominator_ / left, denominator)) {
    return std::nullopt;
  }
  return Create(numerator, denominator);
}

std::optional<Rational> Rational::Divide(const Rational& other) const {
  if (other.is_zero()) return std::nullopt;
  const std::optional<Rational> inverse = Create(other.denominator_, other.numerator_);
  return inverse ? Multiply(*inverse) : std::nullopt;
}

Rational Rational::Floor() const {
  Rational whole;
  whole.numerator_ = numerator_ / denominator_;
  if (numerator_ < 0 && numerator_ % denominator_ != 0) --whole.numerator_;
  return whole;
}

std::optional<int64_t> Rational::ToInt64() const {
  if (denominator_ != 1 || numerator_ > INT64_MAX || numerator_ < INT64_MIN) return std::nullopt;
  return static_cast<int64_t>(numerator_);
}

double Rational::ToDouble() const { return static_cast<double>(numerator_) / static_cast<double>(denominator_); }

std::string Rational::ToString() const {
  if (denominator_ == 1) return IntToString(numerator_);
  // A denominator of the form 2^a·5^b has a finite decimal expansion.
  Int rest = denominator_;
  int twos = 0, fives = 0;
  for (; rest % 2 == 0; rest /= 2) ++twos;
  for (; rest % 5 == 0; rest /= 5) ++fives;
  const int places = std::max(twos, fives);
  Int scaled = numerator_;
  bool fits = rest == 1 && places <= 18;
  for (int k = twos; fits && k < places; ++k) fits = MultiplyInto(scaled, 2, scaled);
  for (int k = fives; fits && k < places; ++k) fits = MultiplyInto(scaled, 5, scaled);
  if (!fits) return IntToString(numerator_) + "/" + IntToString(denominator_);
  std::string digits = IntToString(scaled < 0 ? -scaled : scaled);
  if (static_cast<int>(digits.size()) <= places) digits.insert(0, places + 1 - digits.size(), '0');
  digits.insert(digits.size() - places, ".");
  return (scaled < 0 ? "-" : "") + digits;
}

bool operator<(const Rational& a, const Rational& b) {
  Int left = 0, right = 0;
  if (MultiplyInto(a.numerator_, b.denominator_, left) && MultiplyInto(b.numerator_, a.denominator_, right)) {
    return left < right;
  }
  // Cross products leave 128 bits: compare whole parts, then the reciprocals of the rests.
  const auto floor_of = [](Int n, Int d) { return n / d - (n % d < 0 ? 1 : 0); };
  const Int whole_a = floor_of(a.numerator_, a.denominator_), whole_b = floor_of(b.numerator_, b.denominator_);
  if (whole_a != whole_b) return whole_a < whole_b;
  Rational rest_a, rest_b;
  rest_a.numerator_ = a.denominator_;
  rest_a.denominator_ = a.numerator_ - whole_a * a.denominator_;
  rest_b.numerator_ = b.denominator_;
  rest_b.denominator_ = b.numerator_ - whole_b * b.denominator_;
  if (rest_a.denominator_ == 0 || rest_b.denominator_ == 0) return rest_a.denominator_ == 0 && rest_b.denominator_ != 0;
  return rest_b < rest_a;
}

}  // namespace sail
