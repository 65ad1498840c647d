#include "runtime/elastic/stop_signals.h"

#include <unistd.h>

#include <csignal>
#include <initializer_list>

namespace sail::rt {
namespace {

volatile std::sig_atomic_t stop_signal = 0;
constexpr unsigned kPatience = 5;  // seconds

}  // namespace

void CatchStopSignals() {
  struct sigaction action = {};
  action.sa_handler = [](int signal) {
    if (stop_signal != 0) return;
    stop_signal = signal;
    alarm(kPatience);
  };
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

int StopSignal() { return stop_signal; }

}  // namespace sail::rt
