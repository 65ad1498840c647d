// The key-value store that controller, agents and workers meet at: c10d's TCPStore, with statuses for exceptions. The
// server lives in the controller, so no worker's death takes it along. Errors are Unavailable and name host and port.
//
//   control/agents/<node>        how many agents have been started for the node: one is allowed
//   control/present/<rank>       the rank is up; it waits for …
//   control/go                   … this, set once all ranks are present: the number of steps to train
//   control/report/<node>/<n>    the n-th batch of events of an agent, removed once read
//   control/stop                 set when all agents are to end their workers
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/base/units.h"
#include "runtime/engine/trainer.h"

namespace c10d {
class TCPStore;
}

namespace sail::rt {

// Who can reach the store. It asks nobody who they are.
enum class StoreReach { kThisMachine, kNetwork };

class ControlStore {
 public:
  // Opens the server on `port`, 0 for any free one. c10d listens on all addresses of this machine; kThisMachine then
  // binds the listening socket to the loopback device, or prints a warning where the kernel does not allow that
  // (before 5.7).
  static absl::StatusOr<ControlStore> Serve(int port, StoreReach reach);
  // Connects to a server, retrying until `timeout` is over.
  static absl::StatusOr<ControlStore> Connect(const StoreAddress& address, Seconds timeout);
  ControlStore(ControlStore&&) = default;
  ~ControlStore();

  const StoreAddress& address() const { return address_; }
  // `value` is not empty: c10d holds replies with an empty value back for 200 ms.
  absl::Status Set(absl::string_view key, absl::string_view value);
  absl::StatusOr<int64_t> Increment(absl::string_view key);  // returns the new count, 1 at first
  absl::StatusOr<bool> Has(absl::string_view key);
  // Reads and removes a value that exists.
  absl::StatusOr<std::string> Take(absl::string_view key);
  // The value of a key; DeadlineExceeded if the key does not appear in time.
  absl::StatusOr<std::string> WaitFor(absl::string_view key, Seconds timeout);

 private:
  ControlStore(std::shared_ptr<c10d::TCPStore> store, StoreAddress address);

  std::shared_ptr<c10d::TCPStore> store_;
  StoreAddress address_;
};

// "127.0.0.1:29500"
std::string ToString(const StoreAddress& address);
// InvalidArgument unless HOST:PORT with a port of 1..65535.
absl::StatusOr<StoreAddress> ParseStoreAddress(absl::string_view text);

}  // namespace sail::rt
