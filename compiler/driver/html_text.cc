#include "compiler/driver/html_text.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "compiler/base/display_width.h"

namespace sail::driver {

std::string EscapeHtml(absl::string_view text) {
  return absl::StrReplaceAll(Printable(text),
                             {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#39;"}});
}

std::string Shorten(absl::string_view text, int cells) {
  std::vector<std::pair<size_t, int>> points;  // where each begins, and the cells before it
  int used = 0;
  for (size_t offset = 0; offset < text.size();) {
    const CodePoint point = DecodeUtf8(text, offset);
    points.emplace_back(offset, used);
    used += CellWidth(point.value);
    offset += point.bytes;
  }
  if (used <= cells) return std::string(text);
  const int tail = (cells - 1) / 2;
  const int head = cells - 1 - tail;
  size_t head_end = 0, tail_begin = text.size();
  for (const auto& [offset, before] : points) {
    if (before <= head) head_end = offset;
    if (used - before <= tail && tail_begin == text.size()) tail_begin = offset;
  }
  return absl::StrCat(text.substr(0, head_end), "…", text.substr(tail_begin));
}

std::string HtmlTable(const Table& table, absl::string_view caption) {
  std::string html = absl::StrCat("<table>\n<caption>", EscapeHtml(caption), "</caption>\n");
  for (size_t row = 0; row < table.rows().size(); ++row) {
    html += row == 0 ? "<thead><tr>" : "<tr>";
    for (size_t column = 0; column < table.rows()[row].size(); ++column) {
      const absl::string_view cell = row == 0 || column == 0 ? "th" : "td";
      const absl::string_view scope = row == 0 ? " scope=\"col\"" : column == 0 ? " scope=\"row\"" : "";
      const absl::string_view side = table.alignment()[column] == '>' ? " class=\"r\"" : "";
      absl::StrAppend(&html, "<", cell, scope, side, ">", EscapeHtml(table.rows()[row][column]), "</", cell, ">");
    }
    html += row == 0 ? "</tr></thead>\n<tbody>\n" : "</tr>\n";
  }
  return absl::StrCat(html, "</tbody>\n</table>\n");
}

}  // namespace sail::driver
