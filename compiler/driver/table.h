// Aligned columns of text. The first column and those marked '<' are left-aligned, '>' is right-aligned.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace sail::driver {

class Table {
 public:
  // One character per column: "<>>" is one left- and two right-aligned columns. The header is the first row.
  Table(absl::string_view alignment, std::vector<std::string> header);
  void Add(std::vector<std::string> row);
  // Each line starts with `indent` and ends without blanks.
  std::string Render(absl::string_view indent) const;

  absl::string_view alignment() const { return alignment_; }
  const std::vector<std::vector<std::string>>& rows() const { return rows_; }  // the header first

 private:
  std::string alignment_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace sail::driver
