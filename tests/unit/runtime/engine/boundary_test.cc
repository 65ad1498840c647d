#include "runtime/engine/boundary.h"

#include <atomic>
#include <set>

#include "ATen/TensorOperators.h"
#include "ATen/ops/arange.h"
#include "compiler/base/status_macros.h"
#include "gtest/gtest.h"
#include "runtime/comm/fake_communicator.h"
#include "tests/support/rank_threads.h"

namespace sail::rt {
namespace {

constexpr int64_t kSequence = 13;  // divisible by no degree
constexpr int64_t kMicroBatch = 3;
constexpr int64_t kHidden = 2;
constexpr int kMicroBatches = 5;

// Passes on to another communicator and counts the elements that are sent from rank to rank.
class CountingCommunicator : public Communicator {
 public:
  CountingCommunicator(std::unique_ptr<Communicator> inner, ir::Rank self, std::atomic<int64_t>* sent)
      : Communicator(inner->members(), self), inner_(std::move(inner)), sent_(sent) {}
  absl::Status AllReduce(at::Tensor tensor, Reduction reduction) override {
    return inner_->AllReduce(tensor, reduction);
  }
  absl::Status Broadcast(at::Tensor tensor, int root) override { return inner_->Broadcast(tensor, root); }
  absl::Status Barrier() override { return inner_->Barrier(); }
  std::unique_ptr<Transfer> Send(at::Tensor tensor, int peer, int tag) override {
    *sent_ += tensor.numel();
    return inner_->Send(tensor, peer, tag);
  }
  std::unique_ptr<Transfer> Receive(at::Tensor tensor, int peer, int tag) override {
    return inner_->Receive(tensor, peer, tag);
  }

 private:
  std::unique_ptr<Communicator> inner_;
  std::atomic<int64_t>* sent_;
};

std::vector<ir::Rank> Range(int first, int count) {
  std::vector<ir::Rank> ranks;
  for (int i = 0; i < count; ++i) ranks.push_back(ir::Rank(first + i));
  return ranks;
}

// A tensor that tells direction, micro-batch and place of each element.
at::Tensor Pattern(Direction direction, int k) {
  return at::arange(kSequence * kMicroBatch * kHidden, at::kDouble).view({kSequence, kMicroBatch, kHidden}) + 1000 * k +
         (direction == Direction::kGradient ? 0.5 : 0);
}

class BoundaryTest : public ::testing::TestWithParam<std::tuple<int, int>> {};
INSTANTIATE_TEST_SUITE_P(Degrees, BoundaryTest,
                         ::testing::Combine(::testing::Values(1, 2, 4, 8), ::testing::Values(1, 2, 4, 8)));

// Gradients too: a slice lost on the way back, as when receive buffers are shared, changes the pattern.
TEST_P(BoundaryTest, EveryRankGetsTheWholeTensorAndEveryByteCrossesOnce) {
  const auto [senders, receivers] = GetParam();
  const std::vector<ir::Rank> before = Range(0, senders);
  const std::vector<ir::Rank> after = Range(senders, receivers);
  const std::vector<ir::Rank> everyone = Range(0, senders + receivers);
  FakeNetwork network(Seconds(20));
  std::atomic<int64_t> sent = 0;

  const auto results = test::RunRanks(senders + receivers, [&](ir::Rank self) -> absl::Status {
    const bool is_sender = self.index() < senders;
    const std::vector<ir::Rank>& here = is_sender ? before : after;
    SAIL_ASSIGN_OR_RETURN(std::unique_ptr<Communicator> inner, network.Connect(everyone, self));
    CountingCommunicator all(std::move(inner), self, &sent);
    std::unique_ptr<Communicator> tensor;
    if (here.size() > 1) {
      SAIL_ASSIGN_OR_RETURN(tensor, network.Connect(here, self));
    }
    const Direction sends = is_sender ? Direction::kActivation : Direction::kGradient;
    const Direction receives = is_sender ? Direction::kGradient : Direction::kActivation;
    Boundary boundary({.here = here,
                       .there = is_sender ? after : before,
                       .sends = sends,
                       .micro_batches = kMicroBatches,
                       .shape = {kSequence, kMicroBatch, kHidden},
                       .type = at::kDouble,
                       .all = &all,
                       .tensor = tensor.get()});
    boundary.Start();
    for (int k = 0; k < kMicroBatches; ++k) {
      if (is_sender) SAIL_RETURN_IF_ERROR(boundary.Send(k, Pattern(sends, k)));
      SAIL_ASSIGN_OR_RETURN(const at::Tensor got, boundary.Receive(k));
      EXPECT_TRUE(got.equal(Pattern(receives, k))) << "rank " << self.index() << ", micro-batch " << k;
      if (!is_sender) SAIL_RETURN_IF_ERROR(boundary.Send(k, Pattern(sends, k)));
    }
    SAIL_RETURN_IF_ERROR(boundary.Finish());
    return all.Barrier();
  });
  for (const absl::Status& result : results) EXPECT_TRUE(result.ok()) << result.ToString();
  EXPECT_EQ(sent, 2 * kMicroBatches * kSequence * kMicroBatch * kHidden);
}

}  // namespace
}  // namespace sail::rt
