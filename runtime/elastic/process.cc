#include "runtime/elastic/process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "compiler/base/file_system.h"

extern char** environ;

namespace sail::rt {
namespace {

std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& string : strings) pointers.push_back(string.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> MergedEnvironment(const std::map<std::string, std::string>& added) {
  std::map<std::string, std::string> merged = added;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::vector<std::string> parts = absl::StrSplit(*entry, absl::MaxSplits('=', 1));
    if (parts.size() == 2) merged.emplace(parts[0], parts[1]);  // `added` wins
  }
  std::vector<std::string> list;
  for (const auto& [key, value] : merged) list.push_back(absl::StrCat(key, "=", value));
  return list;
}

// Runs in the child between fork and exec: other threads of the parent may hold any lock, so system calls only.
[[noreturn]] void ExecuteChild(pid_t parent, int stdout_fd, int stderr_fd, const char* program, char* const* argv,
                               char* const* envp) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);  // the parent died before prctl: no signal will come
  const int null_fd = open("/dev/null", O_RDONLY);
  dup2(null_fd, STDIN_FILENO);
  if (stdout_fd >= 0) dup2(stdout_fd, STDOUT_FILENO);
  if (stderr_fd >= 0) dup2(stderr_fd, STDERR_FILENO);
  close_range(3, ~0U, 0);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGALRM}) ::signal(signal, SIG_DFL);
  execve(program, argv, envp);
  _exit(127);
}

}  // namespace

std::string SignalName(int signal) {
  const char* name = sigabbrev_np(signal);
  return name == nullptr ? absl::StrCat("signal ", signal) : absl::StrCat("SIG", name);
}

std::string Describe(const ExitInfo& exit) {
  if (exit.signal != 0) return absl::StrCat("was killed by ", SignalName(exit.signal));
  return absl::StrCat("ended with exit code ", exit.code);
}

absl::StatusOr<Process> Process::Start(const ProcessOptions& options) {
  std::vector<std::string> arguments = options.arguments;
  arguments.insert(arguments.begin(), "sailrun");
  std::vector<std::string> environment = MergedEnvironment(options.environment);
  const std::vector<char*> argv = Pointers(arguments), envp = Pointers(environment);
  char program[PATH_MAX] = {};  // by its path, so that process lists show its name
  if (readlink("/proc/self/exe", program, sizeof(program) - 1) < 0) return ErrnoStatus(errno, "find this executable");

  int stderr_fd = -1;
  if (!options.stderr_file.empty()) {
    stderr_fd = open(options.stderr_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (stderr_fd < 0) return ErrnoStatus(errno, "write", options.stderr_file);
  }
  int pipe_fds[2] = {-1, -1};
  if (options.capture_stdout && pipe2(pipe_fds, O_CLOEXEC) != 0) {
    const absl::Status status = ErrnoStatus(errno, "create a pipe");  // before close() changes errno
    if (stderr_fd >= 0) close(stderr_fd);
    return status;
  }
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) ExecuteChild(parent, pipe_fds[1], stderr_fd, program, argv.data(), envp.data());
  const absl::Status status = pid < 0 ? ErrnoStatus(errno, "start a process") : absl::OkStatus();
  if (stderr_fd >= 0) close(stderr_fd);
  if (pipe_fds[1] >= 0) close(pipe_fds[1]);
  if (!status.ok()) {
    if (pipe_fds[0] >= 0) close(pipe_fds[0]);
    return status;
  }
  setpgid(pid, pid);  // also here: whoever comes first, the group exists before it is signalled
  if (pipe_fds[0] >= 0) fcntl(pipe_fds[0], F_SETFL, O_NONBLOCK);
  return Process(pid, pipe_fds[0]);
}

Process::Process(Process&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      stdout_fd_(std::exchange(other.stdout_fd_, -1)),
      exit_(other.exit_),
      partial_line_(std::move(other.partial_line_)) {}

Process::~Process() {
  if (pid_ > 0 && !exit_) {
    Signal(SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  if (stdout_fd_ >= 0) close(stdout_fd_);
}

const std::optional<ExitInfo>& Process::Poll() {
  int status = 0;
  if (!exit_ && waitpid(pid_, &status, WNOHANG) == pid_) {
    exit_ = WIFSIGNALED(status) ? ExitInfo{.signal = WTERMSIG(status)} : ExitInfo{.code = WEXITSTATUS(status)};
  }
  return exit_;
}

std::vector<std::string> Process::ReadLines() {
  char buffer[1 << 16];
  ssize_t got = 0;
  while (stdout_fd_ >= 0 && (got = read(stdout_fd_, buffer, sizeof(buffer))) > 0) {
    partial_line_.append(buffer, static_cast<size_t>(got));
  }
  if (got == 0 && stdout_fd_ >= 0) close(std::exchange(stdout_fd_, -1));  // end of file
  std::vector<std::string> lines = absl::StrSplit(partial_line_, '\n');
  partial_line_ = lines.back();
  lines.pop_back();
  return lines;
}

void Process::Signal(int signal) {
  if (exit_) return;
  kill(-pid_, signal);
  if (signal == SIGTERM) kill(-pid_, SIGCONT);
}

}  // namespace sail::rt
