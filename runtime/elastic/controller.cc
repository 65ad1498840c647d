#include "runtime/elastic/controller.h"

#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <memory>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "compiler/base/file_system.h"
#include "compiler/base/status_macros.h"
#include "runtime/bundle/nodes.h"
#include "runtime/elastic/clock.h"
#include "runtime/elastic/control_store.h"
#include "runtime/elastic/exit_code.h"
#include "runtime/elastic/first_cause.h"
#include "runtime/elastic/log_tail.h"
#include "runtime/elastic/process.h"
#include "runtime/elastic/run_directory.h"
#include "runtime/elastic/standard_output.h"
#include "runtime/elastic/stop_signals.h"
#include "runtime/elastic/watchdog.h"

namespace sail::rt {
namespace {

struct AgentState {
  Node node;
  std::unique_ptr<Process> process;  // null when started elsewhere
  std::string log;
  int64_t reports = 0;  // read so far; 0: it has not joined
  Clock::time_point last_report;
};

constexpr char kSilence[] = "sailrun: error: the store or a disk does not answer\n";

Cause EnvironmentCause(std::string message) {
  return {.message = std::move(message), .log_tail = "", .exit_code = kExitEnvironment, .certain = true};
}

class Controller {
 public:
  Controller(const ControllerOptions& options, const Bundle& bundle, ControlStore store);

  absl::Status Start();
  // Why the run ended: nullopt when all ranks have done their steps.
  std::optional<Cause> Watch();
  // Ends whatever still runs; afterwards no local process is left.
  void Stop();
  absl::Status PrintSummary() { return progress_.PrintSummary(); }

 private:
  absl::Status StartAgent(AgentState& agent);
  absl::Status ReadReports();
  absl::Status Apply(const WorkerEvent& event);
  absl::Status Rendezvous();
  std::optional<Cause> LostAgent();
  std::optional<Cause> Straggler();
  std::optional<Cause> CurrentCause();
  bool HasEnded(const AgentState& agent) const;
  int64_t LastStep() const;

  const ControllerOptions& options_;
  const Bundle& bundle_;
  ControlStore store_;
  Progress progress_;
  std::vector<AgentState> agents_;
  std::vector<RankState> ranks_;
  bool has_begun_ = false;  // all ranks were present
  Clock::time_point rendezvous_deadline_;
  Clock::time_point blame_deadline_ = Clock::time_point::max();   // set when peers have vanished
  Clock::time_point finish_deadline_ = Clock::time_point::max();  // set when the first rank is done
};

Controller::Controller(const ControllerOptions& options, const Bundle& bundle, ControlStore store)
    : options_(options),
      bundle_(bundle),
      store_(std::move(store)),
      progress_(bundle, bundle.problem.job.steps, options.verbosity),
      rendezvous_deadline_(After(bundle.limits.rendezvous_timeout)) {
  const ir::Placement placement(bundle.plan);
  ranks_.resize(placement.rank_count());
  for (Node& node : NodesOf(bundle.problem.cluster, placement)) {
    agents_.push_back({.node = std::move(node), .process = nullptr, .log = "", .last_report = Clock::now()});
  }
}

absl::Status Controller::Start() {
  SAIL_RETURN_IF_ERROR(progress_.Open(options_.metrics));
  if (options_.agents == AgentStart::kElsewhere) {
    const int port = store_.address().port;
    return WriteStandardOutput(absl::StrCat("store on port ", port, "; run nodes/*/launch.sh with ",
                                            "SAIL_STORE=<address of this machine>:", port, "\n"));
  }
  for (AgentState& agent : agents_) SAIL_RETURN_IF_ERROR(StartAgent(agent));
  return absl::OkStatus();
}

absl::Status Controller::StartAgent(AgentState& agent) {
  const std::string logs = DirectoryOf(options_.metrics).empty() ? "." : DirectoryOf(options_.metrics);
  agent.log = absl::StrCat(logs, "/agent-", agent.node.name, ".log");
  SAIL_ASSIGN_OR_RETURN(Process process,
                        Process::Start({.arguments = {"agent", options_.bundle, "--node", agent.node.name, "--store",
                                                      ToString(store_.address()), "--logs", logs},
                                        .environment = {},
                                        .stderr_file = agent.log,
                                        .capture_stdout = false}));
  agent.process = std::make_unique<Process>(std::move(process));
  return absl::OkStatus();
}

absl::Status Controller::ReadReports() {
  for (AgentState& agent : agents_) {
    while (true) {
      const std::string key = absl::StrCat("report/", agent.node.name, "/", agent.reports);
      SAIL_ASSIGN_OR_RETURN(const bool present, store_.Has(key));
      if (!present) break;
      SAIL_ASSIGN_OR_RETURN(const std::string text, store_.Take(key));
      SAIL_ASSIGN_OR_RETURN(const std::vector<WorkerEvent> events, ParseEvents(text));
      ++agent.reports;
      agent.last_report = Clock::now();
      for (const WorkerEvent& event : events) SAIL_RETURN_IF_ERROR(Apply(event));
    }
  }
  return absl::OkStatus();
}

absl::Status Controller::Apply(const WorkerEvent& event) {
  const int rank = event.rank.index();
  if (rank < 0 || rank >= static_cast<int>(ranks_.size())) {
    return absl::InternalError(absl::StrCat("an agent reports of rank ", rank, ", which the plan does not have"));
  }
  RankState& state = ranks_[rank];
  if (const auto* started = std::get_if<WorkerStarted>(&event.what)) state.pid = started->pid;
  if (const auto* error = std::get_if<absl::Status>(&event.what)) state.error = *error;
  if (const auto* exited = std::get_if<WorkerExited>(&event.what)) {
    state.exit = *exited;
    if (exited->exit.ok() && finish_deadline_ == Clock::time_point::max()) {
      finish_deadline_ = After(bundle_.limits.collective_timeout);
    }
  }
  if (const auto* step = std::get_if<StepResult>(&event.what)) {
    state.last_step = step->step;
    if (rank == 0) return progress_.Step(*step);
  }
  return absl::OkStatus();
}

// Lets the ranks begin once all are present; fails after the deadline, naming those that are not.
absl::Status Controller::Rendezvous() {
  if (has_begun_) return absl::OkStatus();
  std::vector<int> missing;
  for (size_t i = 0; i < ranks_.size(); ++i) {
    SAIL_ASSIGN_OR_RETURN(const bool present, store_.Has(absl::StrCat("present/", i)));
    if (!present) missing.push_back(static_cast<int>(i));
  }
  if (missing.empty()) {
    has_begun_ = true;
    return store_.Set("go", absl::StrCat(bundle_.problem.job.steps));
  }
  if (Clock::now() < rendezvous_deadline_) return absl::OkStatus();
  return absl::DeadlineExceededError(absl::StrCat("plan needs ", ranks_.size(), " ranks, ",
                                                  ranks_.size() - missing.size(), " present (missing ", Ranges(missing),
                                                  ") after ", bundle_.limits.rendezvous_timeout.value(), " s"));
}

bool Controller::HasEnded(const AgentState& agent) const {
  return std::all_of(agent.node.ranks.begin(), agent.node.ranks.end(),
                     [&](ir::Rank rank) { return ranks_[rank.index()].exit.has_value(); });
}

// An agent that ended before its workers, or has not reported for too long. Call after reading all reports.
std::optional<Cause> Controller::LostAgent() {
  for (const AgentState& agent : agents_) {
    if (HasEnded(agent)) continue;
    std::vector<int> ranks;
    for (const ir::Rank rank : agent.node.ranks) ranks.push_back(rank.index());
    const std::string who = absl::StrCat("the agent of node ", agent.node.name, " (",
                                         ranks.size() == 1 ? "rank " : "ranks ", Ranges(ranks));
    const std::string when = absl::StrCat("; last step ", LastStep());
    if (agent.process != nullptr && agent.process->exit()) {
      const ExitInfo exit = *agent.process->exit();
      Cause cause = EnvironmentCause(
          absl::StrCat(who, ", pid ", agent.process->pid(), ") ", Describe(exit), " before its workers", when));
      cause.log_tail = LogTail(agent.log);
      if (exit.code == kExitBundle || exit.code == kExitInternal) cause.exit_code = exit.code;
      return cause;
    }
    if (agent.reports > 0 && Clock::now() - agent.last_report > kAgentTimeout) {
      return EnvironmentCause(absl::StrCat(who, ") has not been heard of for ", kAgentTimeout.count(), " s", when));
    }
  }
  return std::nullopt;
}

// A rank that goes on long after another one is done.
std::optional<Cause> Controller::Straggler() {
  if (Clock::now() < finish_deadline_) return std::nullopt;
  for (size_t i = 0; i < ranks_.size(); ++i) {
    if (ranks_[i].exit) continue;
    return EnvironmentCause(absl::StrCat(DescribeRank(bundle_, ir::Rank(static_cast<int>(i)), ranks_[i].pid),
                                         " did not end within ", bundle_.limits.collective_timeout.value(),
                                         " s of the first rank; last step ", ranks_[i].last_step));
  }
  return std::nullopt;
}

// What is known to be wrong by now. Vanished peers are only symptoms: their cause gets kBlameWindow to show.
std::optional<Cause> Controller::CurrentCause() {
  const std::optional<Cause> cause = FirstCause(bundle_, ranks_);
  if (cause && cause->certain) return cause;
  if (const std::optional<Cause> lost = LostAgent()) return lost;
  if (cause) {
    const bool all_ended =
        std::all_of(ranks_.begin(), ranks_.end(), [](const RankState& rank) { return rank.exit.has_value(); });
    if (all_ended) return cause;  // nothing more will be heard
    if (blame_deadline_ == Clock::time_point::max()) blame_deadline_ = Clock::now() + kBlameWindow;
    return Clock::now() < blame_deadline_ ? std::nullopt : cause;
  }
  return Straggler();
}

std::optional<Cause> Controller::Watch() {
  while (true) {
    EndAfterSilence(bundle_.limits.collective_timeout, kSilence);
    if (const int signal = StopSignal()) {
      Cause cause = EnvironmentCause(absl::StrCat("stopped by ", SignalName(signal), "; last step ", LastStep()));
      cause.exit_code = kExitSignal + signal;
      return cause;
    }
    for (AgentState& agent : agents_) {
      if (agent.process != nullptr) agent.process->Poll();  // before reading: its reports are then complete
    }
    absl::Status status = ReadReports();
    if (status.ok()) {
      if (const std::optional<Cause> cause = CurrentCause()) return cause;
      if (std::all_of(agents_.begin(), agents_.end(), [&](const AgentState& agent) { return HasEnded(agent); })) {
        return std::nullopt;
      }
      status = Rendezvous();
    }
    if (!status.ok()) return EnvironmentCause(std::string(status.message()));
    std::this_thread::sleep_for(kPollInterval);
  }
}

void Controller::Stop() {
  EndAfterSilence(bundle_.limits.stop_grace + Seconds(5), kSilence);
  (void)store_.Set("stop", "1");  // agents that cannot read it lose the store, which ends them too
  const Clock::time_point deadline = After(bundle_.limits.stop_grace + Seconds(1));
  while (Clock::now() < deadline) {
    bool running = false;
    for (AgentState& agent : agents_) {
      const bool ended = agent.process != nullptr ? agent.process->Poll().has_value() : HasEnded(agent);
      running |= !ended && (agent.process != nullptr || agent.reports > 0);
    }
    if (!running || !ReadReports().ok()) break;
    std::this_thread::sleep_for(kPollInterval);
  }
  for (AgentState& agent : agents_) agent.process.reset();  // kills what is left, and its workers with it
  progress_.EndLine();
}

int64_t Controller::LastStep() const {
  int64_t last = 0;
  for (const RankState& rank : ranks_) last = std::max(last, rank.last_step);
  return last;
}

int Fail(absl::string_view message, int exit_code) {
  std::fprintf(stderr, "sailrun: error: %s\n", std::string(message).c_str());
  return exit_code;
}

// Before anything is written: logs lie beside the metrics, wherever those are.
absl::Status CheckMetricsPath(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0 || S_ISREG(info.st_mode)) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("cannot write '", path, "': it is not a regular file"));
}

int FinishWell(Controller& controller, const ControllerOptions& options) {
  EndNoMore();  // a paused terminal may keep the summary waiting
  const absl::Status printed = controller.PrintSummary();
  if (printed.ok()) return kExitDone;
  return Fail(absl::StrCat(printed.message(), "; all steps are trained, see '", options.metrics, "'"),
              StopSignal() == 0 ? kExitEnvironment : kExitSignal + StopSignal());
}

}  // namespace

int RunController(const ControllerOptions& options) {
  absl::StatusOr<Bundle> bundle = ReadBundle(options.bundle);
  if (!bundle.ok()) return Fail(bundle.status().message(), BundleExitCode(bundle.status()));
  if (options.steps > 0) bundle->problem.job.steps = options.steps;
  CatchStopSignals();
  EndAfterSilence(bundle->limits.rendezvous_timeout, kSilence);
  const std::string directory = DirectoryOf(options.metrics);
  absl::Status status = CheckMetricsPath(options.metrics);
  if (status.ok()) status = OpenRunDirectory(directory, options.bundle);
  if (!status.ok()) return Fail(status.message(), kExitEnvironment);
  const absl::StatusOr<LockFile> lock = LockFile::Take(JoinPath(directory, "controller.lock"));
  if (!lock.ok()) return Fail(lock.status().message(), kExitEnvironment);
  absl::StatusOr<ControlStore> store = ControlStore::Serve(
      options.port, options.agents == AgentStart::kHere ? StoreReach::kThisMachine : StoreReach::kNetwork);
  if (!store.ok()) return Fail(store.status().message(), kExitEnvironment);

  Controller controller(options, *bundle, *std::move(store));
  status = controller.Start();
  std::optional<Cause> cause;
  if (status.ok() || StopSignal() != 0) {
    cause = controller.Watch();
  } else {
    cause = EnvironmentCause(std::string(status.message()));
  }
  controller.Stop();
  if (!cause) return FinishWell(controller, options);
  Fail(cause->message, cause->exit_code);
  if (!cause->log_tail.empty()) {
    std::fprintf(stderr, "  its log ends:\n    %s\n", absl::StrReplaceAll(cause->log_tail, {{"\n", "\n    "}}).c_str());
  }
  return cause->exit_code;
}

}  // namespace sail::rt
