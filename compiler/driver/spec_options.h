// The options of a specification, checked: -D, --params, --today, --deny, --allow.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/driver/option_table.h"

namespace sail::driver {

// InvalidArgument, with a message for people, if the command line is wrong.
absl::StatusOr<SpecOptions> ReadSpecOptions(const OptionTable& table);

// "2026-11-30": a day of the calendar, years 1 to 9999.
bool IsDay(absl::string_view text);

}  // namespace sail::driver
