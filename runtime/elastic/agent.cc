#include "runtime/elastic/agent.h"

#include <poll.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/file_system.h"
#include "compiler/base/status_macros.h"
#include "runtime/bundle/nodes.h"
#include "runtime/elastic/clock.h"
#include "runtime/elastic/control_store.h"
#include "runtime/elastic/events.h"
#include "runtime/elastic/exit_code.h"
#include "runtime/elastic/log_tail.h"
#include "runtime/elastic/process.h"
#include "runtime/elastic/run_directory.h"
#include "runtime/elastic/stop_signals.h"
#include "runtime/elastic/watchdog.h"

namespace sail::rt {
namespace {

struct Worker {
  ir::Rank rank;
  std::string log;
  Process process;
  bool reported_exit = false;
};

constexpr char kStoreIsSilent[] = "error: the controller's store does not answer\n";

class Agent {
 public:
  Agent(const AgentOptions& options, const Bundle& bundle, ControlStore store)
      : options_(options), limits_(bundle.limits), store_(std::move(store)) {}

  // FailedPrecondition if the node has an agent already: two would share its GPUs and their reports would mix.
  absl::Status ClaimNode();
  absl::Status StartWorkers(const std::vector<ir::Rank>& ranks);
  // Until all workers have ended. Unavailable if the store is lost; workers then die with this object.
  absl::Status Watch();
  bool all_ok() const { return all_ok_; }

 private:
  bool Done() const {
    return std::all_of(workers_.begin(), workers_.end(), [](const Worker& worker) { return worker.reported_exit; });
  }
  void WaitForNews();
  bool Collect();  // true if something was heard that the controller should know at once
  void StopWorkers();
  absl::Status Report();

  const AgentOptions& options_;
  const Limits limits_;
  ControlStore store_;
  std::vector<Worker> workers_;
  std::vector<WorkerEvent> pending_;
  int64_t batches_ = 0;
  bool stopping_ = false;
  bool all_ok_ = true;
  Clock::time_point kill_at_ = Clock::time_point::max();
};

absl::Status Agent::ClaimNode() {
  SAIL_ASSIGN_OR_RETURN(const int64_t agents, store_.Increment(absl::StrCat("agents/", options_.node)));
  if (agents == 1) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("node ", options_.node, " has an agent already; another one would put two ranks on each GPU"));
}

absl::Status Agent::StartWorkers(const std::vector<ir::Rank>& ranks) {
  const std::string env_path = JoinPath(options_.bundle, absl::StrCat("nodes/", options_.node, "/env"));
  SAIL_ASSIGN_OR_RETURN(const std::string env, RealFileSystem().Read(env_path, int64_t{1} << 20));
  auto environments =
      ProcessEnvironments(env, static_cast<int>(ranks.size()), options_.store.host, options_.store.port);
  if (!environments.ok()) return Annotate(environments.status(), env_path);
  for (size_t i = 0; i < ranks.size(); ++i) {
    const std::string rank = absl::StrCat(ranks[i].index());
    const std::string log = JoinPath(options_.log_directory, absl::StrCat("rank-", rank, ".log"));
    SAIL_ASSIGN_OR_RETURN(
        Process process,
        Process::Start({.arguments = {"worker", options_.bundle, "--rank", rank, "--store", ToString(options_.store)},
                        .environment = (*environments)[i],
                        .stderr_file = log,
                        .capture_stdout = true}));
    pending_.push_back({ranks[i], WorkerStarted{.pid = process.pid()}});
    workers_.push_back({.rank = ranks[i], .log = log, .process = std::move(process)});
  }
  return absl::OkStatus();
}

void Agent::WaitForNews() {
  std::vector<pollfd> fds;
  for (const Worker& worker : workers_) {
    if (worker.process.stdout_fd() >= 0) fds.push_back({worker.process.stdout_fd(), POLLIN, 0});
  }
  poll(fds.data(), fds.size(), static_cast<int>(kPollInterval.count()));
}

bool Agent::Collect() {
  bool urgent = false;
  for (Worker& worker : workers_) {
    if (worker.reported_exit) continue;
    const std::optional<ExitInfo> exit = worker.process.Poll();  // before reading: what it said is then complete
    for (const std::string& line : worker.process.ReadLines()) {
      absl::StatusOr<WorkerMessage> message = ParseWorkerMessage(line);
      if (!message.ok()) continue;  // printed by a library
      urgent |= std::holds_alternative<absl::Status>(*message);
      std::visit([&](auto& what) { pending_.push_back({worker.rank, std::move(what)}); }, *message);
    }
    if (!exit) continue;
    all_ok_ &= exit->ok();
    pending_.push_back(
        {worker.rank,
         WorkerExited{.exit = *exit, .on_request = stopping_, .log_tail = exit->ok() ? "" : LogTail(worker.log)}});
    worker.reported_exit = urgent = true;
  }
  return urgent;
}

void Agent::StopWorkers() {
  if (stopping_) return;
  Collect();  // what has ended by now has ended by itself
  stopping_ = true;
  for (Worker& worker : workers_) worker.process.Signal(SIGTERM);
  kill_at_ = After(limits_.stop_grace);
}

absl::Status Agent::Report() {
  SAIL_RETURN_IF_ERROR(store_.Set(absl::StrCat("report/", options_.node, "/", batches_++), PrintEvents(pending_)));
  pending_.clear();
  return absl::OkStatus();
}

absl::Status Agent::Watch() {
  SAIL_RETURN_IF_ERROR(Report());
  Clock::time_point last_report = Clock::now(), next_visit = Clock::now();
  while (!Done()) {
    EndAfterSilence(limits_.collective_timeout, kStoreIsSilent);
    WaitForNews();
    const bool urgent = Collect();
    if (StopSignal() != 0) StopWorkers();
    if (Clock::now() >= kill_at_) {
      for (Worker& worker : workers_) worker.process.Signal(SIGKILL);
    }
    if (!urgent && Clock::now() < next_visit) continue;
    next_visit = Clock::now() + kReportInterval;
    if (!pending_.empty() || Clock::now() - last_report >= kHeartbeatInterval) {
      SAIL_RETURN_IF_ERROR(Report());
      last_report = Clock::now();
    }
    SAIL_ASSIGN_OR_RETURN(const bool stop, store_.Has("stop"));
    if (stop) StopWorkers();
  }
  return pending_.empty() ? absl::OkStatus() : Report();
}

int Fail(const absl::Status& status, int exit_code) {
  std::fprintf(stderr, "error: %s\n", std::string(status.message()).c_str());
  return exit_code;
}

}  // namespace

int RunAgent(const AgentOptions& options) {
  CatchStopSignals();
  const absl::StatusOr<Bundle> bundle = ReadBundle(options.bundle);
  if (!bundle.ok()) return Fail(bundle.status(), BundleExitCode(bundle.status()));
  const std::vector<Node> nodes = NodesOf(bundle->problem.cluster, ir::Placement(bundle->plan));
  const auto node = std::find_if(nodes.begin(), nodes.end(), [&](const Node& n) { return n.name == options.node; });
  if (node == nodes.end()) {
    const auto name = [](std::string* out, const Node& n) { absl::StrAppend(out, n.name); };
    return Fail(absl::NotFoundError(absl::StrCat("the plan has no node '", options.node, "'; its nodes are ",
                                                 absl::StrJoin(nodes, ", ", name))),
                kExitUsage);
  }
  absl::Status status = OpenRunDirectory(options.log_directory, options.bundle);
  if (!status.ok()) return Fail(status, kExitEnvironment);
  const absl::StatusOr<LockFile> lock =
      LockFile::Take(JoinPath(options.log_directory, absl::StrCat("agent-", options.node, ".lock")));
  if (!lock.ok()) return Fail(lock.status(), kExitEnvironment);
  EndAfterSilence(bundle->limits.rendezvous_timeout + bundle->limits.collective_timeout, kStoreIsSilent);
  absl::StatusOr<ControlStore> store = ControlStore::Connect(options.store, bundle->limits.rendezvous_timeout);
  if (!store.ok()) return Fail(store.status(), kExitEnvironment);
  Agent agent(options, *bundle, *std::move(store));
  status = agent.ClaimNode();
  if (status.ok()) status = agent.StartWorkers(node->ranks);
  if (status.ok()) status = agent.Watch();
  if (!status.ok()) return Fail(status, kExitEnvironment);
  if (StopSignal() != 0) return kExitSignal + StopSignal();
  return agent.all_ok() ? kExitDone : kExitEnvironment;
}

}  // namespace sail::rt
