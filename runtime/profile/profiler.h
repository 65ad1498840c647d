// `sailrun profile`: starts ranks of this machine that measure, gathers what they say, writes it in one piece at the
// end. An interrupted measurement leaves no file.
#pragma once

#include <string>

namespace sail::rt {

struct LayerProfileOptions {
  std::string plan;       // a *.sailplan: its model, precision and candidates are measured
  std::string gpus;       // comma-separated names; empty: the only one that the plan's pools have
  std::string directory;  // of <gpu>.json; created if its parent exists
  int ranks = 0;          // processes that compute at the same time; 0: as many as the plan has ranks
};
// Both return the exit code of sailrun (docs/thread_model.md).
int RunLayerProfile(const LayerProfileOptions& options);

// Prints the `link` rule of this machine's loopback; writes `directory`/link.json unless that is empty.
int RunLinkProfile(const std::string& directory);

}  // namespace sail::rt
