#include "runtime/elastic/worker.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/status_macros.h"
#include "runtime/elastic/control_store.h"
#include "runtime/elastic/events.h"
#include "runtime/elastic/exit_code.h"

namespace sail::rt {
namespace {

// Straight to the descriptor: a message is with the agent before the next step can kill this process.
absl::Status Say(const WorkerMessage& message) {
  const std::string text = PrintWorkerMessage(message);
  absl::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t written = write(STDOUT_FILENO, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return absl::UnavailableError("the agent no longer reads this worker's messages");
    rest.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

absl::Status Run(const WorkerOptions& options, const TrainFunction& train) {
  SAIL_ASSIGN_OR_RETURN(Bundle bundle, ReadBundle(options.bundle));
  const int ranks = ir::Placement(bundle.plan).rank_count();
  if (options.rank.index() < 0 || options.rank.index() >= ranks) {
    return absl::InvalidArgumentError(
        absl::StrCat("rank ", options.rank.index(), " does not exist, the plan has ", ranks));
  }
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

}  // namespace

int RunWorker(const WorkerOptions& options, const TrainFunction& train) {
  const absl::Status status = Run(options, train);
  if (status.ok()) return kExitDone;
  std::fprintf(stderr, "error: %s\n", std::string(status.message()).c_str());
  const absl::Status said = Say(status);
  if (!said.ok()) std::fprintf(stderr, "error: %s\n", std::string(said.message()).c_str());
  return kExitEnvironment;
}

}  // namespace sail::rt
