// Everything a run says. Standard output carries the product, standard error what is said about it: diagnostics,
// errors, and with --format=json one object per line (diagnostic, error, artifact) that ends with a summary, also on
// failure. One exception: the SARIF log and the GitHub annotations of `check` are its product, and go to standard
// output.
#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/json.h"
#include "compiler/base/source.h"
#include "compiler/driver/github.h"
#include "compiler/driver/options.h"
#include "compiler/driver/sarif.h"

namespace sail::driver {

// kSourceErrors for diagnosed errors and faulty input, kStale for a broken hash, kEnvironment for the rest.
ExitCode ExitCodeOf(const absl::Status& status);

class Reporter {
 public:
  explicit Reporter(const CommonOptions& options) : options_(options) {}

  void ShowDiagnostics(const DiagnosticSink& sink, const SourceManager& sources);
  // Shows `status` unless it is OK or its diagnostics were shown already; returns its exit code.
  ExitCode Fail(const absl::Status& status);
  // A message without a place in a file; what must not reach a terminal raw (base/display_width.h) is replaced.
  void ShowError(absl::string_view message);
  // A file or directory was written. `hash` may be empty; `more` is an object whose members are said of it, too.
  void ShowArtifact(absl::string_view kind, absl::string_view path, absl::string_view hash,
                    const Json& more = Json::object());
  // On a terminal, for people: one line of standard error that the next call writes over; empty: nothing remains.
  void ShowProgress(absl::string_view line);
  // The product of the command, to standard output.
  void Print(absl::string_view text);
  // A summary for people: to standard output, or to standard error when the product is there; not with json or sarif.
  enum class Beside { kFile, kStandardOutput };
  void PrintSummary(absl::string_view text, Beside product);

  // Whether something that was printed could not be written. To be asked before a file is written: a command that fails
  // leaves none. Finish() says so and ends with kEnvironment.
  bool OutputFailed();

  // Ends the run: the SARIF log, the hint at `sailc explain`, the summary object, the last flush. A standard output
  // that could not be written is kEnvironment.
  ExitCode Finish(ExitCode code);

 private:
  // Where SARIF and annotations go.
  void WriteReport(absl::string_view text);

  CommonOptions options_;
  SarifLog sarif_;
  GithubAnnotations github_;
  std::optional<DiagnosticCode> first_error_;
  int errors_ = 0;
  int warnings_ = 0;
  bool output_failed_ = false;
};

}  // namespace sail::driver
