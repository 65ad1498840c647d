#include "compiler/passes/unit_readings.h"

#include "gtest/gtest.h"

namespace sail {
namespace {

struct ReadingCase {
  const char* digits;
  const char* unit;
  const char* reading;  // "" for none
};

// 16 GiB = 16 * 1.073741824 GB; 40 GB = 40 / 1.073741824 GiB; 0.02 USD/GB * 1.073741824 GB/GiB; a day has 24 h.
constexpr ReadingCase kReadings[] = {
    {"100", "Gbps", "12.5 GB/s"},
    {"600", "GB/s", "4.8 Tbps"},
    {"1", "bps", "0.125 B/s"},
    {"16", "GiB", "17.18 GB"},
    {"40", "GB", "37.25 GiB"},
    {"1", "MB", "976.6 KiB"},
    {"512", "B", ""},
    {"2048", "B", "2 KiB"},
    {"35", "ms", "0.035 s"},
    {"90", "s", "1.5 min"},
    {"5", "s", ""},
    {"2", "h", "7200 s"},
    {"3", "USD/h", "72 USD/day"},
    {"3", "USD/GPU/h", "72 USD/GPU/day"},
    {"48", "USD/day", "2 USD/h"},
    {"0.02", "USD/GB", "0.02147 USD/GiB"},
    {"0.2", "iters/s", "5 s/iter"},
    {"4", "s/iter", "0.25 iters/s"},
    {"0", "iters/s", ""},
    {"92", "%", "0.92"},
    {"8", "GPUs", ""},
    {"3", "TFLOP/s", ""},
    {"3", "hosts", ""},
    {"3", "", ""},
    {"1_000", "Gbps", "125 GB/s"},
};

TEST(UnitReadingsTest, ShowTheOtherForm) {
  for (const ReadingCase& c : kReadings) {
    EXPECT_EQ(OtherReading(c.digits, c.unit).value_or(""), c.reading) << c.digits << " " << c.unit;
  }
}

TEST(UnitReadingsTest, EverySpellingIsAUnit) {
  for (const std::string& spelling : UnitSpellings()) {
    EXPECT_TRUE(std::holds_alternative<Unit>(ParseUnit(spelling, "1"))) << spelling;
  }
}

}  // namespace
}  // namespace sail
