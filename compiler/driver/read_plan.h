// Reading a *.sailplan: nothing is believed that cannot be checked.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "compiler/base/file_system.h"
#include "compiler/ir/plan_file.h"
#include "compiler/ir/report.h"
#include "simulator/timeline.h"

namespace sail::driver {

struct ReadPlanFile {
  ir::PlanFile file;
  ir::Report report;  // of the timeline, computed now
};

// FailedPrecondition (exit code 6) for a file that is no plan, whose hashes do not match, or whose plan VerifyPlan
// rejects.
// What the timeline plays is added to `recording` if there is one.
absl::StatusOr<ReadPlanFile> ReadPlan(const std::string& path, const FileSystem& files,
                                      sim::Recording* recording = nullptr);

}  // namespace sail::driver
