// From a .sail file to a verified plan, one function per step. Each reports user mistakes to the compilation's sink and
// returns DiagnosedError; any other status is an environment error. Nothing here prints or writes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/file_system.h"
#include "compiler/base/source.h"
#include "compiler/driver/options.h"
#include "compiler/passes/pipeline.h"
#include "planner/plan_outcome.h"

namespace sail::driver {

// What one source file owns while it is compiled.
struct Compilation {
  std::string path;
  SpecOptions options;
  SourceManager sources;
  DiagnosticSink sink;
};

// The tree alone: names may be unknown, units wrong.
absl::StatusOr<ast::Spec> ParseOnly(Compilation& compilation, const FileSystem& files);

// Text to checked jobs. Warnings are settled: allowed ones are gone, and denied ones are errors.
absl::StatusOr<CheckedSpec> Check(Compilation& compilation, const FileSystem& files);

// The job of that name, or the only one if `name` is empty; otherwise NotFound, naming `file` and the jobs there are.
absl::StatusOr<LoweredJob*> SelectJob(CheckedSpec& spec, const std::string& file, const std::string& name);

// Whether the measured links that the spec names can be read; reports each that cannot once.
absl::Status CheckLinks(Compilation& compilation, const FileSystem& files, const CheckedSpec& spec);

// The files that were and will be read for the job: sources, params, measured profiles.
std::vector<std::string> InputsOf(const Compilation& compilation, const LoweredJob& job);

// Reads the measured profiles that the model names and derives the rest: afterwards job.problem can be planned.
absl::Status CompleteProblem(Compilation& compilation, const FileSystem& files, LoweredJob& job);

struct PlannedJob {
  ir::Plan plan;
  ir::Report report;                                // of the timeline: what `sailc simulate` shows
  std::optional<planner::Certificate> certificate;  // its gap is that of `report`
};
using PlanResult = std::variant<PlannedJob, planner::Infeasible>;

// Searches (FindAnswer) and verifies the plan against the limits of the job. Warnings about a plan are settled as by
// Check. An Infeasible result is in the sink as SAIL0501 or SAIL0502 with the places of the objective and
// of each limit that takes part.
absl::StatusOr<PlanResult> PlanJob(Compilation& compilation, const LoweredJob& job);

// What `assert` and `warn` say about a plan: that it holds, that it does not, or nothing, because they are wrong
// themselves (a name that a plan does not have, units that do not fit).
enum class PlanCheck { kHolds, kFails, kFaulty };
PlanCheck CheckPlan(Compilation& compilation, const CheckedSpec& spec, const LoweredJob& job,
                    const PlannedJob& planned);

}  // namespace sail::driver
