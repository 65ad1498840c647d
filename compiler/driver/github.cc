#include "compiler/driver/github.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

namespace sail::driver {
namespace {

// The rules of GitHub's runner: a line end would end the command, `%` begins an escape.
std::string EscapeMessage(absl::string_view text) {
  return absl::StrReplaceAll(text, {{"%", "%25"}, {"\r", "%0D"}, {"\n", "%0A"}});
}

std::string EscapeProperty(absl::string_view text) {
  return absl::StrReplaceAll(EscapeMessage(text), {{":", "%3A"}, {",", "%2C"}});
}

// " file=…,line=…,…," or " ". Columns are allowed only within one line.
std::string PlaceOf(const SourceRange& range, const SourceManager& sources) {
  if (!range.valid()) return " ";
  const SourceFile& file = sources.Get(range.file);
  const LineColumn begin = file.Locate(range.begin);
  const LineColumn end = file.Locate(range.end);
  const bool one_line = begin.line == end.line;
  return absl::StrCat(" file=", EscapeProperty(file.name()), ",line=", begin.line,
                      one_line ? absl::StrCat(",col=", begin.column) : "", ",endLine=", end.line,
                      one_line ? absl::StrCat(",endColumn=", end.column) : "", ",");
}

}  // namespace

bool GithubAnnotations::Count(Severity severity) {
  return ++(severity == Severity::kError ? errors_ : warnings_) <= kMaxPerSeverity;
}

std::string GithubAnnotations::Add(const std::vector<Diagnostic>& sorted, const SourceManager& sources) {
  std::string lines;
  for (const Diagnostic& diagnostic : sorted) {
    const Severity severity = SeverityOf(diagnostic);
    if (!Count(severity)) continue;
    absl::StrAppend(&lines, severity == Severity::kError ? "::error" : "::warning",
                    PlaceOf(diagnostic.primary.range, sources), "title=", CodeText(diagnostic.code),
                    "::", EscapeMessage(RenderMessage(diagnostic)), "\n");
  }
  return lines;
}

std::string GithubAnnotations::AddError(absl::string_view message) {
  if (!Count(Severity::kError)) return "";
  return absl::StrCat("::error title=sailc::", EscapeMessage(message), "\n");
}

std::string GithubAnnotations::Finish() const {
  std::vector<std::string> left_out;
  const auto add = [&left_out](int count, absl::string_view what) {
    const int more = count - kMaxPerSeverity;
    if (more > 0) left_out.push_back(absl::StrCat(more, " more ", what, more == 1 ? "" : "s"));
  };
  add(errors_, "error");
  add(warnings_, "warning");
  if (left_out.empty()) return "";
  return absl::StrCat("::notice title=sailc::", absl::StrJoin(left_out, " and "), " without an annotation\n");
}

}  // namespace sail::driver
