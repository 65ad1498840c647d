// What workers tell their agent (lines on stdout) and agents tell the controller (batches in the store).
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/ir/placement.h"
#include "runtime/elastic/process.h"
#include "runtime/engine/trainer.h"

namespace sail::rt {

// A worker's own words. One JSON object per line: {"step":…} after each step, {"error":…} at most once, at the end.
using WorkerMessage = std::variant<StepResult, absl::Status>;
std::string PrintWorkerMessage(const WorkerMessage& message);  // with line end
// InvalidArgument for anything else: a library has printed to stdout.
absl::StatusOr<WorkerMessage> ParseWorkerMessage(absl::string_view line);

struct WorkerStarted {
  int pid = 0;
};
struct WorkerExited {
  ExitInfo exit;
  bool on_request = false;  // the agent had told it to stop
  std::string log_tail;     // the end of its stderr, empty after success
};
struct WorkerEvent {
  ir::Rank rank = ir::Rank(-1);
  std::variant<WorkerStarted, StepResult, absl::Status, WorkerExited> what;
};

// Batches may be empty: each one is also a heartbeat.
std::string PrintEvents(const std::vector<WorkerEvent>& events);
absl::StatusOr<std::vector<WorkerEvent>> ParseEvents(absl::string_view text);

}  // namespace sail::rt
