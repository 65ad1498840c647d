#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "compiler/driver/explain_plan.h"
#include "compiler/driver/explanations.h"
#include "compiler/driver/read_plan.h"
#include "compiler/driver/reporter.h"
#include "compiler/driver/subcommands/subcommands.h"
#include "compiler/driver/table.h"

namespace sail::driver {
namespace {

absl::string_view SeverityText(DiagnosticCode code) {
  return SeverityOf(code) == Severity::kError ? "error" : "warning";
}

// The Markdown text for a terminal: headings without marks, code indented instead of fenced.
std::string ForTerminal(absl::string_view markdown) {
  std::string text;
  bool in_code = false;
  for (absl::string_view line : absl::StrSplit(absl::StripSuffix(markdown, "\n"), '\n')) {
    if (absl::StartsWith(line, "```")) {
      in_code = !in_code;
    } else if (in_code) {
      absl::StrAppend(&text, line.empty() ? "" : "    ", line, "\n");
    } else if (absl::ConsumePrefix(&line, "## ")) {
      absl::StrAppend(&text, line, ":\n");
    } else {
      absl::ConsumePrefix(&line, "# ");
      absl::StrAppend(&text, line, "\n");
    }
  }
  return text;
}

std::string Explain(DiagnosticCode code) {
  const absl::string_view text = ExplanationOf(code);
  return text.empty() ? absl::StrCat(CodeText(code), ": ", TitleOf(code), "\n") : ForTerminal(text);
}

std::string ListCodes() {
  Table table("<<<", {"code", "severity", "what it says"});
  for (const DiagnosticCode code : AllCodes()) {
    table.Add({CodeText(code), std::string(SeverityText(code)), std::string(TitleOf(code))});
  }
  return absl::StrCat(table.Render(""), "\nsailc explain CODE explains one of them, with an example.\n");
}

ExitCode Explain(const ExplainOptions& options, Reporter& reporter) {
  const absl::StatusOr<ReadPlanFile> plan = ReadPlan(options.plan, RealFileSystem());
  if (!plan.ok()) return reporter.Finish(reporter.Fail(plan.status()));
  const auto show = [&](int search, int searches) {
    reporter.ShowProgress(absl::StrCat("explain: search ", search, " of ", searches));
  };
  const absl::StatusOr<std::string> text =
      options.why_not.empty() ? ExplainPlan(*plan, show) : ExplainWish(*plan, options.why_not, show);
  reporter.ShowProgress("");
  if (absl::IsInvalidArgument(text.status()) && !options.why_not.empty()) {
    reporter.ShowError(absl::StrCat("--why-not: ", text.status().message()));
    return reporter.Finish(ExitCode::kUsage);
  }
  if (!text.ok()) return reporter.Finish(reporter.Fail(text.status()));
  reporter.Print(*text);
  return reporter.Finish(ExitCode::kDone);
}

}  // namespace

ExitCode Run(const ExplainOptions& options) {
  Reporter reporter({});
  if (!options.plan.empty()) return Explain(options, reporter);
  reporter.Print(options.code.has_value() ? Explain(*options.code) : ListCodes());
  return reporter.Finish(ExitCode::kDone);
}

}  // namespace sail::driver
