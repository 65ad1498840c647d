#include "compiler/driver/spec_options.h"

#include "gtest/gtest.h"

namespace sail::driver {
namespace {

TEST(IsDayTest, KnowsTheCalendar) {
  for (const char* day : {"2026-11-30", "2024-02-29", "2000-02-29", "0001-01-01", "9999-12-31"}) {
    EXPECT_TRUE(IsDay(day)) << day;
  }
  for (const char* text :
       {"", "2026-11-31", "2025-02-29", "1900-02-29", "2026-00-10", "2026-13-01", "2026-01-00", "0000-01-01",
        "2026-1-01", "26-01-01", "2026/01/01", "2026-01-1 ", "+026-01-01", "2026-01-01Z"}) {
    EXPECT_FALSE(IsDay(text)) << text;
  }
}

}  // namespace
}  // namespace sail::driver
