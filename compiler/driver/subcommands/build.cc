#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/number_text.h"
#include "compiler/base/status_macros.h"
#include "compiler/driver/fallback_plans.h"
#include "compiler/driver/read_plan.h"
#include "compiler/driver/reporter.h"
#include "compiler/driver/subcommands/subcommands.h"
#include "compiler/passes/pipeline.h"
#include "runtime/bundle/bundle.h"
#include "runtime/bundle/trainable.h"

namespace sail::driver {
namespace {

// The bytes of all text files of the job, one after the other. Relative paths start at --root, else where the plan is:
// a plan does not say where its specification was.
absl::StatusOr<std::string> ReadText(const ir::Job& job, const BuildOptions& options, const FileSystem& files) {
  const std::string root = options.root.empty() ? DirectoryOf(options.plan) : options.root;
  const std::string hint = options.root.empty() ? " (paths are relative to the plan's directory; if the .sail file is "
                                                  "elsewhere, give its directory with --root)"
                                                : absl::StrCat(" (paths are relative to --root ", options.root, ")");
  if (!job.data.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("job '", job.name, "' names no data to train on: add `data { text = [\"file.txt\"] }`"));
  }
  std::string text;
  for (const std::string& path : job.data->text) {
    const absl::StatusOr<std::string> part = files.Read(JoinPath(root, path), kMaxTextBytes);
    if (!part.ok()) return Annotate(part.status(), absl::StrCat("text `", path, "` of job '", job.name, "'", hint));
    text += *part;
  }
  return text;
}

std::string FallbacksText(const std::vector<rt::Fallback>& fallbacks) {
  int64_t plans = 0;
  std::vector<std::string> without;
  for (const rt::Fallback& fallback : fallbacks) {
    if (!fallback.plan_file.empty()) {
      ++plans;
    } else {
      without.push_back(fallback.zone ? "a zone" : fallback.nodes.front());
    }
  }
  return absl::StrCat(
      CountText(plans, "fallback plan"), " for the loss of a node or a zone\n",
      without.empty() ? "" : absl::StrCat("no plan after the loss of ", absl::StrJoin(without, ", "), "\n"));
}

absl::Status Build(const BuildOptions& options, Reporter& reporter) {
  const RealFileSystem files;
  SAIL_ASSIGN_OR_RETURN(ReadPlanFile read, ReadPlan(options.plan, files));
  auto& [file, report] = read;
  // Before the text is asked for: it would not help.
  SAIL_RETURN_IF_ERROR(rt::CheckTrainable(file.problem, file.plan));
  SAIL_ASSIGN_OR_RETURN(const std::string text, ReadText(file.problem.job, options, files));

  rt::Bundle bundle;
  if (options.fallbacks) {
    SAIL_ASSIGN_OR_RETURN(bundle.fallbacks, MakeFallbacks(file));
  }
  bundle.problem = std::move(file.problem);
  bundle.plan = std::move(file.plan);
  bundle.plan_hash = file.plan_hash;
  bundle.predicted_iteration = report.iteration;
  bundle.tokens = rt::TokensOfText(text);
  SAIL_RETURN_IF_ERROR(rt::WriteBundle(bundle, options.output));

  reporter.ShowArtifact("bundle", options.output, bundle.plan_hash);
  reporter.PrintSummary(absl::StrCat("bundle of job ", bundle.problem.job.name, ": ", CountText(report.gpus, "rank"),
                                     " on ", CountText(report.nodes, "node"), ", ",
                                     CountText(static_cast<int64_t>(bundle.tokens.size()), "token"), ", in ",
                                     options.output, "\n", options.fallbacks ? FallbacksText(bundle.fallbacks) : ""),
                        Reporter::Beside::kFile);
  return absl::OkStatus();
}

}  // namespace

ExitCode Run(const BuildOptions& options) {
  Reporter reporter(options.common);
  return reporter.Finish(reporter.Fail(Build(options, reporter)));
}

}  // namespace sail::driver
