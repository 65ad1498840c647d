#include "compiler/base/rational.h"

#include <cstdint>

#include "compiler/base/rng.h"
#include "gtest/gtest.h"

namespace sail {
namespace {

Rational Of(const char* text) { return *Rational::FromLiteral(text); }

TEST(Rational, LiteralsAreExact) {
  EXPECT_EQ(Of("50_257"), Rational(50257));
  EXPECT_EQ(Of("0.02"), *Rational::Create(1, 50));
  EXPECT_EQ(Of("1e9"), Rational(1'000'000'000));
  EXPECT_EQ(Of("2.5e-3"), *Rational::Create(1, 400));
  EXPECT_EQ(Of("0.000"), Rational(0));
}

TEST(Rational, TenthsAddUp) {
  Rational sum;
  for (int i = 0; i < 10; ++i) sum = *sum.Add(Of("0.1"));
  EXPECT_EQ(sum, Rational(1));
}

TEST(Rational, OverflowIsReportedNeverWrapped) {
  EXPECT_FALSE(Rational::FromLiteral("1e40").has_value());
  EXPECT_FALSE(Rational::FromLiteral("1e-40").has_value());
  EXPECT_FALSE(Rational::FromLiteral("999999999999999999999999999999999999999999").has_value());
  EXPECT_FALSE(Of("1e30").Multiply(Of("1e30")).has_value());
  EXPECT_FALSE(Of("1e-30").Add(Of("3e20"))->Multiply(Of("7e19")).has_value());
}

TEST(Rational, DivisionByZeroHasNoValue) { EXPECT_FALSE(Rational(1).Divide(Rational(0)).has_value()); }

TEST(Rational, OnlyWholeNumbersBecomeIntegers) {
  EXPECT_EQ(Of("8").ToInt64(), 8);
  EXPECT_FALSE(Of("2.5").ToInt64().has_value());
  EXPECT_FALSE(Of("1e19").ToInt64().has_value());
}

TEST(Rational, PrintsDecimalsWhenTheyEnd) {
  EXPECT_EQ(Of("0.02").ToString(), "0.02");
  EXPECT_EQ(Rational(-3).ToString(), "-3");
  EXPECT_EQ(Rational::Create(1, 3)->ToString(), "1/3");
  EXPECT_EQ(Rational::Create(-1, 8)->ToString(), "-0.125");
}

// Field laws on random small fractions; order agrees with the difference's sign.
TEST(Rational, ObeysArithmetic) {
  Rng rng(1);
  const auto draw = [&] { return *Rational::Create(rng.Below(2001) - 1000, 1 + rng.Below(1000)); };
  for (int i = 0; i < 2000; ++i) {
    const Rational a = draw(), b = draw(), c = draw();
    EXPECT_EQ(*a.Add(b)->Multiply(c), *a.Multiply(c)->Add(*b.Multiply(c)));
    EXPECT_EQ(*a.Add(b)->Subtract(b), a);
    if (!b.is_zero()) {
      EXPECT_EQ(*a.Multiply(b)->Divide(b), a);
    }
    EXPECT_EQ(a < b, a.Subtract(b)->is_negative());
  }
}

// Cross products that leave 128 bits still compare exactly.
TEST(Rational, ComparesHugeFractions) {
  const Rational a = *Rational::Create(static_cast<__int128>(INT64_MAX) * INT64_MAX, INT64_MAX - 2);
  const Rational b = *Rational::Create(static_cast<__int128>(INT64_MAX) * INT64_MAX, INT64_MAX - 4);
  EXPECT_TRUE(a < b);
  EXPECT_FALSE(b < a);
  EXPECT_FALSE(a < a);
}

}  // namespace
}  // namespace sail
