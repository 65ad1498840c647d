#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/base/file_system.h"
#include "compiler/base/json.h"
#include "compiler/base/status_macros.h"
#include "compiler/driver/compilation.h"
#include "compiler/driver/render.h"
#include "compiler/driver/reporter.h"
#include "compiler/driver/subcommands/subcommands.h"
#include "compiler/ir/plan_file.h"
#include "compiler/ir/verify_plan.h"
#include "simulator/import_link.h"
#include "simulator/import_profile.h"
#include "simulator/public_plan.h"
#include "simulator/simulate.h"

namespace sail::driver {
namespace {

constexpr int64_t kMaxInputBytes = int64_t{1} << 28;
constexpr char kStandardOutput[] = "-";

absl::StatusOr<Json> ReadJson(const std::string& path, const FileSystem& files) {
  SAIL_ASSIGN_OR_RETURN(const std::string text, files.Read(path, kMaxInputBytes));
  return ParseJson(text, path);
}

// The artefact, or it on standard output, and what there is to say about it.
absl::Status Deliver(const ImportOptions& options, absl::string_view kind, const std::string& text,
                     const std::string& hash, const std::string& summary, Reporter& reporter) {
  const bool to_stdout = options.output == kStandardOutput;
  if (to_stdout) reporter.Print(text);
  reporter.PrintSummary(summary, to_stdout ? Reporter::Beside::kStandardOutput : Reporter::Beside::kFile);
  if (to_stdout || reporter.OutputFailed()) return absl::OkStatus();
  SAIL_RETURN_IF_ERROR(WriteFileAtomically(options.output, text));
  reporter.ShowArtifact(kind, options.output, hash);
  return absl::OkStatus();
}

absl::Status ImportProfile(const ImportOptions& options, const FileSystem& files, Reporter& reporter) {
  SAIL_ASSIGN_OR_RETURN(const Json times, ReadJson(JoinPath(options.source, "layer_times.json"), files));
  SAIL_ASSIGN_OR_RETURN(const Json memory, ReadJson(JoinPath(options.source, "layer_memory.json"), files));
  SAIL_ASSIGN_OR_RETURN(const sim::PublicModel model, sim::ReadPublicModel(times, memory, options.model));
  SAIL_ASSIGN_OR_RETURN(const sim::ImportedProfile profile, sim::ImportProfile(model, options.gpu));
  std::string summary = absl::StrCat("profile of ", options.model, " on ", options.gpu, "\n");
  for (const std::string& note : profile.notes) absl::StrAppend(&summary, "  ", note, "\n");
  return Deliver(options, "sailprofile", profile.text, "", summary, reporter);
}

absl::Status ImportLink(const ImportOptions& options, const FileSystem& files, Reporter& reporter) {
  SAIL_ASSIGN_OR_RETURN(const sim::LinkEnd from, sim::ParseLinkEnd(options.from));
  SAIL_ASSIGN_OR_RETURN(const sim::LinkEnd to, sim::ParseLinkEnd(options.to));
  SAIL_ASSIGN_OR_RETURN(const Json json, ReadJson(options.source, files));
  const absl::StatusOr<sim::PublicNetwork> network = sim::ReadPublicNetwork(json, /*inside=*/Json::object());
  SAIL_RETURN_IF_ERROR(Annotate(network.status(), options.source));
  const absl::StatusOr<sim::ImportedProfile> profile = sim::ImportLink(*network, from, to);
  SAIL_RETURN_IF_ERROR(Annotate(profile.status(), options.source));
  std::string summary = absl::StrCat("link from ", options.from, " to ", options.to, "\n");
  for (const std::string& note : profile->notes) absl::StrAppend(&summary, "  ", note, "\n");
  return Deliver(options, "saillink", profile->text, "", summary, reporter);
}

absl::StatusOr<PlannedJob> ImportPlan(const ImportOptions& options, const FileSystem& files, LoweredJob& job,
                                      Compilation& compilation) {
  SAIL_RETURN_IF_ERROR(CompleteProblem(compilation, files, job));
  const ir::Problem& problem = job.problem;
  SAIL_ASSIGN_OR_RETURN(const Json json, ReadJson(options.source, files));
  SAIL_ASSIGN_OR_RETURN(const sim::PublicPlan published, sim::ReadPublicPlan(json, options.source));
  absl::StatusOr<ir::Plan> plan = sim::ImportPlan(published, problem);
  if (!plan.ok()) return absl::InvalidArgumentError(Annotate(plan.status(), options.source).message());
  ir::Canonicalize(*plan);
  SAIL_RETURN_IF_ERROR(Annotate(ir::VerifyPlanStructure(problem, *plan), options.source));
  SAIL_ASSIGN_OR_RETURN(const ir::Report report, sim::Simulate(problem, *plan));
  SAIL_RETURN_IF_ERROR(Annotate(ir::VerifyPlan(problem, *plan, report), options.source));
  return PlannedJob{*std::move(plan), report, std::nullopt};
}

ExitCode NamesInput(const std::string& input, Reporter& reporter) {
  reporter.ShowError(absl::StrCat("-o names what is read: '", input, "'"));
  return ExitCode::kUsage;
}

ExitCode RunPlan(const ImportOptions& options, const FileSystem& files, Reporter& reporter) {
  Compilation compilation{options.spec, {}, {}, {}};
  absl::StatusOr<CheckedSpec> spec = Check(compilation, files);
  if (!spec.ok()) {
    reporter.ShowDiagnostics(compilation.sink, compilation.sources);
    return reporter.Finish(reporter.Fail(spec.status()));
  }
  const absl::StatusOr<LoweredJob*> job = SelectJob(*spec, options.spec, options.job);
  if (!job.ok()) {
    reporter.ShowDiagnostics(compilation.sink, compilation.sources);
    reporter.ShowError(std::string(job.status().message()));
    return reporter.Finish(ExitCode::kUsage);
  }
  for (const std::string& input : InputsOf(compilation, **job)) {
    if (!IsSameFile(input, options.output)) continue;
    reporter.ShowDiagnostics(compilation.sink, compilation.sources);
    return reporter.Finish(NamesInput(input, reporter));
  }
  const absl::StatusOr<PlannedJob> planned = ImportPlan(options, files, **job, compilation);
  const PlanCheck check = planned.ok() ? CheckPlan(compilation, *spec, **job, *planned) : PlanCheck::kFails;
  reporter.ShowDiagnostics(compilation.sink, compilation.sources);
  if (!planned.ok()) return reporter.Finish(reporter.Fail(planned.status()));
  if (check == PlanCheck::kFaulty) return reporter.Finish(ExitCode::kSourceErrors);
  if (check == PlanCheck::kFails) return reporter.Finish(ExitCode::kInfeasible);

  const ir::Problem& problem = (*job)->problem;
  return reporter.Finish(reporter.Fail(
      Deliver(options, "sailplan", ir::PrintPlanFile(problem, planned->plan, planned->report),
              ir::PlanHash(problem, planned->plan), RenderPlan(problem, planned->plan, planned->report), reporter)));
}

// What is read, of which nothing may be written over.
std::vector<std::string> InputsOf(const ImportOptions& options) {
  if (options.is_plan) return {options.source, options.spec};
  if (!options.from.empty()) return {options.source};
  return {JoinPath(options.source, "layer_times.json"), JoinPath(options.source, "layer_memory.json")};
}

}  // namespace

ExitCode Run(const ImportOptions& options) {
  Reporter reporter(options.common);
  for (const std::string& input : InputsOf(options)) {
    if (!IsSameFile(input, options.output)) continue;
    return reporter.Finish(NamesInput(input, reporter));
  }
  const RealFileSystem files;
  if (options.is_plan) return RunPlan(options, files, reporter);
  return reporter.Finish(reporter.Fail(options.from.empty() ? ImportProfile(options, files, reporter)
                                                            : ImportLink(options, files, reporter)));
}

}  // namespace sail::driver
