#include "compiler/driver/read_plan.h"

#include "absl/strings/str_cat.h"
#include "compiler/base/status_macros.h"
#include "compiler/ir/verify_plan.h"

namespace sail::driver {
namespace {

constexpr int64_t kMaxPlanBytes = int64_t{1} << 30;

}  // namespace

absl::StatusOr<ir::PlanFile> ReadPlan(const std::string& path, const FileSystem& files) {
  SAIL_ASSIGN_OR_RETURN(const std::string text, files.Read(path, kMaxPlanBytes));
  absl::StatusOr<ir::PlanFile> file = ir::ParsePlanFile(text, path);
  if (!file.ok()) return absl::FailedPreconditionError(file.status().message());
  const absl::Status sound = ir::VerifyPlanStructure(file->problem, file->plan);
  if (!sound.ok()) return absl::FailedPreconditionError(absl::StrCat(path, ": ", sound.message()));
  return file;
}

}  // namespace sail::driver
