#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "compiler/base/status_macros.h"
#include "compiler/driver/infeasible.h"
#include "compiler/driver/next_plan.h"
#include "compiler/driver/read_plan.h"
#include "compiler/driver/read_state.h"
#include "compiler/driver/render.h"
#include "compiler/driver/reporter.h"
#include "compiler/driver/subcommands/subcommands.h"
#include "simulator/profiles.h"

namespace sail::driver {
namespace {

constexpr char kStandardOutput[] = "-";

// What the nodes that there are now make of the plan. Pools that had no nodes may have some now: their profiles are
// completed.
absl::StatusOr<planner::Change> ReadChange(const ir::PlanFile& file, const RunState& state, const std::string& path) {
  absl::StatusOr<planner::Change> change = planner::ApplyMembership(file.problem, file.plan, state.membership);
  if (!change.ok()) return Annotate(change.status(), absl::StrCat("state '", path, "'"));
  SAIL_RETURN_IF_ERROR(sim::CompleteProfile(change->problem));
  return change;
}

// The file comes last: a command that fails leaves none.
absl::Status Deliver(const ReplanOptions& options, const ReadPlanFile& read, const planner::Change& change,
                     const NextAnswer& answer, Reporter& reporter) {
  const bool to_stdout = options.output == kStandardOutput;
  const bool is_json = options.common.format == Format::kJson;
  const ir::Plan& plan = answer.replanned.next.plan;
  const std::string text =
      ir::PrintPlanFile(change.problem, plan, answer.timeline, {}, OriginOf(change, read.file.plan_hash));
  if (to_stdout) reporter.Print(text);
  if (is_json && !to_stdout) reporter.Print(DumpJson(ToJson(read, change, answer)));
  reporter.PrintSummary(
      absl::StrCat(RenderNext(read, change, answer), "\n", RenderPlan(change.problem, plan, answer.timeline)),
      to_stdout ? Reporter::Beside::kStandardOutput : Reporter::Beside::kFile);
  if (options.output.empty() || reporter.OutputFailed()) return absl::OkStatus();
  if (!to_stdout) SAIL_RETURN_IF_ERROR(WriteFileAtomically(options.output, text));
  reporter.ShowArtifact("sailplan", options.output, ir::PlanHash(change.problem, plan));
  return absl::OkStatus();
}

ExitCode Replan(const ReplanOptions& options, Reporter& reporter) {
  const RealFileSystem files;
  const absl::StatusOr<ReadPlanFile> read = ReadPlan(options.plan, files);
  if (!read.ok()) return reporter.Fail(read.status());
  const absl::StatusOr<RunState> state = ReadState(options.state, files, read->file.problem.cluster);
  if (!state.ok()) return reporter.Fail(state.status());
  const absl::StatusOr<planner::Change> change = ReadChange(read->file, *state, options.state);
  if (!change.ok()) return reporter.Fail(change.status());
  planner::ReplanOptions limits;
  if (state->next_change) limits.horizon = *state->next_change;
  const absl::StatusOr<NextOutcome> outcome = FindNext(*change, limits);
  if (!outcome.ok()) return reporter.Fail(outcome.status());
  if (const auto* infeasible = std::get_if<planner::Infeasible>(&*outcome)) {
    const ir::Job& job = change->problem.job;
    const std::string conflict = ConflictText(job, *infeasible);
    reporter.ShowError(absl::StrCat("no plan of job '", job.name, "' keeps its limits on the nodes that there are\n",
                                    absl::StripSuffix(conflict, "\n")));
    return ExitCode::kInfeasible;
  }
  return reporter.Fail(Deliver(options, *read, *change, std::get<NextAnswer>(*outcome), reporter));
}

}  // namespace

ExitCode Run(const ReplanOptions& options) {
  Reporter reporter(options.common);
  for (const std::string& input : {options.plan, options.state}) {
    if (!IsSameFile(input, options.output)) continue;
    reporter.ShowError(absl::StrCat("-o names what is read: '", options.output, "'"));
    return reporter.Finish(ExitCode::kUsage);
  }
  return reporter.Finish(Replan(options, reporter));
}

}  // namespace sail::driver
