// One side of the border between two neighbouring stages, as one tensor rank sees it.
//
// A stage of tensor degree s hands [sequence, micro-batch, hidden] to one of degree r; every rank of either stage holds
// the whole tensor. It is cut along the sequence into max(s, r) slices, as equal as can be; slice k travels from rank
// k mod s to rank k mod r, and the receivers share their slices in the tensor group. So every byte crosses once.
// Gradients return the same way.
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <vector>

#include "ATen/core/Tensor.h"
#include "absl/status/statusor.h"
#include "compiler/ir/placement.h"
#include "runtime/comm/communicator.h"

namespace sail::rt {

enum class Direction { kActivation = 0, kGradient = 1 };

class Boundary {
 public:
  struct Options {
    std::vector<ir::Rank> here;                // tensor group of this rank's stage
    std::vector<ir::Rank> there;               // tensor group of the neighbour
    Direction sends = Direction::kActivation;  // what goes out; the other comes in
    int micro_batches = 0;
    std::vector<int64_t> shape;  // [sequence, micro-batch, hidden]
    at::ScalarType type = at::kFloat;
    Communicator* all = nullptr;     // all ranks
    Communicator* tensor = nullptr;  // this rank's tensor group, null for a degree of one
  };
  explicit Boundary(Options options);

  // Posts the receive of micro-batch 0. Call once per iteration, before any Receive.
  void Start();
  // Starts to send this rank's slices of micro-batch k. Blocks only when k - 2 has not been taken yet, which bounds the
  // memory of tensors under way; the neighbour takes it without waiting for anything that this rank does later.
  absl::Status Send(int k, const at::Tensor& tensor);
  // The whole tensor of micro-batch k = 0, 1, … in order. The receive of k + 1 is posted before this returns.
  absl::StatusOr<at::Tensor> Receive(int k);
  // Waits until everything sent has been taken. Call once per iteration, after the last Send.
  absl::Status Finish();

 private:
  using Transfers = std::vector<std::unique_ptr<Transfer>>;

  int slices() const { return static_cast<int>(std::max(options_.here.size(), options_.there.size())); }
  at::Tensor Slice(const at::Tensor& whole, int slice) const;
  int Tag(int k, Direction direction, int slice) const;
  void Post(int k);
  absl::Status WaitForOldest();

  Options options_;
  int tensor_rank_;
  std::deque<Transfers> sent_;
  at::Tensor incoming_;
  Transfers posted_;
};

}  // namespace sail::rt
