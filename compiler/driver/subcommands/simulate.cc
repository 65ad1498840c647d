#include "absl/strings/str_cat.h"
#include "compiler/base/status_macros.h"
#include "compiler/driver/read_plan.h"
#include "compiler/driver/render.h"
#include "compiler/driver/reporter.h"
#include "compiler/driver/subcommands/subcommands.h"
#include "compiler/driver/trace_events.h"
#include "compiler/ir/print.h"

namespace sail::driver {
namespace {

constexpr char kStandardOutput[] = "-";

// The trace comes last: a command that fails leaves none.
absl::Status Simulate(const SimulateOptions& options, Reporter& reporter) {
  sim::Recording recording;
  SAIL_ASSIGN_OR_RETURN(const ReadPlanFile read,
                        ReadPlan(options.plan, RealFileSystem(), options.trace.empty() ? nullptr : &recording));
  const auto& [file, report] = read;
  if (options.trace == kStandardOutput) {
    reporter.Print(TraceEvents(file.problem, file.plan, recording));
    reporter.PrintSummary(RenderReport(file.problem, file.plan, report), Reporter::Beside::kStandardOutput);
    return absl::OkStatus();
  }
  reporter.Print(options.common.format == Format::kJson ? DumpJson(ir::ToJson(report, file.problem.cluster))
                                                        : RenderReport(file.problem, file.plan, report));
  if (options.trace.empty() || reporter.OutputFailed()) return absl::OkStatus();
  SAIL_RETURN_IF_ERROR(WriteFileAtomically(options.trace, TraceEvents(file.problem, file.plan, recording)));
  reporter.ShowArtifact("trace", options.trace, "");
  return absl::OkStatus();
}

}  // namespace

ExitCode Run(const SimulateOptions& options) {
  Reporter reporter(options.common);
  if (IsSameFile(options.plan, options.trace)) {
    reporter.ShowError(absl::StrCat("--trace names the plan itself: '", options.trace, "'"));
    return reporter.Finish(ExitCode::kUsage);
  }
  return reporter.Finish(reporter.Fail(Simulate(options, reporter)));
}

}  // namespace sail::driver
