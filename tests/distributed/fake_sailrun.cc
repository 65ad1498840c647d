// sailrun with a trainer that only counts. Each step waits for all ranks at the store, as a collective would, so that a
// rank that dies or stops is felt by the others. What goes wrong is told in SAIL_FAKE, "rank:step:action" separated by
// blanks; actions are error, unavailable, exit, check, late_error (half a second later) and ignore_sigterm.
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "compiler/base/check.h"
#include "compiler/base/status_macros.h"
#include "runtime/elastic/command_line.h"
#include "runtime/elastic/control_store.h"

namespace sail::rt {
namespace {

absl::Status Misbehave(ir::Rank rank, int64_t step) {
  const char* faults = std::getenv("SAIL_FAKE");
  for (const absl::string_view fault : absl::StrSplit(faults == nullptr ? "" : faults, ' ', absl::SkipEmpty())) {
    const std::string here = absl::StrCat(rank.index(), ":", step, ":");
    if (fault.substr(0, here.size()) != here) continue;
    const absl::string_view action = fault.substr(here.size());
    if (action == "late_error") usleep(500'000);
    if (action == "error" || action == "late_error") return absl::InternalError("the disk is on fire");
    if (action == "unavailable") return absl::UnavailableError("connection closed by peer");
    if (action == "exit") _exit(9);
    SAIL_CHECK(action != "check") << "as told";
    if (action == "ignore_sigterm") std::signal(SIGTERM, SIG_IGN);
  }
  return absl::OkStatus();
}

absl::Status Meet(const Bundle& bundle, ControlStore& store, ir::Rank rank, int64_t step) {
  SAIL_RETURN_IF_ERROR(store.Set(absl::StrCat("fake/", step, "/", rank.index()), "1"));
  for (int peer = 0; peer < ir::Placement(bundle.plan).rank_count(); ++peer) {
    const std::string key = absl::StrCat("fake/", step, "/", peer);
    if (!store.WaitFor(key, bundle.limits.collective_timeout).ok())
      return absl::UnavailableError("timed out waiting for a peer");
  }
  return absl::OkStatus();
}

absl::Status FakeTrain(const Bundle& bundle, ir::Rank rank, const StoreAddress& address,
                       const std::function<absl::Status(const StepResult&)>& on_step) {
  SAIL_ASSIGN_OR_RETURN(ControlStore store, ControlStore::Connect(address, bundle.limits.rendezvous_timeout));
  for (int64_t step = 1; step <= bundle.problem.job.steps; ++step) {
    SAIL_RETURN_IF_ERROR(Misbehave(rank, step));
    SAIL_RETURN_IF_ERROR(Meet(bundle, store, rank, step));
    usleep(10'000);
    SAIL_RETURN_IF_ERROR(
        on_step({.step = step, .loss = 4.0 / static_cast<double>(step), .seconds = 0.5, .samples = 8}));
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace sail::rt

int main(int argc, char** argv) { return sail::rt::SailrunMain(argc, argv, sail::rt::FakeTrain); }
