#include "compiler/driver/compilation.h"

#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/check.h"
#include "compiler/base/status_macros.h"
#include "compiler/driver/infeasible.h"
#include "compiler/ir/verify_plan.h"
#include "planner/planner.h"
#include "simulator/profiles.h"
#include "simulator/sail_cost_model.h"
#include "simulator/simulate.h"

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

absl::Status ReadProfile(Compilation& compilation, const FileSystem& files, const ProfileSource& source,
                         ir::Problem& problem) {
  const std::string path = JoinPath(DirectoryOf(compilation.path), source.path);
  const absl::StatusOr<std::string> text = files.Read(path, kMaxProfileBytes);
  if (!text.ok()) {
    return Report(compilation, DiagnosticCode::kDataFile, absl::StrCat("cannot read the profile `", source.path, "`"),
                  source.range, {std::string(text.status().message())});
  }
  const absl::Status added = sim::AddMeasuredProfile(*text, source.path, source.gpu, problem);
  if (added.ok()) return absl::OkStatus();
  return Report(compilation, DiagnosticCode::kProfileMismatch, added.message(), source.range);
}

bool Holds(const ir::Report& report) {
  for (const ir::ConstraintReport& constraint : report.constraints) {
    if (!constraint.holds) return false;
  }
  return true;
}

// Moves each limit that the timeline breaks by the ratio it is broken by.
void Tighten(const ir::Report& timeline, ir::Job& job) {
  for (const ir::ConstraintReport& broken : timeline.constraints) {
    if (broken.holds) continue;
    for (ir::Constraint& constraint : job.constraints) {
      if (constraint.name == broken.name) constraint.limit *= broken.limit / broken.value;
    }
  }
}

// What the search reached under tightened limits, in terms of the limits as written.
void UndoTightening(const ir::Job& written, const ir::Job& searched, planner::Infeasible& infeasible) {
  for (size_t i = 0; i < written.constraints.size(); ++i) {
    const double limit = searched.constraints[i].limit;
    if (limit == written.constraints[i].limit) continue;
    for (planner::ConflictingLimit& conflict : infeasible.limits) {
      if (conflict.name == written.constraints[i].name) conflict.best *= written.constraints[i].limit / limit;
    }
  }
}

}  // namespace

absl::StatusOr<ast::Spec> ParseOnly(Compilation& compilation, const FileSystem& files) {
  SAIL_ASSIGN_OR_RETURN(std::string text, files.Read(compilation.path, kMaxSourceBytes));
  const SourceId file = compilation.sources.Add(compilation.path, std::move(text));
  return Parse(compilation.sources, file, ParseLimits(), compilation.sink);
}

absl::StatusOr<CheckedSpec> Check(Compilation& compilation, const FileSystem& files) {
  return CheckFile(compilation.path, files, ParseLimits(), compilation.sources, compilation.sink);
}

absl::Status CompleteProblem(Compilation& compilation, const FileSystem& files, LoweredJob& job) {
  for (const ProfileSource& source : job.profiles) {
    SAIL_RETURN_IF_ERROR(ReadProfile(compilation, files, source, job.problem));
  }
  const absl::Status completed = sim::CompleteProfile(job.problem);
  if (completed.ok()) return absl::OkStatus();
  const DiagnosticCode code =
      absl::IsNotFound(completed) ? DiagnosticCode::kMissingProfileEntry : DiagnosticCode::kMissingPeak;
  return Report(compilation, code, completed.message(), ProfileRange(job, completed.message()));
}

absl::StatusOr<PlanResult> PlanJob(Compilation& compilation, const LoweredJob& job) {
  ir::Problem tightened = job.problem;
  planner::Infeasible infeasible;
  for (int round = 0; round < kTimelineRounds; ++round) {
    const std::unique_ptr<sim::CostModel> costs = sim::MakeSailCostModel(tightened);
    SAIL_ASSIGN_OR_RETURN(planner::PlanOutcome outcome, planner::FindPlan(tightened, *costs, {}));
    if (const auto* none = std::get_if<planner::Infeasible>(&outcome)) {
      infeasible = *none;
      UndoTightening(job.problem.job, tightened.job, infeasible);
      break;
    }
    auto& found = std::get<planner::Feasible>(outcome);
    SAIL_ASSIGN_OR_RETURN(ir::Report timeline, sim::Simulate(job.problem, found.plan));
    if (Holds(timeline)) {
      const absl::Status verified = ir::VerifyPlan(job.problem, found.plan, timeline);
      SAIL_CHECK(verified.ok()) << verified.message();
      return PlanResult(PlannedJob{std::move(found.plan), std::move(timeline)});
    }
    infeasible = BrokenLimits(timeline, found.candidates);
    Tighten(timeline, tightened.job);
  }
  compilation.sink.Report(DiagnoseInfeasible(job, tightened.job, infeasible));
  return PlanResult(std::move(infeasible));
}

}  // namespace sail::driver
