// TrainRank as a worker calls it, with a store over TCP; ranks are threads.
#include <mutex>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/engine/trainer.h"
#include "tests/support/rank_threads.h"
#include "tests/support/tiny_bundle.h"
#include "torch/csrc/distributed/c10d/TCPStore.hpp"

namespace sail::rt {
namespace {

using ::testing::HasSubstr;

class TrainRankTest : public ::testing::Test {
 protected:
  TrainRankTest() {
    c10d::TCPStoreOptions options;
    options.port = 0;
    options.isServer = true;
    options.waitWorkers = false;
    server_ = c10::make_intrusive<c10d::TCPStore>("127.0.0.1", options);
    address_ = {.host = "127.0.0.1", .port = server_->getPort()};
    bundle_.limits.collective_timeout = Seconds(20);
  }
  std::vector<absl::Status> TrainAll(const std::function<absl::Status(ir::Rank, const StepResult&)>& on_step) {
    return test::RunRanks(ir::Placement(bundle_.plan).rank_count(), [&](ir::Rank rank) {
      return TrainRank(bundle_, rank, address_, [&](const StepResult& step) { return on_step(rank, step); });
    });
  }

  Bundle bundle_ = test::TinyBundle();  // three ranks: a stage of tensor degree 2, then one of degree 1
  c10::intrusive_ptr<c10d::TCPStore> server_;
  StoreAddress address_;
};

TEST_F(TrainRankTest, EveryRankSeesTheSameFallingLoss) {
  bundle_.problem.job.optimizer.learning_rate = 0.01;
  std::mutex mutex;
  std::vector<std::vector<double>> losses(3);
  const auto results = TrainAll([&](ir::Rank rank, const StepResult& step) {
    std::lock_guard lock(mutex);
    losses[rank.index()].push_back(step.loss);
    EXPECT_EQ(step.step, static_cast<int64_t>(losses[rank.index()].size()));
    EXPECT_EQ(step.samples, 8);
    EXPECT_GT(step.seconds, 0);
    return absl::OkStatus();
  });
  for (const absl::Status& result : results) EXPECT_TRUE(result.ok()) << result.ToString();
  ASSERT_EQ(losses[0].size(), 20u);
  EXPECT_EQ(losses[0], losses[1]);
  EXPECT_EQ(losses[0], losses[2]);
  EXPECT_NEAR(losses[0].front(), 3.61, 0.1);  // ln 37: nothing is known of the next word
  EXPECT_LT(losses[0].back(), 0.7 * losses[0].front());
}

TEST_F(TrainRankTest, ARankThatStopsEndsItsPeersAsUnavailable) {
  const auto results = TrainAll([](ir::Rank rank, const StepResult& step) {
    return rank == ir::Rank(1) && step.step == 3 ? absl::CancelledError("told to stop") : absl::OkStatus();
  });
  EXPECT_EQ(results[1], absl::CancelledError("told to stop"));
  for (const int rank : {0, 2}) {
    EXPECT_TRUE(absl::IsUnavailable(results[rank])) << results[rank].ToString();
    EXPECT_THAT(std::string(results[rank].message()), HasSubstr("rank"));
  }
}

TEST_F(TrainRankTest, PortName_AnUnreachableStoreIsNamed) {
  bundle_.limits.collective_timeout = Seconds(1);
  const absl::Status result = TrainRank(bundle_, ir::Rank(0), {.host = "127.0.0.1", .port = 9},
                                        [](const StepResult&) { return absl::OkStatus(); });
  EXPECT_TRUE(absl::IsUnavailable(result)) << result.ToString();
  EXPECT_THAT(std::string(result.message()), HasSubstr("127.0.0.1:9"));
}

TEST_F(TrainRankTest, OneRankNeedsNoStore) {
  bundle_.plan.pipelines = {{.micro_batch = 4, .micro_batches = 2, .stages = {test::MakeStage(0, 5, 0, 0, {0})}}};
  bundle_.problem.job.steps = 2;
  int steps = 0;
  const absl::Status result = TrainRank(bundle_, ir::Rank(0), {}, [&](const StepResult&) {
    ++steps;
    return absl::OkStatus();
  });
  EXPECT_TRUE(result.ok()) << result.ToString();
  EXPECT_EQ(steps, 2);
}

}  // namespace
}  // namespace sail::rt
