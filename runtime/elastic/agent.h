// `sailrun agent`: one node. Starts the node's workers, forwards what they say to the controller, and ends them when
// the controller says so, when it is told to end itself, or when the controller's store does not answer.
#pragma once

#include <string>

#include "runtime/elastic/worker.h"

namespace sail::rt {

struct AgentOptions {
  std::string bundle;
  std::string node;
  StoreAddress store;
  std::string log_directory;  // rank-N.log, the stderr of each worker
};

// Returns the exit code: 0 if every worker ended well, 128 + signal after SIGINT or SIGTERM, else 6 or 7.
int RunAgent(const AgentOptions& options);

}  // namespace sail::rt
