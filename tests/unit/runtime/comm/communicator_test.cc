// The conformance suite of Communicator. Tensors hold small integers, so sums are exact in any order.
#include <chrono>

#include "ATen/ops/arange.h"
#include "ATen/ops/full.h"
#include "ATen/ops/zeros.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/status_macros.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/comm/fake_communicator.h"
#include "runtime/comm/gloo_communicator.h"
#include "tests/support/rank_threads.h"

namespace sail::rt {
namespace {

using ::testing::HasSubstr;

std::vector<ir::Rank> Ranks(const std::vector<int>& indices) {
  std::vector<ir::Rank> ranks;
  for (const int index : indices) ranks.push_back(ir::Rank(index));
  return ranks;
}

ConnectGroup FakeConnector(Seconds deadline) {
  auto network = std::make_shared<FakeNetwork>(deadline);
  return [network](const std::vector<ir::Rank>& members, ir::Rank self) { return network->Connect(members, self); };
}

ConnectGroup GlooConnector(Seconds deadline) {
  const absl::StatusOr<GlooNetwork> network = GlooNetwork::CreateInProcess(deadline);
  SAIL_CHECK(network.ok()) << network.status().ToString();
  return [network = *network](const std::vector<ir::Rank>& members, ir::Rank self) {
    return network.Connect(members, self);
  };
}

at::Tensor Filled(double value, int64_t size, at::ScalarType type) { return at::full({size}, value, type); }

bool Holds(const at::Tensor& tensor, double value) { return tensor.eq(value).all().item<bool>(); }

absl::Status Expect(bool condition, absl::string_view claim) {
  return condition ? absl::OkStatus() : absl::InternalError(claim);
}

class CommunicatorTest : public ::testing::TestWithParam<const char*> {
 protected:
  ConnectGroup Connector(Seconds deadline = Seconds(20)) const {
    return GetParam() == absl::string_view("fake") ? FakeConnector(deadline) : GlooConnector(deadline);
  }
  void RunAll(int count, const std::function<absl::Status(Communicator&)>& body) {
    const ConnectGroup connect = Connector();
    std::vector<ir::Rank> all;
    for (int i = 0; i < count; ++i) all.push_back(ir::Rank(i));
    const auto results = test::RunRanks(count, [&](ir::Rank self) -> absl::Status {
      SAIL_ASSIGN_OR_RETURN(const std::unique_ptr<Communicator> group, connect(all, self));
      SAIL_RETURN_IF_ERROR(body(*group));
      return group->Barrier();
    });
    for (const absl::Status& result : results) EXPECT_TRUE(result.ok()) << result.ToString();
  }
};

INSTANTIATE_TEST_SUITE_P(Backends, CommunicatorTest, ::testing::Values("fake", "gloo"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(CommunicatorTest, AllReduceSumsExactly) {
  // Rank r contributes 10^r: 1 + 10 + 100 + 1000 = 1111. 1, 3 and 100 001 elements: fewer and more than ranks, not
  // divisible by them.
  for (const int64_t size : {1, 3, 100'001}) {
    for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kLong}) {
      RunAll(4, [&](Communicator& group) -> absl::Status {
        at::Tensor tensor = Filled(std::pow(10, group.index()), size, type);
        SAIL_RETURN_IF_ERROR(group.AllReduce(tensor, Reduction::kSum));
        return Expect(Holds(tensor, 1111), absl::StrCat("sum of ", size, " elements"));
      });
    }
  }
}

TEST_P(CommunicatorTest, AllReduceGivesEveryMemberTheSameBits) {
  // Sums that depend on their order: if members added in different orders, the bits would differ.
  std::vector<at::Tensor> results(4);
  RunAll(4, [&](Communicator& group) -> absl::Status {
    at::Tensor tensor = at::arange(1, 1001, at::kFloat).reciprocal().mul(1.0 / (3 * group.index() + 1)).contiguous();
    results[group.index()] = tensor;
    return group.AllReduce(tensor, Reduction::kSum);
  });
  for (const at::Tensor& result : results) EXPECT_TRUE(result.equal(results[0]));
}

TEST_P(CommunicatorTest, AllReduceMax) {
  RunAll(3, [](Communicator& group) -> absl::Status {
    at::Tensor tensor = Filled(group.index() == 1 ? 7 : -group.index(), 5, at::kFloat);
    SAIL_RETURN_IF_ERROR(group.AllReduce(tensor, Reduction::kMax));
    return Expect(Holds(tensor, 7), "maximum");
  });
}

TEST_P(CommunicatorTest, BroadcastFromEveryRoot) {
  RunAll(3, [](Communicator& group) -> absl::Status {
    for (int root = 0; root < 3; ++root) {
      at::Tensor tensor = Filled(group.index() + 1, 4, at::kDouble);
      SAIL_RETURN_IF_ERROR(group.Broadcast(tensor, root));
      SAIL_RETURN_IF_ERROR(Expect(Holds(tensor, root + 1), "broadcast"));
    }
    return absl::OkStatus();
  });
}

TEST_P(CommunicatorTest, AllGatherOfPartsOfDifferentSize) {
  RunAll(3, [](Communicator& group) -> absl::Status {
    at::Tensor whole = at::zeros({6}, at::kFloat);  // parts of 1, 2 and 3 elements
    const std::vector<at::Tensor> parts{whole.narrow(0, 0, 1), whole.narrow(0, 1, 2), whole.narrow(0, 3, 3)};
    parts[group.index()].fill_(group.index() + 5);
    SAIL_RETURN_IF_ERROR(group.AllGather(parts));
    for (int i = 0; i < 3; ++i) SAIL_RETURN_IF_ERROR(Expect(Holds(parts[i], i + 5), "part"));
    return absl::OkStatus();
  });
}

TEST_P(CommunicatorTest, TagsAreReceivedInAnyOrder) {
  RunAll(2, [](Communicator& group) -> absl::Status {
    std::vector<at::Tensor> tensors;
    std::vector<std::unique_ptr<Transfer>> transfers;
    for (const int tag : {1, 2, 3}) {
      if (group.index() == 0) {
        tensors.push_back(Filled(tag * 10, 8, at::kFloat));
        transfers.push_back(group.Send(tensors.back(), 1, tag));
      } else {
        tensors.push_back(at::zeros({8}, at::kFloat));
        transfers.push_back(group.Receive(tensors.back(), 0, 4 - tag));  // 3, 2, 1
      }
    }
    for (const auto& transfer : transfers) SAIL_RETURN_IF_ERROR(transfer->Wait());
    for (int i = 0; group.index() == 1 && i < 3; ++i) {
      SAIL_RETURN_IF_ERROR(Expect(Holds(tensors[i], 10 * (3 - i)), "tag"));
    }
    return absl::OkStatus();
  });
}

TEST_P(CommunicatorTest, EqualTagsKeepTheirOrder) {
  RunAll(2, [](Communicator& group) -> absl::Status {
    for (int i = 0; i < 20; ++i) {
      at::Tensor tensor = Filled(i, 1000, at::kFloat);
      auto transfer = group.index() == 0 ? group.Send(tensor, 1, 0) : group.Receive(tensor.zero_(), 0, 0);
      SAIL_RETURN_IF_ERROR(transfer->Wait());
      SAIL_RETURN_IF_ERROR(Expect(Holds(tensor, i), "order"));
    }
    return absl::OkStatus();
  });
}

TEST_P(CommunicatorTest, OverlappingGroupsWorkSideBySide) {
  // {0, 1}, {1, 2}, {0, 1, 2}, connected in this order by those who belong to them.
  const ConnectGroup connect = Connector();
  const auto results = test::RunRanks(3, [&](ir::Rank self) -> absl::Status {
    std::vector<std::unique_ptr<Communicator>> groups;
    for (const std::vector<int>& members : {std::vector<int>{0, 1}, {1, 2}, {0, 1, 2}}) {
      if (std::find(members.begin(), members.end(), self.index()) == members.end()) continue;
      SAIL_ASSIGN_OR_RETURN(std::unique_ptr<Communicator> group, connect(Ranks(members), self));
      groups.push_back(std::move(group));
    }
    for (const auto& group : groups) {
      at::Tensor tensor = Filled(1, 3, at::kFloat);
      SAIL_RETURN_IF_ERROR(group->AllReduce(tensor, Reduction::kSum));
      SAIL_RETURN_IF_ERROR(Expect(Holds(tensor, group->size()), "members of the group"));
    }
    return absl::OkStatus();
  });
  for (const absl::Status& result : results) EXPECT_TRUE(result.ok()) << result.ToString();
}

TEST_P(CommunicatorTest, NcclWait_ADeadPeerIsAnErrorOnEverySurvivor) {
  // Rank 3 leaves after the first collective. Its neighbours notice; they drop the group, which frees the others.
  const ConnectGroup connect = Connector(Seconds(60));
  const auto start = std::chrono::steady_clock::now();
  const auto results = test::RunRanks(4, [&](ir::Rank self) -> absl::Status {
    SAIL_ASSIGN_OR_RETURN(std::unique_ptr<Communicator> group, connect(Ranks({0, 1, 2, 3}), self));
    SAIL_RETURN_IF_ERROR(group->AllReduce(Filled(1, 1000, at::kFloat), Reduction::kSum));
    if (self == ir::Rank(3)) return absl::OkStatus();
    const absl::Status second = group->AllReduce(Filled(1, 1000, at::kFloat), Reduction::kSum);
    SAIL_RETURN_IF_ERROR(Expect(group->status() == second, "the first error is kept"));
    SAIL_RETURN_IF_ERROR(Expect(group->Barrier() == second, "a broken group is not used again"));
    return second;
  });
  EXPECT_TRUE(results[3].ok()) << results[3].ToString();
  for (int rank = 0; rank < 3; ++rank) {
    EXPECT_TRUE(absl::IsUnavailable(results[rank])) << rank << ": " << results[rank].ToString();
    EXPECT_THAT(std::string(results[rank].message()), HasSubstr("3"));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

TEST_P(CommunicatorTest, AReceiveFromASilentPeerEndsAtTheDeadline) {
  const ConnectGroup connect = Connector(Seconds(1));
  std::atomic<bool> done = false;
  const auto results = test::RunRanks(2, [&](ir::Rank self) -> absl::Status {
    SAIL_ASSIGN_OR_RETURN(std::unique_ptr<Communicator> group, connect(Ranks({0, 1}), self));
    if (self == ir::Rank(1)) {  // alive, but says nothing
      while (!done) std::this_thread::sleep_for(std::chrono::milliseconds(10));
      return absl::OkStatus();
    }
    const absl::Status waited = group->Receive(at::zeros({4}, at::kFloat), 1, 0)->Wait();
    done = true;
    return waited;
  });
  EXPECT_TRUE(absl::IsUnavailable(results[0])) << results[0].ToString();
  EXPECT_THAT(std::string(results[0].message()), HasSubstr("rank 1"));
}

TEST_P(CommunicatorTest, AMissingMemberEndsTheConnectionAtTheDeadline) {
  const absl::Status status = Connector(Seconds(1))(Ranks({0, 1}), ir::Rank(0)).status();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status.ToString();
  EXPECT_THAT(std::string(status.message()), HasSubstr("1"));
}

TEST(GlooNetwork, AnUnreachableStoreIsNamedWithItsPort) {
  // Port 9 (discard) of this machine: nobody listens.
  const absl::Status status = GlooNetwork::Create("127.0.0.1", 9, Seconds(1)).status();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status.ToString();
  EXPECT_THAT(std::string(status.message()), HasSubstr("127.0.0.1:9"));
}

}  // namespace
}  // namespace sail::rt
