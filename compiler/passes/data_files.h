// JSON and CSV files as values: what `json("…")` and `csv("…")` read.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/passes/value.h"

namespace sail {

// Objects become maps, arrays lists, null `none`; numbers are plain and exact. `name` is what errors call the file.
absl::StatusOr<Value> ValueOfJson(absl::string_view text, absl::string_view name, SourceRange range);

// RFC 4180: a header line with the names of the columns, then rows; quotes protect commas, quotes and line ends. A list
// of maps; a cell that reads as a number is a plain number, every other one a text.
absl::StatusOr<Value> ValueOfCsv(absl::string_view text, absl::string_view name, SourceRange range);

}  // namespace sail
