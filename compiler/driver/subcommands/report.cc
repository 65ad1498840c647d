#include "absl/strings/str_cat.h"
#include "compiler/base/number_text.h"
#include "compiler/base/status_macros.h"
#include "compiler/driver/quantity_text.h"
#include "compiler/driver/read_plan.h"
#include "compiler/driver/report_page.h"
#include "compiler/driver/reporter.h"
#include "compiler/driver/subcommands/subcommands.h"

namespace sail::driver {
namespace {

constexpr char kStandardOutput[] = "-";

// The page comes last: a command that fails leaves none.
absl::Status Report(const ReportOptions& options, Reporter& reporter) {
  sim::Recording recording;
  SAIL_ASSIGN_OR_RETURN(const ReadPlanFile read, ReadPlan(options.plan, RealFileSystem(), &recording));
  const auto& [file, report] = read;
  const std::string page = ReportPage(file, report, recording);
  if (options.output == kStandardOutput) {
    reporter.Print(page);
    return absl::OkStatus();
  }
  reporter.PrintSummary(
      absl::StrCat("report of job ", file.problem.job.name, ": iteration ", SecondsText(report.iteration), " on ",
                   CountText(report.gpus, "GPU"), ", in ", options.output, "\n"),
      Reporter::Beside::kFile);
  if (reporter.OutputFailed()) return absl::OkStatus();
  SAIL_RETURN_IF_ERROR(WriteFileAtomically(options.output, page));
  reporter.ShowArtifact("report", options.output, "");
  return absl::OkStatus();
}

}  // namespace

ExitCode Run(const ReportOptions& options) {
  Reporter reporter(options.common);
  if (IsSameFile(options.plan, options.output)) {
    reporter.ShowError(absl::StrCat("-o names the plan itself: '", options.output, "'"));
    return reporter.Finish(ExitCode::kUsage);
  }
  return reporter.Finish(reporter.Fail(Report(options, reporter)));
}

}  // namespace sail::driver
