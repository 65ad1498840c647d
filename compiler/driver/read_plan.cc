#include "compiler/driver/read_plan.h"

#include "absl/strings/str_cat.h"
#include "compiler/base/status_macros.h"
#include "compiler/ir/verify_plan.h"
#include "simulator/simulate.h"

namespace sail::driver {
namespace {

constexpr int64_t kMaxPlanBytes = int64_t{1} << 30;

}  // namespace

absl::StatusOr<ReadPlanFile> ReadPlan(const std::string& path, const FileSystem& files, sim::Recording* recording) {
  SAIL_ASSIGN_OR_RETURN(const std::string text, files.Read(path, kMaxPlanBytes));
  const auto refuse = [](const absl::Status& status) { return absl::FailedPreconditionError(status.message()); };
  absl::StatusOr<ir::PlanFile> file = ir::ParsePlanFile(text, path);
  if (!file.ok()) return refuse(file.status());
  const std::string what = absl::StrCat("plan '", path, "'");
  const absl::Status structure = ir::VerifyPlanStructure(file->problem, file->plan);
  if (!structure.ok()) return refuse(Annotate(structure, what));
  absl::StatusOr<ir::Report> report = sim::Simulate(file->problem, file->plan, recording);
  if (!report.ok()) return refuse(Annotate(report.status(), what));
  const absl::Status verified = ir::VerifyPlan(file->problem, file->plan, *report);
  if (!verified.ok()) return refuse(Annotate(verified, what));
  return ReadPlanFile{*std::move(file), *std::move(report)};
}

}  // namespace sail::driver
