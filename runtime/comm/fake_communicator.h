// Ranks as threads of one process: the reference implementation of Communicator, for tests.
#pragma once

#include <memory>

#include "compiler/base/units.h"
#include "runtime/comm/communicator.h"

namespace sail::rt {

// The shared memory of all ranks. Keep it alive as long as any communicator.
class FakeNetwork {
 public:
  explicit FakeNetwork(Seconds deadline);
  ~FakeNetwork();

  absl::StatusOr<std::unique_ptr<Communicator>> Connect(const std::vector<ir::Rank>& members, ir::Rank self);

  struct Group;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sail::rt
