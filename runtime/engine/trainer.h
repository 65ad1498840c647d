// One rank's training run: the doorway from process management to tensors. No Torch types here.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "compiler/ir/placement.h"
#include "runtime/bundle/bundle.h"

namespace sail::rt {

struct StoreAddress {
  std::string host;
  int port = 0;
};

struct StepResult {
  int64_t step = 0;    // from 1
  double loss = 0;     // mean over the tokens of the global batch, before the step's update; the same on every rank
  double seconds = 0;  // wall time of this step on this rank
  int64_t samples = 0;
};

// Trains `bundle.problem.job.steps` steps as `rank` of a bundle that ReadBundle returned: no fault of it is looked for.
// `on_step` is called on this thread after each step; a failed status from it ends the run. Blocks until done. Every
// wait has a deadline from bundle.limits. Unavailable: a peer vanished or timed out (a consequence, not a cause). Other
// codes: this rank's own fault.
absl::Status TrainRank(const Bundle& bundle, ir::Rank rank, const StoreAddress& store,
                       const std::function<absl::Status(const StepResult&)>& on_step);

}  // namespace sail::rt
