// Diagnostics are data: phases report them to a sink and keep going; the driver renders them once.
// A user's mistake is a Diagnostic. A broken environment is an absl::Status. No answer is a value. A bug is SAIL_CHECK.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
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
std::vector<DiagnosticCode> AllCodes();     // ascending
// A code as people write it: "SAIL0204", "0204", "204", and with the letter of a severity "W0407", "E0204".
std::optional<DiagnosticCode> ParseCode(absl::string_view text);
// "unknown code '0408'; did you mean 'SAIL0407'?", for a text that ParseCode refuses.
std::string UnknownCodeMessage(absl::string_view text);

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
  bool denied = false;  // a warning that --deny turned into an error
};

// What the diagnostic counts as and is shown as; SeverityOf(code) is what is registered.
Severity SeverityOf(const Diagnostic& diagnostic);

// Collects diagnostics of one compilation. Not thread-safe. Exact duplicates are dropped.
class DiagnosticSink {
 public:
  void Report(Diagnostic diagnostic);
  // The usual diagnostic in one call; whoever needs notes fills a Diagnostic. `label` is the text of the primary label.
  void Report(DiagnosticCode code, SourceRange range, std::string message, std::vector<std::string> helps = {},
              std::vector<Label> secondary = {}, std::string label = "");
  // What stands in `range` is looked at several times (the body of a loop): of each code, only the first diagnostic
  // about one place in it is kept.
  void DeclareRepeated(SourceRange range);
  // Errors reported so far, dropped ones included: it changes whenever somebody had something to report.
  int reports() const { return reports_; }
  // In reporting order; Sorted() is what is shown: by (file, offset, code).
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  std::vector<Diagnostic> Sorted() const;
  int error_count() const { return error_count_; }
  bool has_errors() const { return error_count_ > 0; }

 private:
  std::vector<Diagnostic> diagnostics_;
  // Indices of diagnostics by file, offsets and code.
  std::map<std::tuple<SourceId, int, int, DiagnosticCode>, std::vector<size_t>> by_place_;
  std::vector<SourceRange> repeated_;
  int error_count_ = 0;
  int reports_ = 0;
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

// Message, primary label, notes and helps without places, each note and help on a line of its own; no final newline.
std::string RenderMessage(const Diagnostic& diagnostic);

// The candidate nearest to `word`, or empty: one that goes on after it (`A100`, `A100_40`), else the one with the
// smallest edit distance, at most a third of its length. Ties by order.
std::string Nearest(absl::string_view word, const std::vector<std::string>& candidates);
// The help line "did you mean `x`?"; when `nearest` is empty, `otherwise`, or none when that is empty, too.
std::vector<std::string> DidYouMean(absl::string_view nearest, std::string otherwise = "");

}  // namespace sail
