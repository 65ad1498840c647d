// Deadlines on this process's own monotonic clock. No time is ever compared between machines.
#pragma once

#include <chrono>

#include "compiler/base/units.h"

namespace sail::rt {

using Clock = std::chrono::steady_clock;

inline Clock::duration ToDuration(Seconds time) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(time.value()));
}
inline Clock::time_point After(Seconds time) { return Clock::now() + ToDuration(time); }

inline constexpr std::chrono::milliseconds kPollInterval{20};     // of processes and the controller's view of the store
inline constexpr std::chrono::milliseconds kReportInterval{100};  // between an agent's visits to the store
inline constexpr std::chrono::seconds kHeartbeatInterval{1};      // an agent with nothing to say reports that
inline constexpr std::chrono::seconds kAgentTimeout{10};          // without a report an agent is lost
inline constexpr std::chrono::seconds kBlameWindow{2};            // from "peer vanished" to naming a cause

}  // namespace sail::rt
