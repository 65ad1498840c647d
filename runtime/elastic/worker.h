// `sailrun worker`: one rank. Prints its messages (events.h) on stdout; everything else goes to stderr.
#pragma once

#include <functional>
#include <string>

#include "runtime/engine/trainer.h"

namespace sail::rt {

// TrainRank, or a stand-in in tests.
using TrainFunction = std::function<absl::Status(const Bundle&, ir::Rank, const StoreAddress&,
                                                 const std::function<absl::Status(const StepResult&)>&)>;

struct WorkerOptions {
  std::string bundle;
  ir::Rank rank = ir::Rank(0);
  StoreAddress store;
};

// Joins the run, waits until every rank has joined, trains as many steps as the controller says. Returns the exit code:
// 0, 2 for a rank that the bundle does not have, or 6 or 7 after an error message.
int RunWorker(const WorkerOptions& options, const TrainFunction& train);

}  // namespace sail::rt
