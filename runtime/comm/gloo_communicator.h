// Communicator over c10d's ProcessGroupGloo (LibTorch 1.13). The only file that knows c10d's process groups.
#pragma once

#include <memory>
#include <string>

#include "compiler/base/units.h"
#include "runtime/comm/communicator.h"

namespace sail::rt {

// How the ranks of a run find each other. Creating one makes the process ignore SIGPIPE.
class GlooNetwork {
 public:
  // A client of the store that a controller serves at host:port. `deadline` bounds the connection, every rendezvous of
  // a group, and every transfer and collective.
  static absl::StatusOr<GlooNetwork> Create(const std::string& host, int port, Seconds deadline);
  // Ranks that are threads of one process share a store in memory.
  static absl::StatusOr<GlooNetwork> CreateInProcess(Seconds deadline);
  GlooNetwork(const GlooNetwork&);
  ~GlooNetwork();

  absl::StatusOr<std::unique_ptr<Communicator>> Connect(const std::vector<ir::Rank>& members, ir::Rank self) const;

  struct State;

 private:
  explicit GlooNetwork(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace sail::rt
