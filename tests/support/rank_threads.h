// Ranks as threads of one process.
#pragma once

#include <functional>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "compiler/ir/placement.h"

namespace sail::test {

// Runs `body` for ranks 0..count-1, one thread each, and returns their statuses.
inline std::vector<absl::Status> RunRanks(int count, const std::function<absl::Status(ir::Rank)>& body) {
  std::vector<absl::Status> results(count);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < count; ++rank) {
    threads.emplace_back([&, rank] { results[rank] = body(ir::Rank(rank)); });
  }
  for (std::thread& thread : threads) thread.join();
  return results;
}

}  // namespace sail::test
