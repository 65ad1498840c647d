#include "compiler/passes/data_files.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/json.h"
#include "compiler/base/status_macros.h"

namespace sail {
namespace {

Value Cell(const std::string& text, SourceRange range) {
  const bool negative = !text.empty() && text[0] == '-';
  const std::string digits = negative ? text.substr(1) : text;
  const bool is_number = !digits.empty() && absl::ascii_isdigit(digits.front()) &&
                         digits.find_first_not_of("0123456789.eE+-") == std::string::npos;
  const auto number = is_number ? Rational::FromLiteral(digits) : std::nullopt;
  const auto value = number && negative ? Rational(0).Subtract(*number) : number;
  if (value) return {MakeAmount(*value, Dimension{}), range};
  return {TextValue{text}, range};
}

absl::StatusOr<Value> Convert(const Json& json, absl::string_view name, SourceRange range) {
  if (json.is_boolean()) return Value{json.get<bool>(), range};
  if (json.is_null()) return Value{NoneValue{}, range};
  if (json.is_string()) return Value{TextValue{json.get<std::string>()}, range};
  if (json.is_number()) {
    Value value = Cell(json.dump(), range);
    if (value.As<Amount>() != nullptr) return value;
    return absl::InvalidArgumentError(
        absl::StrCat("`", name, "` holds ", json.dump(), ", which cannot be represented"));
  }
  if (json.is_array()) {
    ListValue list;
    for (const Json& element : json) {
      SAIL_ASSIGN_OR_RETURN(Value value, Convert(element, name, range));
      Append(list, std::move(value));
    }
    return Value{std::move(list), range};
  }
  RecordValue record;
  for (const auto& [key, element] : json.items()) {
    SAIL_ASSIGN_OR_RETURN(Value value, Convert(element, name, range));
    Append(record, key, std::move(value));
  }
  return Value{std::move(record), range};
}

using Row = std::vector<std::string>;

absl::StatusOr<std::vector<Row>> Rows(absl::string_view text, absl::string_view name) {
  std::vector<Row> rows;
  Row row;
  std::string cell;
  bool quoted = false, any = false;
  const auto end_row = [&] {
    if (any || !row.empty()) {
      row.push_back(std::exchange(cell, ""));
      rows.push_back(std::exchange(row, {}));
    }
    any = false;
  };
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c != '"') {
        cell += c;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        cell += text[++i];
      } else {
        quoted = false;
      }
    } else if (c == '\n' || c == '\r') {
      end_row();
    } else if (c == ',') {
      row.push_back(std::exchange(cell, ""));
      any = true;
    } else if (c == '"' && cell.empty()) {
      quoted = any = true;
    } else {
      cell += c;
      any = true;
    }
  }
  if (quoted) return absl::InvalidArgumentError(absl::StrCat("`", name, "` ends inside a quoted cell"));
  end_row();
  return rows;
}

}  // namespace

absl::StatusOr<Value> ValueOfJson(absl::string_view text, absl::string_view name, SourceRange range) {
  SAIL_ASSIGN_OR_RETURN(const Json json, ParseJson(text, absl::StrCat("`", name, "`")));
  return Convert(json, name, range);
}

absl::StatusOr<Value> ValueOfCsv(absl::string_view text, absl::string_view name, SourceRange range) {
  SAIL_ASSIGN_OR_RETURN(const std::vector<Row> rows, Rows(text, name));
  if (rows.empty()) return absl::InvalidArgumentError(absl::StrCat("`", name, "` has no header line"));
  const Row& header = rows.front();
  if (std::set<std::string>(header.begin(), header.end()).size() != header.size()) {
    return absl::InvalidArgumentError(absl::StrCat("`", name, "` has two columns of one name"));
  }
  ListValue list;
  for (size_t i = 1; i < rows.size(); ++i) {
    if (rows[i].size() != header.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("`", name, "` has ", rows[i].size(), " cells in row ", i, ", but ", header.size(), " columns"));
    }
    RecordValue record;
    for (size_t k = 0; k < header.size(); ++k) Append(record, header[k], Cell(rows[i][k], range));
    Append(list, {std::move(record), range});
  }
  return Value{std::move(list), range};
}

}  // namespace sail
