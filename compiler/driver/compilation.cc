#include "compiler/driver/compilation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/check.h"
#include "compiler/base/status_macros.h"
#include "compiler/driver/answer.h"
#include "compiler/driver/infeasible.h"
#include "compiler/driver/quantity_text.h"
#include "compiler/ir/verify_plan.h"
#include "compiler/passes/assertions.h"
#include "planner/bound.h"
#include "simulator/link_curve.h"
#include "simulator/profiles.h"

namespace sail::driver {
namespace {

constexpr int64_t kMaxProfileBytes = 16 << 20;

absl::Status Report(Compilation& compilation, DiagnosticCode code, absl::string_view message, SourceRange range,
                    std::vector<std::string> notes = {}) {
  compilation.sink.Report({code, std::string(message), {range, ""}, {}, std::move(notes), {}});
  return DiagnosedError();
}

SourceRange RangeOf(const LoweredJob& job, const std::string& name) {
  const auto it = job.ranges.find(name);
  return it == job.ranges.end() ? job.job : it->second;
}

// The profile the message of CompleteProfile is about ("… on A100_40, tensor 2 …"), else the model.
SourceRange ProfileRange(const LoweredJob& job, absl::string_view message) {
  for (const ProfileSource& source : job.profiles) {
    const std::string& gpu = job.problem.cluster.gpus[source.gpu.index()].name;
    if (absl::StrContains(message, absl::StrCat(" on ", gpu, ","))) return source.range;
  }
  return RangeOf(job, "model");
}

absl::StatusOr<std::string> ReadMeasured(Compilation& compilation, const FileSystem& files, const std::string& path,
                                         SourceRange range) {
  absl::StatusOr<std::string> text = files.Read(JoinPath(DirectoryOf(compilation.path), path), kMaxProfileBytes);
  if (text.ok()) return text;
  return Report(compilation, DiagnosticCode::kDataFile, absl::StrCat("cannot read the profile `", path, "`"), range,
                {std::string(text.status().message())});
}

absl::Status ReadProfile(Compilation& compilation, const FileSystem& files, const ProfileSource& source,
                         ir::Problem& problem) {
  SAIL_ASSIGN_OR_RETURN(const std::string text, ReadMeasured(compilation, files, source.path, source.range));
  const absl::Status added = sim::AddMeasuredProfile(text, source.path, source.gpu, problem);
  if (added.ok()) return absl::OkStatus();
  return Report(compilation, DiagnosticCode::kProfileMismatch, added.message(), source.range);
}

absl::Status ReadLink(Compilation& compilation, const FileSystem& files, const LinkSource& source, ir::Link& link) {
  SAIL_ASSIGN_OR_RETURN(const std::string text, ReadMeasured(compilation, files, source.path, source.range));
  const absl::Status added = sim::AddLinkCurves(text, source.path, link);
  if (added.ok()) return absl::OkStatus();
  return Report(compilation, DiagnosticCode::kProfileMismatch, added.message(), source.range);
}

// Applies --deny, --allow and allow comments to what is in the sink; DiagnosedError if that leaves an error.
absl::Status Settle(Compilation& compilation) {
  compilation.sink = ApplyPolicy(compilation.sink, compilation.sources, compilation.options.policy);
  return compilation.sink.has_errors() ? DiagnosedError() : absl::OkStatus();
}

// Rounds what is proposed in place of each limit, and leaves only what can be written and leads to a plan.
absl::Status KeepTrueRelaxations(const ir::Problem& problem, planner::Infeasible& infeasible) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  for (planner::ConflictingLimit& limit : infeasible.limits) {
    if (!std::isfinite(limit.relaxed)) continue;
    ir::Problem relaxed = problem;
    double memory = 1;
    for (ir::Constraint& constraint : relaxed.job.constraints) {
      if (constraint.name == limit.name) {
        limit.relaxed = constraint.limit = RoundLimit(constraint.metric, limit.relaxed, constraint.at_most);
      }
      if (constraint.metric != ir::Metric::kPeakMemory) continue;
      memory = relaxed.job.memory_limit = std::min(memory, constraint.limit);
      if (constraint.limit > 1) limit.relaxed = kNone;
    }
    if (!std::isfinite(limit.relaxed)) continue;
    SAIL_ASSIGN_OR_RETURN(const Answer answer, FindAnswer(relaxed, {.bound_work = 0}));
    if (std::holds_alternative<planner::Infeasible>(answer.outcome)) limit.relaxed = kNone;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ast::Spec> ParseOnly(Compilation& compilation, const FileSystem& files) {
  SAIL_ASSIGN_OR_RETURN(std::string text, files.Read(compilation.path, kMaxSourceBytes));
  const SourceId file = compilation.sources.Add(compilation.path, std::move(text));
  return Parse(compilation.sources, file, ParseLimits(), compilation.sink);
}

absl::StatusOr<CheckedSpec> Check(Compilation& compilation, const FileSystem& files) {
  absl::StatusOr<CheckedSpec> spec = CheckFile(compilation.path, files, ParseLimits(), compilation.sources,
                                               compilation.sink, compilation.options.inputs);
  const absl::Status settled = Settle(compilation);
  if (!spec.ok()) return spec;
  SAIL_RETURN_IF_ERROR(settled);
  return spec;
}

absl::StatusOr<LoweredJob*> SelectJob(CheckedSpec& spec, const std::string& file, const std::string& name) {
  std::vector<std::string> names;
  for (LoweredJob& job : spec.jobs) {
    if (job.problem.job.name == name || (name.empty() && spec.jobs.size() == 1)) return &job;
    names.push_back(job.problem.job.name);
  }
  const std::string list = absl::StrJoin(names, ", ");
  if (names.empty()) return absl::NotFoundError(absl::StrCat(file, " has no job to plan"));
  if (name.empty()) {
    return absl::NotFoundError(absl::StrCat(file, " has several jobs, choose one with -j: ", list));
  }
  return absl::NotFoundError(absl::StrCat(file, " has no job '", name, "', it has: ", list));
}

absl::Status CheckLinks(Compilation& compilation, const FileSystem& files, const CheckedSpec& spec) {
  std::set<std::pair<int, int>> seen;  // jobs share links, and a rule may hold for both directions
  absl::Status status;
  for (const LoweredJob& job : spec.jobs) {
    for (const LinkSource& source : job.links) {
      if (!seen.insert({source.range.file.index(), source.range.begin}).second) continue;
      ir::Link link;
      status.Update(ReadLink(compilation, files, source, link));
    }
  }
  return status;
}

std::vector<std::string> InputsOf(const Compilation& compilation, const LoweredJob& job) {
  std::vector<std::string> inputs;
  for (int i = 0; i < compilation.sources.size(); ++i) inputs.push_back(compilation.sources.Get(SourceId(i)).name());
  const std::string directory = DirectoryOf(compilation.path);
  for (const ProfileSource& source : job.profiles) inputs.push_back(JoinPath(directory, source.path));
  for (const LinkSource& source : job.links) inputs.push_back(JoinPath(directory, source.path));
  return inputs;
}

absl::Status CompleteProblem(Compilation& compilation, const FileSystem& files, LoweredJob& job) {
  for (const ProfileSource& source : job.profiles) {
    SAIL_RETURN_IF_ERROR(ReadProfile(compilation, files, source, job.problem));
  }
  for (const LinkSource& source : job.links) {
    ir::Link& link = job.problem.cluster.links[source.from.index()][source.to.index()];
    SAIL_RETURN_IF_ERROR(ReadLink(compilation, files, source, link));
  }
  const absl::Status completed = sim::CompleteProfile(job.problem);
  if (completed.ok()) return absl::OkStatus();
  const DiagnosticCode code =
      absl::IsNotFound(completed) ? DiagnosticCode::kMissingProfileEntry : DiagnosticCode::kMissingPeak;
  return Report(compilation, code, completed.message(), ProfileRange(job, completed.message()));
}

PlanCheck CheckPlan(Compilation& compilation, const CheckedSpec& spec, const LoweredJob& job,
                    const PlannedJob& planned) {
  CheckPlanAssertions(*spec.analysis, *job.block, PlanValue(job.problem, planned.plan, planned.report),
                      compilation.sources, compilation.sink);
  if (Settle(compilation).ok()) return PlanCheck::kHolds;
  for (const Diagnostic& diagnostic : compilation.sink.diagnostics()) {
    const bool is_verdict =
        diagnostic.code == DiagnosticCode::kAssertFailed || diagnostic.code == DiagnosticCode::kWarned;
    if (SeverityOf(diagnostic) == Severity::kError && !is_verdict) return PlanCheck::kFaulty;
  }
  return PlanCheck::kFails;
}

absl::StatusOr<PlanResult> PlanJob(Compilation& compilation, const LoweredJob& job) {
  const ir::Problem& problem = job.problem;
  SAIL_ASSIGN_OR_RETURN(Answer answer, FindAnswer(problem));
  if (auto* infeasible = std::get_if<planner::Infeasible>(&answer.outcome)) {
    SAIL_RETURN_IF_ERROR(KeepTrueRelaxations(problem, *infeasible));
    std::vector<Relief> relief;
    for (const planner::ConflictingLimit& limit : infeasible->limits) {
      if (limit.is_constraint || limit.name != "memory") continue;
      SAIL_ASSIGN_OR_RETURN(relief, FindMemoryRelief(problem, limit));
    }
    compilation.sink.Report(DiagnoseInfeasible(job, *infeasible, relief));
    return PlanResult(std::move(*infeasible));
  }
  auto& found = std::get<planner::Feasible>(answer.outcome);
  ir::Plan plan = std::move(found.plan);
  const absl::Status verified = ir::VerifyPlan(problem, plan, answer.timeline);
  SAIL_CHECK(verified.ok()) << verified.message();
  SAIL_RETURN_IF_ERROR(Settle(compilation));
  // The timeline is never faster than the closed form, whose bound holds of it, too.
  if (found.certificate) {
    const ir::ObjectiveTerm& term = problem.job.objective.front();
    found.certificate->gap = planner::GapTo(found.certificate->bound, term, ir::Value(answer.timeline, term.metric));
  }
  return PlanResult(PlannedJob{std::move(plan), std::move(answer.timeline), found.certificate});
}

}  // namespace sail::driver
