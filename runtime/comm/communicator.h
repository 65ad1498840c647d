// Moves tensors within one group of ranks. Implementations: GlooCommunicator (processes), FakeCommunicator (threads of
// one process, for tests); tests/unit/runtime/comm runs one conformance suite over both.
//
// Rules, the same for all implementations:
//   - Tensors are contiguous and of a dtype the backend knows (float, double, int64).
//   - Collectives are called by all members in the same order. Sends and receives match by (sender, receiver, tag), in
//     order among equal tags; different tags may be received in any order.
//   - After any collective every member holds the same bits.
//   - Every wait ends at the group's deadline. Errors are Unavailable and name the ranks that are waited for.
//   - The first error breaks the group: its connections are dropped at once, so that no peer waits for this rank, and
//     every later call returns that first error. A group is never reused after an error.
// A communicator belongs to one thread.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "ATen/core/Tensor.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "compiler/ir/placement.h"

namespace sail::rt {

enum class Reduction { kSum, kMax };

// A send or receive under way. It keeps its tensor alive.
class Transfer {
 public:
  virtual ~Transfer() = default;
  virtual absl::Status Wait() = 0;  // call once; after it the tensor may be reused or read
};

class Communicator {
 public:
  virtual ~Communicator() = default;

  // Members in ascending order of their rank in the plan. "Member i" below is an index into this list.
  const std::vector<ir::Rank>& members() const { return members_; }
  int size() const { return static_cast<int>(members_.size()); }
  int index() const { return index_; }  // this rank's
  int IndexOf(ir::Rank rank) const;     // of a rank that is a member

  // The first error of this group. Calls inside an autograd graph, where no status can be returned, are checked here.
  const absl::Status& status() const { return status_; }

  // In place.
  virtual absl::Status AllReduce(at::Tensor tensor, Reduction reduction) = 0;
  virtual absl::Status Broadcast(at::Tensor tensor, int root) = 0;
  // parts[i] is member i's: this rank's is sent, the others are filled. Parts may have different shapes.
  absl::Status AllGather(absl::Span<const at::Tensor> parts);
  virtual absl::Status Barrier() = 0;

  // Starts a transfer from or to member `peer`. A failure to start is returned by Wait.
  virtual std::unique_ptr<Transfer> Send(at::Tensor tensor, int peer, int tag) = 0;
  virtual std::unique_ptr<Transfer> Receive(at::Tensor tensor, int peer, int tag) = 0;

 protected:
  Communicator(std::vector<ir::Rank> members, ir::Rank self);
  // Keeps the first error. Returns the kept status.
  const absl::Status& Keep(absl::Status status);

 private:
  std::vector<ir::Rank> members_;
  int index_ = 0;
  absl::Status status_;
};

// Connects this rank with the other members; blocks until all of them have called. Ranks that share several groups must
// connect them in one order, or they wait for each other until the deadline.
using ConnectGroup =
    std::function<absl::StatusOr<std::unique_ptr<Communicator>>(const std::vector<ir::Rank>& members, ir::Rank self)>;

// "ranks 0, 2 and 3"
std::string RankList(absl::Span<const ir::Rank> ranks);

}  // namespace sail::rt
