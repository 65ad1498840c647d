#include "runtime/elastic/worker.h"

#include <cstdio>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/status_macros.h"
#include "runtime/elastic/control_store.h"
#include "runtime/elastic/events.h"
#include "runtime/elastic/exit_code.h"
#include "runtime/elastic/standard_output.h"

namespace sail::rt {
namespace {

// Unbuffered: a message is with the agent before the next step can kill this process.
absl::Status Say(const WorkerMessage& message) {
  if (WriteStandardOutput(PrintWorkerMessage(message)).ok()) return absl::OkStatus();
  return absl::UnavailableError("the agent no longer reads this worker's messages");
}

absl::Status Run(const WorkerOptions& options, Bundle& bundle, const TrainFunction& train) {
  {
    SAIL_ASSIGN_OR_RETURN(ControlStore store, ControlStore::Connect(options.store, bundle.limits.rendezvous_timeout));
    SAIL_RETURN_IF_ERROR(store.Set(absl::StrCat("present/", options.rank.index()), "1"));
    // The controller is the one that counts and gives up; twice its deadline means that it is gone.
    SAIL_ASSIGN_OR_RETURN(const std::string steps, store.WaitFor("go", 2 * bundle.limits.rendezvous_timeout));
    if (!absl::SimpleAtoi(steps, &bundle.problem.job.steps)) {
      return absl::InternalError(absl::StrCat("the controller asks for '", steps, "' steps"));
    }
  }
  return train(bundle, options.rank, options.store, [](const StepResult& step) { return Say(step); });
}

int Fail(const absl::Status& status, int exit_code) {
  std::fprintf(stderr, "error: %s\n", std::string(status.message()).c_str());
  const absl::Status said = Say(status);
  if (!said.ok()) std::fprintf(stderr, "error: %s\n", std::string(said.message()).c_str());
  return exit_code;
}

}  // namespace

int RunWorker(const WorkerOptions& options, const TrainFunction& train) {
  absl::StatusOr<Bundle> bundle = ReadBundle(options.bundle);
  if (!bundle.ok()) return Fail(bundle.status(), BundleExitCode(bundle.status()));
  const int ranks = ir::Placement(bundle->plan).rank_count();
  if (options.rank.index() >= ranks) {
    std::fprintf(stderr, "error: --rank: the bundle has no rank %d; its ranks are 0 to %d\n", options.rank.index(),
                 ranks - 1);
    return kExitUsage;
  }
  const absl::Status status = Run(options, *bundle, train);
  return status.ok() ? kExitDone : Fail(status, kExitEnvironment);
}

}  // namespace sail::rt
