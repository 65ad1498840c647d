#include "runtime/elastic/standard_output.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>

#include "compiler/base/file_system.h"
#include "runtime/elastic/clock.h"
#include "runtime/elastic/stop_signals.h"

namespace sail::rt {
namespace {

// False if a write would still wait after `patience`. A broken output is ready: the write says what is wrong.
bool IsReady(std::chrono::milliseconds patience) {
  pollfd output = {STDOUT_FILENO, POLLOUT, 0};
  return poll(&output, 1, static_cast<int>(patience.count())) > 0;
}

}  // namespace

bool StandardOutputIsReady() { return IsReady(std::chrono::milliseconds(0)); }

absl::Status WriteStandardOutput(absl::string_view text) {
  while (!text.empty()) {
    if (!IsReady(kPollInterval)) {
      if (StopSignal() == 0) continue;
      return absl::UnavailableError("cannot write to standard output: nobody reads it");
    }
    const ssize_t written = write(STDOUT_FILENO, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<size_t>(written));
    } else if (errno != EINTR && errno != EAGAIN) {
      return ErrnoStatus(errno, "write to standard output");
    }
  }
  return absl::OkStatus();
}

void OccupyStandardDescriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // The lowest number that is free is `fd`. Read-only, so that writes fail.
    if (fcntl(fd, F_GETFD) < 0) (void)!open("/dev/null", O_RDONLY);
  }
}

}  // namespace sail::rt
