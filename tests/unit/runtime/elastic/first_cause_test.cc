#include "runtime/elastic/first_cause.h"

#include <csignal>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/elastic/exit_code.h"
#include "tests/support/tiny_bundle.h"

namespace sail::rt {
namespace {

using ::testing::HasSubstr;

// Three ranks at step 7 with pids 100, 101 and 102.
std::vector<RankState> Healthy() {
  std::vector<RankState> ranks(3);
  for (int i = 0; i < 3; ++i) ranks[i] = {.pid = 100 + i, .last_step = 7, .error = absl::OkStatus(), .exit = {}};
  return ranks;
}
void Killed(RankState& rank, int signal) { rank.exit = WorkerExited{.exit = {.signal = signal}, .log_tail = "tail"}; }
void Failed(RankState& rank, absl::Status error) {
  rank.error = std::move(error);
  rank.exit = WorkerExited{.exit = {.code = 7}};
}
const absl::Status kVanished = absl::UnavailableError("connection closed by peer");

TEST(FirstCause, HealthyAndFinishedRanksHaveNone) {
  std::vector<RankState> ranks = Healthy();
  EXPECT_FALSE(FirstCause(test::TinyBundle(), ranks));
  ranks[1].exit = WorkerExited{};
  EXPECT_FALSE(FirstCause(test::TinyBundle(), ranks));
}

TEST(FirstCause, ASignalOutranksEverythingElse) {
  std::vector<RankState> ranks = Healthy();
  Failed(ranks[0], absl::InternalError("bad message from peer"));
  ranks[1].exit = WorkerExited{.exit = {.code = 1}};
  Killed(ranks[2], SIGSEGV);
  const std::optional<Cause> cause = FirstCause(test::TinyBundle(), ranks);
  ASSERT_TRUE(cause);
  EXPECT_EQ(cause->message, "rank 2 (node slow-0, gpu 0, pid 102) was killed by SIGSEGV after step 7");
  EXPECT_EQ(cause->log_tail, "tail");
  EXPECT_EQ(cause->exit_code, kExitEnvironment);
  EXPECT_TRUE(cause->certain);
}

TEST(FirstCause, AnOwnErrorOutranksVanishedPeers) {
  std::vector<RankState> ranks = Healthy();
  Failed(ranks[0], kVanished);
  Failed(ranks[1], absl::ResourceExhaustedError("out of memory"));
  ranks[1].last_step = 0;
  const std::optional<Cause> cause = FirstCause(test::TinyBundle(), ranks);
  ASSERT_TRUE(cause);
  EXPECT_EQ(cause->message, "rank 1 (node fast-0, gpu 1, pid 101) failed before the first step: out of memory");
  EXPECT_TRUE(cause->certain);
}

// Ranks that we ended ourselves explain nothing.
TEST(FirstCause, RanksStoppedWithTheirNodeComeAfterOwnErrors) {
  std::vector<RankState> ranks = Healthy();
  ranks[0].exit = WorkerExited{.exit = {.signal = SIGTERM}, .on_request = true, .log_tail = ""};
  Failed(ranks[1], kVanished);
  EXPECT_THAT(FirstCause(test::TinyBundle(), ranks)->message,
              HasSubstr("rank 0 (node fast-0, gpu 0, pid 100) was stopped"));
  Failed(ranks[2], absl::InternalError("disk"));
  EXPECT_THAT(FirstCause(test::TinyBundle(), ranks)->message, HasSubstr("rank 2"));
}

TEST(FirstCause, ASilentRankIsBlamedForVanishedPeers) {
  std::vector<RankState> ranks = Healthy();
  Failed(ranks[0], kVanished);
  ranks[1].last_step = 8;
  const std::optional<Cause> cause = FirstCause(test::TinyBundle(), ranks);
  ASSERT_TRUE(cause);
  EXPECT_EQ(cause->message,
            "rank 2 (node slow-0, gpu 0, pid 102) stopped answering after step 7: the others waited 60 s "
            "(no answer from ranks 1-2)");
  EXPECT_FALSE(cause->certain);
}

TEST(FirstCause, WithNobodyToBlameTheFirstVictimSpeaks) {
  std::vector<RankState> ranks = Healthy();
  for (RankState& rank : ranks) Failed(rank, kVanished);
  const std::optional<Cause> cause = FirstCause(test::TinyBundle(), ranks);
  ASSERT_TRUE(cause);
  EXPECT_THAT(cause->message,
              HasSubstr("rank 0 (node fast-0, gpu 0, pid 100) lost its peers after step 7: connection"));
  EXPECT_FALSE(cause->certain);
}

TEST(FirstCause, AFailedCheckIsAnInternalError) {
  std::vector<RankState> ranks = Healthy();
  ranks[1].exit = WorkerExited{.exit = {.code = kExitInternal}};
  EXPECT_EQ(FirstCause(test::TinyBundle(), ranks)->exit_code, kExitInternal);
}

TEST(Ranges, AreShortened) {
  EXPECT_EQ(Ranges({}), "");
  EXPECT_EQ(Ranges({4, 5, 6, 7}), "4-7");
  EXPECT_EQ(Ranges({0, 2, 3, 9}), "0, 2-3, 9");
}

}  // namespace
}  // namespace sail::rt
