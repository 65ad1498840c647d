// `sailrun BUNDLE` and `sailrun controller`: keeps the store and the picture of all ranks, starts nothing but agents,
// trains nothing. Decides when a run has begun, is done or has failed, and tells the user once.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/elastic/progress.h"

namespace sail::rt {

enum class AgentStart {
  kHere,       // one agent per node, all on this machine
  kElsewhere,  // launch.sh on each node; the address to give them is printed
};

struct ControllerOptions {
  std::string bundle;
  std::string metrics;  // metrics.jsonl; logs lie beside it
  int64_t steps = 0;    // 0: as many as the job says
  int port = 0;         // of the store; 0: any free one
  Verbosity verbosity = Verbosity::kProgress;
  AgentStart agents = AgentStart::kHere;
};

// Runs until all ranks are done, one has failed or a stop signal arrives; then no process it started is left. Errors go
// to stderr. Returns the exit code (exit_code.h).
int RunController(const ControllerOptions& options);

}  // namespace sail::rt
