#include "compiler/driver/reporter.h"

#include <unistd.h>

#include <cstdio>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/base/display_width.h"
#include "compiler/base/json.h"

namespace sail::driver {
namespace {

void WriteError(absl::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }

// One line; bytes that are not UTF-8 (a path may hold any) become U+FFFD.
void WriteErrorLine(const Json& object) {
  WriteError(absl::StrCat(object.dump(-1, ' ', false, Json::error_handler_t::replace), "\n"));
}

// file:line:column: error: message [SAIL0204]
std::string RenderShort(const std::vector<Diagnostic>& sorted, const SourceManager& sources, int error_limit) {
  std::string text;
  int errors = 0;
  for (const Diagnostic& diagnostic : sorted) {
    const bool is_error = SeverityOf(diagnostic) == Severity::kError;
    if (is_error && ++errors > error_limit) continue;
    if (diagnostic.primary.range.valid()) {
      const SourceFile& file = sources.Get(diagnostic.primary.range.file);
      const LineColumn place = file.Locate(diagnostic.primary.range.begin);
      absl::StrAppend(&text, file.name(), ":", place.line, ":", place.column, ": ");
    }
    absl::StrAppend(&text, is_error ? "error: " : "warning: ", diagnostic.message, " [", CodeText(diagnostic.code),
                    "]\n");
  }
  return text;
}

}  // namespace

ExitCode ExitCodeOf(const absl::Status& status) {
  if (status.ok()) return ExitCode::kDone;
  if (IsDiagnosedError(status) || absl::IsInvalidArgument(status)) return ExitCode::kSourceErrors;
  if (absl::IsFailedPrecondition(status)) return ExitCode::kStale;
  return ExitCode::kEnvironment;
}

void Reporter::ShowDiagnostics(const DiagnosticSink& sink, const SourceManager& sources) {
  const std::vector<Diagnostic> sorted = sink.Sorted();
  errors_ += sink.error_count();
  warnings_ += static_cast<int>(sorted.size()) - sink.error_count();
  for (const Diagnostic& diagnostic : sorted) {
    if (!first_error_.has_value() && SeverityOf(diagnostic) == Severity::kError) first_error_ = diagnostic.code;
  }
  const RenderOptions render{.color = options_.color, .error_limit = options_.error_limit};
  switch (options_.format) {
    case Format::kText:
      WriteError(RenderText(sorted, sources, render));
      break;
    case Format::kShort:
      WriteError(RenderShort(sorted, sources, options_.error_limit));
      break;
    case Format::kJson:
      WriteError(RenderJson(sorted, sources, render));
      break;
    case Format::kSarif:
      sarif_.Add(sorted, sources);
      break;
    case Format::kGithub:
      WriteReport(github_.Add(sorted, sources));
      break;
  }
}

void Reporter::WriteReport(absl::string_view text) {
  if (options_.report_to_stdout) {
    Print(text);
  } else {
    WriteError(text);
  }
}

ExitCode Reporter::Fail(const absl::Status& status) {
  if (!status.ok() && !IsDiagnosedError(status)) ShowError(std::string(status.message()));
  return ExitCodeOf(status);
}

void Reporter::ShowError(absl::string_view message) {
  ++errors_;
  switch (options_.format) {
    case Format::kText:
    case Format::kShort:
      WriteError(absl::StrCat("error: ", Printable(message), "\n"));
      break;
    case Format::kJson:
      WriteErrorLine({{"type", "error"}, {"v", "1.0"}, {"message", std::string(message)}});
      break;
    case Format::kSarif:
      sarif_.AddError(message);
      break;
    case Format::kGithub:
      WriteReport(github_.AddError(message));
      break;
  }
}

void Reporter::ShowArtifact(absl::string_view kind, absl::string_view path, absl::string_view hash, const Json& more) {
  if (options_.format != Format::kJson) return;
  Json object = {{"type", "artifact"}, {"v", "1.0"}, {"kind", std::string(kind)}, {"path", std::string(path)}};
  if (!hash.empty()) object["hash"] = std::string(hash);
  object.update(more);
  WriteErrorLine(object);
}

void Reporter::ShowProgress(absl::string_view line) {
  constexpr absl::string_view kClearToEnd = "\x1b[K";
  if (options_.format != Format::kText || isatty(STDERR_FILENO) != 1) return;
  WriteError(absl::StrCat("\r", line, kClearToEnd));
}

void Reporter::Print(absl::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) output_failed_ = true;
}

void Reporter::PrintSummary(absl::string_view text, Beside product) {
  if (options_.format == Format::kJson || options_.format == Format::kSarif) return;
  if (product == Beside::kFile) {
    Print(text);
  } else {
    WriteError(text);
  }
}

bool Reporter::OutputFailed() {
  if (std::fflush(stdout) != 0) output_failed_ = true;
  return output_failed_;
}

ExitCode Reporter::Finish(ExitCode code) {
  constexpr absl::string_view kFailure = "cannot write to standard output";
  if (!options_.report_to_stdout && OutputFailed()) {
    ShowError(kFailure);
    code = ExitCode::kEnvironment;
  }
  if (options_.format == Format::kSarif) WriteReport(sarif_.Finish(code));
  if (options_.format == Format::kGithub) WriteReport(github_.Finish());
  if (options_.report_to_stdout && OutputFailed()) {
    WriteError(absl::StrCat("error: ", kFailure, "\n"));
    code = ExitCode::kEnvironment;
  }
  if (options_.format == Format::kText && first_error_.has_value()) {
    WriteError(absl::StrCat("\nfor more: sailc explain ", CodeText(*first_error_), "\n"));
  }
  if (options_.format == Format::kJson) {
    WriteErrorLine({{"type", "summary"},
                    {"v", "1.0"},
                    {"errors", errors_},
                    {"warnings", warnings_},
                    {"exit_code", static_cast<int>(code)}});
  }
  return code;
}

}  // namespace sail::driver
