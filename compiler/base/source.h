// Source texts and positions. A SourceRange is a file and half-open byte offsets; lines and columns are derived when
// something is printed. Columns count code points from 1 (documented in docs/diagnostics.md), never bytes.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "compiler/base/ids.h"

namespace sail {

SAIL_DEFINE_ID(SourceId);

struct SourceRange {
  SourceId file = SourceId(-1);
  int begin = 0;
  int end = 0;

  bool valid() const { return file.index() >= 0; }
  friend bool operator==(const SourceRange&, const SourceRange&) = default;
};

struct LineColumn {
  int line = 1;    // from 1
  int column = 1;  // from 1, in code points
};

class SourceFile {
 public:
  // `name` is what people see ("job.sail", "std/gcp"), never an absolute path of our making.
  // LF, CRLF and lone CR all end a line.
  SourceFile(std::string name, std::string text);

  const std::string& name() const { return name_; }
  absl::string_view text() const { return text_; }
  LineColumn Locate(int offset) const;
  // The line (from 1) without its line end.
  absl::string_view Line(int line) const;
  int LineStart(int line) const { return line_starts_[line - 1]; }
  int line_count() const { return static_cast<int>(line_starts_.size()); }

 private:
  std::string name_;
  std::string text_;
  std::vector<int> line_starts_;
};

// Owns the texts of one compilation. References stay valid for its lifetime.
class SourceManager {
 public:
  SourceId Add(std::string name, std::string text);
  const SourceFile& Get(SourceId id) const { return files_[id.index()]; }
  absl::string_view TextOf(SourceRange range) const {
    return Get(range.file).text().substr(range.begin, range.end - range.begin);
  }
  int size() const { return static_cast<int>(files_.size()); }

 private:
  std::deque<SourceFile> files_;
};

}  // namespace sail
