#include "compiler/base/source.h"

#include <algorithm>

namespace sail {

SourceFile::SourceFile(std::string name, std::string text) : name_(std::move(name)), text_(std::move(text)) {
  line_starts_.push_back(0);
  const int size = static_cast<int>(text_.size());
  for (int i = 0; i < size; ++i) {
    const bool crlf = text_[i] == '\r' && i + 1 < size && text_[i + 1] == '\n';
    if (text_[i] == '\n' || (text_[i] == '\r' && !crlf)) line_starts_.push_back(i + 1);
  }
}

LineColumn SourceFile::Locate(int offset) const {
  offset = std::clamp(offset, 0, static_cast<int>(text_.size()));
  const auto next = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  const int line = static_cast<int>(next - line_starts_.begin());
  int column = 1;
  int begin = line_starts_[line - 1];
  if (line == 1 && text_.compare(0, 3, "\xEF\xBB\xBF") == 0) begin = 3;  // a byte order mark is no column
  for (int i = begin; i < offset; ++i) {
    if ((static_cast<unsigned char>(text_[i]) & 0xC0) != 0x80) ++column;
  }
  return {.line = line, .column = column};
}

absl::string_view SourceFile::Line(int line) const {
  const int begin = line_starts_[line - 1];
  int end = line < line_count() ? line_starts_[line] : static_cast<int>(text_.size());
  while (end > begin && (text_[end - 1] == '\n' || text_[end - 1] == '\r')) --end;
  return absl::string_view(text_).substr(begin, end - begin);
}

SourceId SourceManager::Add(std::string name, std::string text) {
  files_.emplace_back(std::move(name), std::move(text));
  return SourceId(static_cast<int>(files_.size()) - 1);
}

}  // namespace sail
