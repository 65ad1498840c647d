#include "compiler/base/status_macros.h"
#include "compiler/driver/read_plan.h"
#include "compiler/driver/render.h"
#include "compiler/driver/reporter.h"
#include "compiler/driver/subcommands/subcommands.h"
#include "compiler/ir/print.h"

namespace sail::driver {
namespace {

absl::Status Simulate(const SimulateOptions& options, Reporter& reporter) {
  SAIL_ASSIGN_OR_RETURN(const ReadPlanFile read, ReadPlan(options.plan, RealFileSystem()));
  const auto& [file, report] = read;
  reporter.Print(options.common.format == Format::kJson ? DumpJson(ir::ToJson(report, file.problem.cluster))
                                                        : RenderReport(file.problem, file.plan, report));
  return absl::OkStatus();
}

}  // namespace

ExitCode Run(const SimulateOptions& options) {
  Reporter reporter(options.common);
  return reporter.Finish(reporter.Fail(Simulate(options, reporter)));
}

}  // namespace sail::driver
