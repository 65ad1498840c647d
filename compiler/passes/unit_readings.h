// The same quantity in the form that people compare it with, and the unit spellings that fit a place.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "compiler/passes/unit_table.h"

namespace sail {

// The other reading of a literal, with at most four significant digits unless the value is short:
//   100 Gbps: "12.5 GB/s"     16 GiB: "17.18 GB"     40 GB: "37.25 GiB"     35 ms: "0.035 s"
//   3 USD/h: "72 USD/day"     0.02 USD/GB: "0.02147 USD/GiB"     0.2 iters/s: "5 s/iter"     92%: "0.92"
// nullopt when there is none (counts, compute) or the unit is not known.
std::optional<std::string> OtherReading(absl::string_view digits, absl::string_view unit);

// Every spelling worth proposing: the words of the table, and the quotients in use ("GB/s", "USD/GPU/h", "iters/s").
std::vector<std::string> UnitSpellings();

}  // namespace sail
