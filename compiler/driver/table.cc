#include "compiler/driver/table.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/check.h"

namespace sail::driver {

Table::Table(absl::string_view alignment, std::vector<std::string> header) : alignment_(alignment) {
  Add(std::move(header));
}

void Table::Add(std::vector<std::string> row) {
  SAIL_CHECK(row.size() == alignment_.size()) << row.size() << " cells, " << alignment_.size() << " columns";
  rows_.push_back(std::move(row));
}

std::string Table::Render(absl::string_view indent) const {
  std::vector<size_t> widths(alignment_.size(), 0);
  for (const std::vector<std::string>& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const std::vector<std::string>& row : rows_) {
    std::string line(indent);
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - row[i].size(), ' ');
      if (i > 0) line += "  ";
      absl::StrAppend(&line, alignment_[i] == '>' ? padding : "", row[i], alignment_[i] == '<' ? padding : "");
    }
    absl::StripTrailingAsciiWhitespace(&line);
    absl::StrAppend(&text, line, "\n");
  }
  return text;
}

}  // namespace sail::driver
