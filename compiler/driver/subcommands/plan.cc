#include "absl/strings/str_cat.h"
#include "compiler/base/status_macros.h"
#include "compiler/driver/compilation.h"
#include "compiler/driver/front.h"
#include "compiler/driver/print_value.h"
#include "compiler/driver/render.h"
#include "compiler/driver/reporter.h"
#include "compiler/driver/subcommands/subcommands.h"
#include "compiler/ir/plan_file.h"
#include "compiler/ir/print.h"

namespace sail::driver {
namespace {

constexpr char kStandardOutput[] = "-";

absl::StatusOr<PlanResult> Plan(Compilation& compilation, const FileSystem& files, LoweredJob& job) {
  SAIL_RETURN_IF_ERROR(CompleteProblem(compilation, files, job));
  return PlanJob(compilation, job);
}

// The plan file, what --print asks for, the summary, and the front. The file comes last: a command that fails leaves
// none.
absl::Status Deliver(const PlanOptions& options, const ir::Problem& problem, const PlannedJob& planned,
                     Reporter& reporter) {
  const bool to_stdout = options.output == kStandardOutput;
  std::vector<ir::FrontPoint> front;
  if (options.front) {
    const auto show = [&](int search, int searches) {
      reporter.ShowProgress(absl::StrCat("front: search ", search, " of at most ", searches));
    };
    SAIL_ASSIGN_OR_RETURN(front, FindFront(problem, planned.plan, planned.report, show));
    reporter.ShowProgress("");
    if (options.common.format == Format::kJson) reporter.Print(DumpJson(ir::ToJson(front)));
  }
  const std::string text = ir::PrintPlanFile(problem, planned.plan, planned.report, front);
  if (to_stdout) reporter.Print(text);
  reporter.Print(PrintPlanned(problem, planned, options.print));
  const bool product_there = to_stdout || options.print != Print::kNothing;
  reporter.PrintSummary(
      absl::StrCat(RenderPlan(problem, planned.plan, planned.report, RenderBound(problem, planned.certificate)),
                   front.empty() ? "" : absl::StrCat("\n", FrontTable(front).Render("  "))),
      product_there ? Reporter::Beside::kStandardOutput : Reporter::Beside::kFile);
  if (options.output.empty() || reporter.OutputFailed()) return absl::OkStatus();
  if (!to_stdout) SAIL_RETURN_IF_ERROR(WriteFileAtomically(options.output, text));
  Json proven = Json::object();
  if (planned.certificate) proven["certificate"] = ToJson(*planned.certificate);
  reporter.ShowArtifact("sailplan", options.output, ir::PlanHash(problem, planned.plan), proven);
  return absl::OkStatus();
}

}  // namespace

ExitCode Run(const PlanOptions& options) {
  Reporter reporter(options.common);
  if (IsSameFile(options.file, options.output)) {
    reporter.ShowError(absl::StrCat("-o names the specification itself: '", options.output, "'"));
    return reporter.Finish(ExitCode::kUsage);
  }
  const RealFileSystem files;
  Compilation compilation{options.file, options.spec, {}, {}};
  absl::StatusOr<CheckedSpec> spec = Check(compilation, files);
  if (!spec.ok()) {
    reporter.ShowDiagnostics(compilation.sink, compilation.sources);
    return reporter.Finish(reporter.Fail(spec.status()));
  }
  const absl::StatusOr<LoweredJob*> job = SelectJob(*spec, options.file, options.job);
  if (!job.ok()) {
    reporter.ShowDiagnostics(compilation.sink, compilation.sources);
    reporter.ShowError(std::string(job.status().message()));
    return reporter.Finish(ExitCode::kUsage);
  }
  for (const std::string& input : InputsOf(compilation, **job)) {
    if (!IsSameFile(input, options.output)) continue;
    reporter.ShowDiagnostics(compilation.sink, compilation.sources);
    reporter.ShowError(absl::StrCat("-o names what is read: '", input, "'"));
    return reporter.Finish(ExitCode::kUsage);
  }
  const absl::StatusOr<PlanResult> result = Plan(compilation, files, **job);
  const PlannedJob* planned = result.ok() ? std::get_if<PlannedJob>(&*result) : nullptr;
  const PlanCheck check = planned != nullptr ? CheckPlan(compilation, *spec, **job, *planned) : PlanCheck::kFails;
  reporter.ShowDiagnostics(compilation.sink, compilation.sources);
  if (!result.ok()) return reporter.Finish(reporter.Fail(result.status()));
  if (check == PlanCheck::kFaulty) return reporter.Finish(ExitCode::kSourceErrors);
  if (check == PlanCheck::kFails) return reporter.Finish(ExitCode::kInfeasible);

  reporter.Print(options.print == Print::kAst ? PrintSpec(*spec, options.print) : PrintJob(**job, options.print));
  return reporter.Finish(reporter.Fail(Deliver(options, (*job)->problem, *planned, reporter)));
}

}  // namespace sail::driver
