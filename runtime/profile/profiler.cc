#include "runtime/profile/profiler.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compiler/base/file_system.h"
#include "compiler/base/status_macros.h"
#include "runtime/elastic/clock.h"
#include "runtime/elastic/control_store.h"
#include "runtime/elastic/events.h"
#include "runtime/elastic/exit_code.h"
#include "runtime/elastic/process.h"
#include "runtime/elastic/standard_output.h"
#include "runtime/elastic/stop_signals.h"
#include "runtime/profile/link_profiler.h"
#include "runtime/profile/profile_rank.h"

namespace sail::rt {
namespace {

int Fail(const absl::Status& status, int exit_code) {
  std::fprintf(stderr, "sailrun: error: %s\n", std::string(status.message()).c_str());
  return exit_code;
}

// Processes that measure. They die with this object.
class Team {
 public:
  // `arguments` follow "profile-rank" and what every rank is told.
  absl::Status Start(const ControlStore& store, int ranks, const std::vector<std::string>& arguments) {
    for (int rank = 0; rank < ranks; ++rank) {
      std::vector<std::string> words = {"profile-rank",      "--rank",  absl::StrCat(rank),       "--ranks",
                                        absl::StrCat(ranks), "--store", ToString(store.address())};
      words.insert(words.end(), arguments.begin(), arguments.end());
      SAIL_ASSIGN_OR_RETURN(Process process,
                            Process::Start({.arguments = std::move(words),
                                            .environment = {{"OMP_NUM_THREADS", "1"}},  // as bundle/nodes.cc does
                                            .stderr_file = "",
                                            .capture_stdout = true}));
      members_.push_back({.process = std::move(process), .error = absl::OkStatus()});
    }
    return absl::OkStatus();
  }

  // Hands each line that a rank prints to `on_line` until all have ended well. Cancelled after a stop signal; otherwise
  // the first cause of a failure: what a rank says of its peers is only a symptom.
  absl::Status Watch(absl::FunctionRef<absl::Status(int rank, absl::string_view line)> on_line) {
    Clock::time_point blame_deadline = Clock::time_point::max();
    while (true) {
      if (StopSignal() != 0) return absl::CancelledError(absl::StrCat("stopped by ", SignalName(StopSignal())));
      size_t ended = 0;
      for (size_t rank = 0; rank < members_.size(); ++rank) {
        SAIL_RETURN_IF_ERROR(Collect(static_cast<int>(rank), on_line));
        ended += members_[rank].process.exit().has_value();
      }
      const absl::Status cause = Cause();
      if (!cause.ok() && blame_deadline == Clock::time_point::max()) blame_deadline = Clock::now() + kBlameWindow;
      if (ended == members_.size() || Clock::now() > blame_deadline) return cause;
      if (!cause.ok() && !absl::IsUnavailable(cause)) return cause;
      std::this_thread::sleep_for(kPollInterval);
    }
  }

 private:
  struct Member {
    Process process;
    absl::Status error;
  };

  absl::Status Collect(int rank, absl::FunctionRef<absl::Status(int, absl::string_view)> on_line) {
    Member& member = members_[rank];
    const std::optional<ExitInfo> exit = member.process.Poll();  // before reading: what it said is then complete
    for (const std::string& line : member.process.ReadLines()) {
      const absl::StatusOr<WorkerMessage> message = ParseWorkerMessage(line);
      if (message.ok() && std::holds_alternative<absl::Status>(*message)) {
        member.error = std::get<absl::Status>(*message);
      } else {
        SAIL_RETURN_IF_ERROR(on_line(rank, line));
      }
    }
    if (exit && !exit->ok() && member.error.ok()) {
      member.error = absl::InternalError(
          absl::StrCat("rank ", rank, " of the measurement (pid ", member.process.pid(), ") ", Describe(*exit)));
    }
    return absl::OkStatus();
  }

  absl::Status Cause() const {
    absl::Status cause;
    for (const Member& member : members_) {
      if (member.error.ok()) continue;
      if (!absl::IsUnavailable(member.error)) return member.error;
      if (cause.ok()) cause = member.error;
    }
    return cause;
  }

  std::vector<Member> members_;
};

absl::Status MeasureWith(int ranks, const std::vector<std::string>& arguments,
                         absl::FunctionRef<absl::Status(int rank, absl::string_view line)> on_line) {
  SAIL_ASSIGN_OR_RETURN(const ControlStore store, ControlStore::Serve(/*port=*/0, StoreReach::kThisMachine));
  Team team;
  SAIL_RETURN_IF_ERROR(team.Start(store, ranks, arguments));
  return team.Watch(on_line);
}

int ExitCodeOf(const absl::Status& status) {
  return StopSignal() != 0 ? kExitSignal + StopSignal() : absl::IsCancelled(status) ? kExitInternal : kExitEnvironment;
}

// Asked before minutes are spent on measuring.
absl::Status OpenDirectory(const std::string& directory) {
  if (mkdir(directory.c_str(), 0777) != 0 && errno != EEXIST) return ErrnoStatus(errno, "create", directory);
  struct stat info;
  if (stat(directory.c_str(), &info) == 0 && !S_ISDIR(info.st_mode)) return ErrnoStatus(ENOTDIR, "write to", directory);
  if (access(directory.c_str(), W_OK | X_OK) != 0) return ErrnoStatus(errno, "write to", directory);
  return absl::OkStatus();
}

// One line that is overwritten on a terminal; elsewhere one line for every tenth of the way.
class ProgressLine {
 public:
  explicit ProgressLine(size_t total) : total_(total), terminal_(isatty(STDOUT_FILENO) == 1) {}
  void Step() {
    ++done_;
    const bool due = terminal_ || done_ * 10 / total_ != (done_ - 1) * 10 / total_;
    if (!due || !StandardOutputIsReady()) return;
    const std::string line = absl::StrCat("round ", done_, " of ", total_);
    const bool ends = !terminal_ || done_ == total_;
    (void)WriteStandardOutput(absl::StrCat(terminal_ ? "\r\033[K" : "", line, ends ? "\n" : ""));
  }

 private:
  size_t total_;
  size_t done_ = 0;
  bool terminal_;
};

std::string TableOf(const std::vector<ProfileEntry>& entries) {
  std::string text = absl::StrFormat("%-9s  %6s  %11s  %10s  %10s  %10s  %6s\n", "layer", "tensor", "micro-batch",
                                     "forward", "backward", "optimizer", "spread");
  for (const ProfileEntry& entry : entries) {
    absl::StrAppendFormat(&text, "%-9s  %6d  %11d  %7.3f ms  %7.3f ms  %7.3f ms  %4.1f %%\n", ir::ToString(entry.layer),
                          entry.size.tensor, entry.size.micro_batch, entry.seconds.forward * 1e3,
                          entry.seconds.backward * 1e3, entry.seconds.optimizer * 1e3, entry.spread * 100);
  }
  return text;
}

absl::Status MeasureLayers(const LayerProfileOptions& options, const ir::Problem& problem,
                           const std::vector<ir::GpuId>& gpus, const std::vector<ProfileCase>& cases, int ranks) {
  SAIL_RETURN_IF_ERROR(OpenDirectory(options.directory));
  SAIL_RETURN_IF_ERROR(WriteStandardOutput(
      absl::StrCat("measuring ", problem.model.name, " (", ir::ToString(problem.job.precision), ") with ", ranks,
                   ranks == 1 ? " rank" : " ranks at a time", ", one core each\n")));
  std::vector<RoundSamples> samples;
  ProgressLine progress(cases.size() * kProfileRounds);
  SAIL_RETURN_IF_ERROR(
      MeasureWith(ranks, {"--plan", options.plan, "--gpu", options.gpus}, [&](int rank, absl::string_view line) {
        absl::StatusOr<RoundSamples> round = ParseRoundSamples(line);
        if (!round.ok()) return absl::OkStatus();  // printed by a library
        samples.push_back(*std::move(round));
        if (rank == 0) progress.Step();
        return absl::OkStatus();
      }));
  size_t expected = 0;
  for (const ProfileCase& size : cases) expected += kProfileRounds * (ranks / size.tensor * size.tensor);
  if (samples.size() != expected) {
    return absl::InternalError(absl::StrCat("ranks reported ", samples.size(), " of ", expected, " rounds"));
  }
  const std::vector<ProfileEntry> entries = EntriesOf(samples);
  std::string text = TableOf(entries);
  for (const ir::GpuId gpu : gpus) {
    const std::string path = JoinPath(options.directory, problem.cluster.gpus[gpu.index()].name + ".json");
    SAIL_RETURN_IF_ERROR(WriteFileAtomically(path, ProfileText(problem, gpu, entries)));
    absl::StrAppend(&text, "wrote ", path, "\n");
  }
  return WriteStandardOutput(text);
}

absl::Status MeasureLink(const std::string& directory) {
  if (!directory.empty()) SAIL_RETURN_IF_ERROR(OpenDirectory(directory));
  std::vector<sim::LinkSample> samples;
  SAIL_RETURN_IF_ERROR(MeasureWith(/*ranks=*/2, {}, [&](int, absl::string_view line) {
    const absl::StatusOr<sim::LinkSample> sample = sim::ParseLinkSample(line);
    if (sample.ok()) samples.push_back(*sample);
    return absl::OkStatus();
  }));
  SAIL_ASSIGN_OR_RETURN(const sim::LinkFit fit, sim::FitLink(samples));
  std::string text = absl::StrFormat("%-10s  %10s  %12s\n", "operation", "bytes", "seconds");
  for (const sim::LinkSample& sample : samples) {
    absl::StrAppendFormat(&text, "%-10s  %10.0f  %9.3f ms\n", ToString(sample.op), sample.bytes, sample.seconds * 1e3);
  }
  absl::StrAppendFormat(&text, "link rule: latency = %.1f us, bandwidth = %.2f Gbps (off by %.0f %% at most)\n",
                        fit.latency * 1e6, fit.bandwidth * 8e-9, fit.worst_error * 100);
  if (!directory.empty()) {
    const std::string path = JoinPath(directory, "link.json");
    SAIL_RETURN_IF_ERROR(WriteFileAtomically(path, sim::LinkText(fit, samples)));
    absl::StrAppend(&text, "wrote ", path, "\n");
  }
  return WriteStandardOutput(text);
}

}  // namespace

int RunLayerProfile(const LayerProfileOptions& options) {
  CatchStopSignals();
  const absl::StatusOr<ProfilePlan> plan = ReadProfilePlan(options.plan);
  if (!plan.ok()) return Fail(plan.status(), BundleExitCode(plan.status()));
  const absl::StatusOr<std::vector<ir::GpuId>> gpus = GpusToProfile(plan->problem, options.gpus);
  if (!gpus.ok()) return Fail(gpus.status(), kExitUsage);
  const std::vector<ProfileCase> cases = CasesOf(plan->problem, *gpus);
  if (cases.empty()) {
    return Fail(absl::InvalidArgumentError("no machine with these gpus holds a tensor degree of the job"), kExitUsage);
  }
  const int ranks = options.ranks > 0 ? options.ranks : plan->ranks;
  const int largest = cases.back().tensor;
  if (ranks < largest) {
    return Fail(absl::InvalidArgumentError(absl::StrCat("tensor degree ", largest, " needs as many ranks, and ", ranks,
                                                        " are to run; give --ranks")),
                kExitUsage);
  }
  if (const auto cores = static_cast<int>(std::thread::hardware_concurrency()); ranks > cores) {
    std::fprintf(stderr, "sailrun: warning: %d ranks share %d cores, and so are the times measured\n", ranks, cores);
  }
  const absl::Status status = MeasureLayers(options, plan->problem, *gpus, cases, ranks);
  return status.ok() ? kExitDone : Fail(status, ExitCodeOf(status));
}

int RunLinkProfile(const std::string& directory) {
  CatchStopSignals();
  const absl::Status status = MeasureLink(directory);
  return status.ok() ? kExitDone : Fail(status, ExitCodeOf(status));
}

}  // namespace sail::rt
