#include "runtime/engine/boundary.h"

#include <algorithm>
#include <utility>

#include "ATen/ops/empty.h"
#include "compiler/base/check.h"
#include "compiler/base/status_macros.h"

namespace sail::rt {
namespace {

constexpr size_t kUnderWay = 2;  // micro-batches whose sends may be unfinished

}  // namespace

Boundary::Boundary(Options options) : options_(std::move(options)) {
  tensor_rank_ = options_.tensor == nullptr ? 0 : options_.tensor->index();
}

at::Tensor Boundary::Slice(const at::Tensor& whole, int slice) const {
  const int64_t length = options_.shape[0];
  const int64_t first = length * slice / slices();
  return whole.narrow(0, first, length * (slice + 1) / slices() - first);
}

int Boundary::Tag(int k, Direction direction, int slice) const {
  return (2 * k + static_cast<int>(direction)) * slices() + slice;
}

void Boundary::Post(int k) {
  incoming_ = at::empty(options_.shape, options_.type);
  const Direction direction = options_.sends == Direction::kActivation ? Direction::kGradient : Direction::kActivation;
  for (int slice = tensor_rank_; slice < slices(); slice += static_cast<int>(options_.here.size())) {
    const ir::Rank sender = options_.there[slice % options_.there.size()];
    posted_.push_back(
        options_.all->Receive(Slice(incoming_, slice), options_.all->IndexOf(sender), Tag(k, direction, slice)));
  }
}

void Boundary::Start() { Post(0); }

absl::Status Boundary::WaitForOldest() {
  for (const std::unique_ptr<Transfer>& transfer : sent_.front()) SAIL_RETURN_IF_ERROR(transfer->Wait());
  sent_.pop_front();
  return absl::OkStatus();
}

absl::Status Boundary::Send(int k, const at::Tensor& tensor) {
  if (sent_.size() == kUnderWay) SAIL_RETURN_IF_ERROR(WaitForOldest());
  Transfers transfers;
  for (int slice = tensor_rank_; slice < slices(); slice += static_cast<int>(options_.here.size())) {
    const ir::Rank receiver = options_.there[slice % options_.there.size()];
    transfers.push_back(options_.all->Send(Slice(tensor, slice).contiguous(), options_.all->IndexOf(receiver),
                                           Tag(k, options_.sends, slice)));
  }
  sent_.push_back(std::move(transfers));
  return absl::OkStatus();
}

absl::StatusOr<at::Tensor> Boundary::Receive(int k) {
  for (const std::unique_ptr<Transfer>& transfer : posted_) SAIL_RETURN_IF_ERROR(transfer->Wait());
  posted_.clear();
  at::Tensor whole = std::exchange(incoming_, at::Tensor());
  if (k + 1 < options_.micro_batches) Post(k + 1);
  if (options_.tensor != nullptr) {
    // Slices lie in rounds of one slice per tensor rank.
    const auto degree = static_cast<int>(options_.here.size());
    for (int first = 0; first < slices(); first += degree) {
      std::vector<at::Tensor> parts;
      for (int i = 0; i < degree; ++i) parts.push_back(Slice(whole, first + i));
      SAIL_RETURN_IF_ERROR(options_.tensor->AllGather(parts));
    }
  }
  return whole;
}

absl::Status Boundary::Finish() {
  while (!sent_.empty()) SAIL_RETURN_IF_ERROR(WaitForOldest());
  return absl::OkStatus();
}

}  // namespace sail::rt
