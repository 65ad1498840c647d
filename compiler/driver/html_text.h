// Text and tables in HTML and SVG. Everything that comes from a specification passes through EscapeHtml.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "compiler/driver/table.h"

namespace sail::driver {

// For element contents and quoted attribute values. What must not be printed is U+FFFD (display_width.h).
std::string EscapeHtml(absl::string_view text);

// At most `cells` wide: the middle is left out and marked "…"; names often differ at their ends.
std::string Shorten(absl::string_view text, int cells);

// A table element with its caption; the first column holds row headers.
std::string HtmlTable(const Table& table, absl::string_view caption);

}  // namespace sail::driver
