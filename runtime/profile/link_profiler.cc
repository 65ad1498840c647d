#include "runtime/profile/link_profiler.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

#include "ATen/Parallel.h"
#include "ATen/ops/empty_like.h"
#include "ATen/ops/zeros.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/status_macros.h"
#include "runtime/comm/gloo_communicator.h"
#include "runtime/profile/measurements.h"
#include "runtime/torch_boundary.h"

namespace sail::rt {
namespace {

constexpr int64_t kSmallest = 4096;  // bytes
constexpr Seconds kDeadline(60);     // of one operation

// There and back, so that one clock is enough: half of it is one way. The receive is posted before the send, as
// engine/boundary.cc does.
absl::Status SendAndReturn(Communicator& group, const at::Tensor& tensor) {
  const int peer = 1 - group.index();
  const at::Tensor incoming = at::empty_like(tensor);
  const std::unique_ptr<Transfer> received = group.Receive(incoming, peer, /*tag=*/0);
  if (group.index() == 1) SAIL_RETURN_IF_ERROR(received->Wait());
  const std::unique_ptr<Transfer> sent = group.Send(tensor, peer, /*tag=*/0);
  if (group.index() == 0) SAIL_RETURN_IF_ERROR(received->Wait());
  return sent->Wait();
}

// Packs, sums and unpacks, as engine/gradient_sync.cc does with a bucket.
absl::Status SumGradients(Communicator& group, const at::Tensor& gradient) {
  const at::Tensor packed = gradient.clone();
  SAIL_RETURN_IF_ERROR(group.AllReduce(packed, Reduction::kSum));
  gradient.copy_(packed);
  return absl::OkStatus();
}

// Median over repetitions that start together. Few bytes are repeated more often: their times scatter more.
absl::StatusOr<double> Time(Communicator& group, int64_t bytes, absl::FunctionRef<absl::Status()> operation) {
  const int repetitions = static_cast<int>(std::clamp<int64_t>((int64_t{256} << 20) / bytes, 15, 101));
  std::vector<double> seconds;
  for (int i = -3; i < repetitions; ++i) {
    SAIL_RETURN_IF_ERROR(group.Barrier());
    const auto start = std::chrono::steady_clock::now();
    SAIL_RETURN_IF_ERROR(operation());
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    if (i >= 0) seconds.push_back(passed.count());
  }
  return Median(std::move(seconds));
}

absl::Status Measure(Communicator& group, const std::function<absl::Status(const sim::LinkSample&)>& on_sample) {
  int64_t bytes = kSmallest;
  for (int i = 0; i < kLinkSizes; ++i, bytes *= 4) {
    const at::Tensor tensor = at::zeros({bytes / 4}, at::kFloat);
    SAIL_ASSIGN_OR_RETURN(const double both_ways, Time(group, bytes, [&] { return SendAndReturn(group, tensor); }));
    SAIL_ASSIGN_OR_RETURN(const double sum, Time(group, bytes, [&] { return SumGradients(group, tensor); }));
    if (group.index() != 0) continue;
    const auto size = static_cast<double>(bytes);
    SAIL_RETURN_IF_ERROR(on_sample({.op = sim::LinkOp::kSend, .bytes = size, .seconds = both_ways / 2}));
    SAIL_RETURN_IF_ERROR(on_sample({.op = sim::LinkOp::kAllReduce, .bytes = size, .seconds = sum}));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ProfileLink(const ProfileRank& self, const std::function<absl::Status(const sim::LinkSample&)>& on_sample) {
  SAIL_ASSIGN_OR_RETURN(const GlooNetwork network, GlooNetwork::Create(self.store.host, self.store.port, kDeadline));
  return CatchTorch(absl::StatusCode::kInternal, absl::StrCat("rank ", self.rank.index()), [&]() -> absl::Status {
    at::set_num_threads(1);  // as in TrainRank
    SAIL_ASSIGN_OR_RETURN(const std::unique_ptr<Communicator> group,
                          network.Connect({ir::Rank(0), ir::Rank(1)}, self.rank));
    return Measure(*group, on_sample);
  });
}

}  // namespace sail::rt
