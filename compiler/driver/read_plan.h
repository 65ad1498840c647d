// Reading a *.sailplan: nothing is believed that cannot be checked.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "compiler/base/file_system.h"
#include "compiler/ir/plan_file.h"
#include "compiler/ir/report.h"

namespace sail::driver {

struct ReadPlanFile {
  ir::PlanFile file;
  ir::Report report;  // of the timeline, computed now
};

// FailedPrecondition (exit code 6) for a file that is no plan, whose hashes do not match, or whose plan VerifyPlan
// rejects.
absl::StatusOr<ReadPlanFile> ReadPlan(const std::string& path, const FileSystem& files);

}  // namespace sail::driver
