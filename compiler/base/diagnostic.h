// Diagnostics are data: phases report them to a sink and keep going; the driver renders them once.
// A user's mistake is a Diagnostic. A broken environment is an absl::Status. No answer is a value. A bug is SAIL_CHECK.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "compiler/base/source.h"

namespace sail {

enum class Severity { kError, kWarning };

enum class DiagnosticCode {
#define SAIL_DIAGNOSTIC(name, number, severity, title) name = number,
#include "compiler/base/diagnostics.def"
#undef SAIL_DIAGNOSTIC
};

Severity SeverityOf(DiagnosticCode code);
absl::string_view TitleOf(DiagnosticCode code);
std::string CodeText(DiagnosticCode code);  // "SAIL0204"

struct Label {
  SourceRange range;
  std::string text;  // may be empty
};

// Style: lower case, no full stop, the message alone makes sense. The primary label says what is here, secondary
// labels say why, a help line proposes one concrete edit.
struct Diagnostic {
  DiagnosticCode code;
  std::string message;
  Label primary;
  std::vector<Label> secondary;
  std::vector<std::string> notes;
  std::vector<std::string> helps;
};

// Collects diagnostics of one compilation. Not thread-safe. Exact duplicates are dropped.
class DiagnosticSink {
 public:
  void Report(Diagnostic diagnostic);
  // In reporting order; Sorted() is what is shown: by (file, offset, code).
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  std::vector<Diagnostic> Sorted() const;
  int error_count() const { return error_count_; }
  bool has_errors() const { return error_count_ > 0; }

 private:
  std::vector<Diagnostic> diagnostics_;
  int error_count_ = 0;
};

// The status of a function whose errors are already in the sink. Callers return it and print nothing more.
absl::Status DiagnosedError();
bool IsDiagnosedError(const absl::Status& status);

struct RenderOptions {
  bool color = false;
  int error_limit = 20;  // further errors are counted, not shown
};

// The text people see: message, place, source lines with carets under the token (two cells for wide characters),
// secondary labels, notes and helps. Ends with a newline.
std::string RenderText(const std::vector<Diagnostic>& sorted, const SourceManager& sources,
                       const RenderOptions& options);
// One JSON object per line, {"type":"diagnostic","v":"1.0",…}; byte offsets, lines and columns.
std::string RenderJson(const std::vector<Diagnostic>& sorted, const SourceManager& sources,
                       const RenderOptions& options);

// The candidate nearest to `word` (edit distance at most a third of its length, ties by order), or empty.
std::string Nearest(absl::string_view word, const std::vector<std::string>& candidates);

}  // namespace sail
