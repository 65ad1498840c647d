#include "compiler/passes/unit_table.h"

#include <string>
#include <variant>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sail {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Rational Factor(absl::string_view unit) { return KnownUnit(unit).factor; }
Rational Ratio(int64_t numerator, int64_t denominator) { return *Rational::Create(numerator, denominator); }

UnitError ErrorOf(absl::string_view unit, absl::string_view digits = "1") {
  auto parsed = ParseUnit(unit, digits);
  EXPECT_TRUE(std::holds_alternative<UnitError>(parsed)) << std::string(unit);
  return std::holds_alternative<UnitError>(parsed) ? std::get<UnitError>(parsed) : UnitError{};
}

TEST(UnitTable, FactorsAreExact) {
  EXPECT_EQ(Factor("GiB"), Rational(1073741824));
  EXPECT_EQ(Factor("GB"), Rational(1000000000));
  EXPECT_EQ(Factor("Gbps"), Rational(125000000));  // 10^9 bits / 8
  EXPECT_EQ(Factor("bps"), Ratio(1, 8));
  EXPECT_EQ(Factor("us"), Ratio(1, 1000000));
  EXPECT_EQ(Factor("week"), Rational(7 * 24 * 3600));
  EXPECT_EQ(Factor("USD/h"), Ratio(1, 3600));
  EXPECT_EQ(Factor("USD/GB"), Ratio(1, 1000000000));
  EXPECT_EQ(Factor("TFLOP/s"), Rational(1000000000000));
  EXPECT_EQ(Factor("%"), Ratio(1, 100));
}

TEST(UnitTable, CountsHaveSingularAndPlural) {
  for (const char* unit : {"GPU", "node", "iter", "sample", "token", "layer", "stage", "param"}) {
    EXPECT_EQ(KnownUnit(unit).dimension, KnownUnit(std::string(unit) + "s").dimension) << unit;
    EXPECT_TRUE(KnownUnit(unit).dimension.is_count()) << unit;
  }
}

TEST(UnitTable, EveryCountIsItsOwnDimension) {
  EXPECT_NE(KnownUnit("GPUs").dimension, KnownUnit("nodes").dimension);
  EXPECT_NE(KnownUnit("samples").dimension, KnownUnit("tokens").dimension);
}

TEST(UnitTable, BandwidthIsBytesPerSecondHoweverItIsSpelt) {
  EXPECT_EQ(KnownUnit("Gbps").dimension, KnownUnit("GiB/s").dimension);
  EXPECT_EQ(Factor("GBps"), Factor("GB/s"));
}

TEST(UnitTable, DivisionCombinesDimensions) {
  EXPECT_EQ(KnownUnit("USD/GPU/h").dimension,
            KnownUnit("USD").dimension / KnownUnit("GPU").dimension / KnownUnit("h").dimension);
  EXPECT_EQ(KnownUnit("s/iter").dimension, KnownUnit("iters/s").dimension.Inverse());
}

TEST(UnitTable, WrongCaseShowsEveryReadingWithBitsAndBytes) {
  const UnitError error = ErrorOf("gbps", "100");
  EXPECT_EQ(error.code, DiagnosticCode::kUnitCase);
  EXPECT_THAT(error.helps, ElementsAre("`Gbps` is gigabits per second (100 Gbps = 12.5 GBps)",
                                       "`GBps` is gigabytes per second (100 GBps = 800 Gbps)"));
}

TEST(UnitTable, UnitsWithoutALetterCaseReading) {
  EXPECT_EQ(ErrorOf("kb").code, DiagnosticCode::kUnitCase);
  EXPECT_EQ(ErrorOf("m").code, DiagnosticCode::kAmbiguousUnit);
  EXPECT_EQ(ErrorOf("EUR").code, DiagnosticCode::kReservedUnit);
  EXPECT_EQ(ErrorOf("kWh").code, DiagnosticCode::kReservedUnit);
  EXPECT_EQ(ErrorOf("KiloBytes").code, DiagnosticCode::kUnknownUnit);
  EXPECT_THAT(ErrorOf("TFLOPS").helps, ElementsAre("write `TFLOP/s`"));
  EXPECT_THAT(ErrorOf("hosts").helps, ElementsAre("write `nodes`"));
  EXPECT_THAT(ErrorOf("smaples").helps, ElementsAre("did you mean `samples`?"));
}

TEST(UnitTable, ErrorsPointAtTheWordInsideTheUnit) {
  const UnitError error = ErrorOf("USD/hour");
  EXPECT_EQ(error.offset, 4);
  EXPECT_EQ(error.length, 4);
  EXPECT_THAT(error.message, HasSubstr("`hour`"));
}

TEST(UnitTable, AmountsPrintInTheirOwnUnit) {
  EXPECT_EQ(FormatIn(Ratio(1469, 360000), "USD/h"), "14.69 USD/h");
  EXPECT_EQ(Format(MakeAmount(Ratio(5, 2), KnownUnit("node").dimension)), "2.5 nodes");
  EXPECT_EQ(BaseSpelling(KnownUnit("GB/iter").dimension), "B/iter");
}

}  // namespace
}  // namespace sail
