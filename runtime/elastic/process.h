// Child processes that cannot outlive us: each dies with the process that started it (PR_SET_PDEATHSIG), whatever kills
// that one. Start processes from the main thread only: the kernel ties the signal to the starting thread.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace sail::rt {

struct ProcessOptions {
  std::vector<std::string> arguments;              // of this same executable, without the program name
  std::map<std::string, std::string> environment;  // added to ours
  std::string stderr_file;                         // truncated; empty: our own stderr
  bool capture_stdout = false;                     // into Process::ReadLines; otherwise our own stdout
};

// How a process ended.
struct ExitInfo {
  int code = 0;    // exit code, when signal is 0
  int signal = 0;  // the signal that ended it
  bool ok() const { return code == 0 && signal == 0; }
};
// "was killed by SIGKILL" or "ended with exit code 7".
std::string Describe(const ExitInfo& exit);
std::string SignalName(int signal);  // "SIGKILL"

// One child, in a process group of its own, so that a terminal's Ctrl-C reaches only the controller.
class Process {
 public:
  // Unavailable or NotFound with the reason if the child cannot be started or its stderr file cannot be written.
  static absl::StatusOr<Process> Start(const ProcessOptions& options);
  Process(Process&& other) noexcept;
  Process& operator=(Process&&) = delete;
  // Kills and reaps the process if it still runs.
  ~Process();

  pid_t pid() const { return pid_; }
  int stdout_fd() const { return stdout_fd_; }  // -1 unless captured
  // Reaps the child if it has ended; never blocks. Stays set from then on.
  const std::optional<ExitInfo>& Poll();
  const std::optional<ExitInfo>& exit() const { return exit_; }
  // Whole lines that the child has printed since the last call, without line ends; never blocks.
  std::vector<std::string> ReadLines();
  // To the process and its group; nothing if it has ended. A stopped process is continued so that it can act on
  // SIGTERM.
  void Signal(int signal);

 private:
  Process(pid_t pid, int stdout_fd) : pid_(pid), stdout_fd_(stdout_fd) {}

  pid_t pid_;
  int stdout_fd_;
  std::optional<ExitInfo> exit_;
  std::string partial_line_;
};

}  // namespace sail::rt
