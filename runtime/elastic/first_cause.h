// Which of many errors to show. When one rank dies its peers fail too, often before its death is noticed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "runtime/elastic/events.h"

namespace sail::rt {

// What the controller knows of one rank.
struct RankState {
  int pid = 0;  // 0: not started
  int64_t last_step = 0;
  absl::Status error;  // its own words
  std::optional<WorkerExited> exit;
};

struct Cause {
  std::string message;
  std::string log_tail;
  int exit_code = 0;
  bool certain = false;  // false: peers vanished, but no rank is known to have died; waiting may tell more
};

// Names rank, node, GPU, process and last step. Order of causes, and by rank within one:
//   1 ended by a signal nobody here sent, or without a word   2 own error   3 its node was told to stop
//   4 ranks that still run but keep the others waiting        5 peers vanished (Unavailable), nobody left to blame
// nullopt if every rank is well. `Rank i` is `ranks[i]`.
std::optional<Cause> FirstCause(const Bundle& bundle, const std::vector<RankState>& ranks);

// "rank 2 (node slow-0, gpu 0, pid 4711)"
std::string DescribeRank(const Bundle& bundle, ir::Rank rank, int pid);
// Ascending numbers as "0, 4-7".
std::string Ranges(const std::vector<int>& numbers);

}  // namespace sail::rt
