// A *.sailplan from disk, trusted only after its hashes and its structure have been verified.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "compiler/base/file_system.h"
#include "compiler/ir/plan_file.h"

namespace sail::driver {

// FailedPrecondition (exit code 6) for a file that is no plan, does not match its hashes or fails VerifyPlanStructure.
absl::StatusOr<ir::PlanFile> ReadPlan(const std::string& path, const FileSystem& files);

}  // namespace sail::driver
