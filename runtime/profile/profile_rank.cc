#include "runtime/profile/profile_rank.h"

#include "compiler/base/file_system.h"
#include "compiler/base/status_macros.h"
#include "compiler/ir/plan_file.h"
#include "compiler/ir/verify_plan.h"
#include "runtime/bundle/trainable.h"
#include "runtime/elastic/events.h"
#include "runtime/elastic/exit_code.h"
#include "runtime/elastic/standard_output.h"
#include "runtime/profile/link_profiler.h"

namespace sail::rt {
namespace {

constexpr int64_t kMaxPlanBytes = int64_t{1} << 30;

absl::Status Measure(const ProfileRankOptions& options) {
  if (options.plan.empty()) {
    return ProfileLink(options.self,
                       [](const sim::LinkSample& sample) { return WriteStandardOutput(PrintLinkSample(sample)); });
  }
  SAIL_ASSIGN_OR_RETURN(const ProfilePlan plan, ReadProfilePlan(options.plan));
  SAIL_ASSIGN_OR_RETURN(const std::vector<ir::GpuId> gpus, GpusToProfile(plan.problem, options.gpus));
  return ProfileLayers(plan.problem, CasesOf(plan.problem, gpus), options.self,
                       [](const RoundSamples& samples) { return WriteStandardOutput(PrintRoundSamples(samples)); });
}

}  // namespace

absl::StatusOr<ProfilePlan> ReadProfilePlan(const std::string& path) {
  SAIL_ASSIGN_OR_RETURN(const std::string text, RealFileSystem().Read(path, kMaxPlanBytes));
  absl::StatusOr<ir::PlanFile> file = ir::ParsePlanFile(text, path);
  absl::Status status = file.status();
  if (status.ok()) {
    status = Annotate(ir::VerifyPlanStructure(file->problem, file->plan), absl::StrCat("plan '", path, "'"));
  }
  if (!status.ok()) return absl::FailedPreconditionError(status.message());
  SAIL_RETURN_IF_ERROR(CheckTrainable(file->problem, file->plan));
  return ProfilePlan{.problem = std::move(file->problem), .ranks = ir::Placement(file->plan).rank_count()};
}

int RunProfileRank(const ProfileRankOptions& options) {
  const absl::Status status = Measure(options);
  if (status.ok()) return kExitDone;
  (void)WriteStandardOutput(PrintWorkerMessage(status));  // without a reader there is nobody to tell
  return kExitEnvironment;
}

}  // namespace sail::rt
