#include "runtime/elastic/watchdog.h"

#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstring>

#include "runtime/elastic/exit_code.h"
#include "runtime/elastic/stop_signals.h"

namespace sail::rt {
namespace {

const char* volatile last_words = "";

}  // namespace

void EndAfterSilence(Seconds deadline, const char* error) {
  last_words = error;
  std::signal(SIGALRM, [](int) {
    const char* const text = last_words;
    (void)!write(STDERR_FILENO, text, std::strlen(text));
    _exit(StopSignal() == 0 ? kExitEnvironment : kExitSignal + StopSignal());
  });
  alarm(static_cast<unsigned>(std::ceil(deadline.value())));
}

void EndNoMore() { alarm(0); }

}  // namespace sail::rt
