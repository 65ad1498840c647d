// sailrun's processes under faults and signals: every run ends in time, with one error that names the cause, the right
// exit code, and no process left behind.
#include <netinet/in.h>
#include <sys/socket.h>

#include "tests/distributed/process_fixture.h"

namespace sail::rt {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

TEST_F(ProcessTest, AWholeRunReportsEveryStep) {
  const pid_t run = SpawnRun("", {"--steps", "40"});
  EXPECT_EQ(Wait(run, kStartTime), 0) << Errors();
  EXPECT_EQ(Errors(), "");
  const std::vector<std::string> lines = Metrics();
  ASSERT_EQ(lines.size(), 41u);
  EXPECT_EQ(Json::parse(lines[0]), (Json{{"plan_hash", "sha256:feed"}, {"predicted_iteration_s", 0.25}, {"ranks", 2}}));
  // 8 samples of 16 tokens in half a second.
  EXPECT_EQ(Json::parse(lines[2]),
            (Json{{"step", 2}, {"loss", 2.0}, {"seconds", 0.5}, {"samples_per_s", 16.0}, {"tokens_per_s", 256.0}}));
  EXPECT_THAT(Output(), HasSubstr("step 40/40  loss 0.1000  16.0 samples/s  256 tokens/s  0.5000 s/iteration"));
  EXPECT_THAT(Output(), HasSubstr("40 steps: loss 4.0000 -> 0.1000 (2.5 % of the first), 0.5000 s/iteration, predicted "
                                  "0.2500 s (2.00x)"));
  ExpectNothingLeft();
}

// nccl-wait: a killed rank ends the run at once and is named, though its peers would wait for their deadline.
TEST_F(ProcessTest, NcclWait_AKilledWorkerIsNamed) {
  const pid_t run = SpawnRun();
  AwaitSteps(3);
  const pid_t victim = Worker(1);
  ASSERT_EQ(kill(victim, SIGKILL), 0);
  EXPECT_EQ(Wait(run, kReaction), 7);
  EXPECT_THAT(Errors(), MatchesRegex(absl::StrCat("sailrun: error: rank 1 \\(node slow-0, gpu 0, pid ", victim,
                                                  "\\) was killed by SIGKILL after step [0-9]+\n")));
  ExpectNothingLeft();
}

// The same with the real trainer: the peers' errors of the torn connections do not hide the cause.
TEST_F(ProcessTest, NcclWait_AWorkerKilledInRealTrainingIsNamed) {
  const pid_t run = Spawn("run", {SAILRUN, bundle_, "--metrics", metrics_});
  AwaitSteps(3);
  const pid_t victim = Worker(0);
  ASSERT_EQ(kill(victim, SIGKILL), 0);
  EXPECT_EQ(Wait(run, kReaction), 7);
  EXPECT_THAT(Errors(), HasSubstr(absl::StrCat("sailrun: error: rank 0 (node fast-0, gpu 0, pid ", victim,
                                               ") was killed by SIGKILL after step ")));
  ExpectNothingLeft();
}

TEST_F(ProcessTest, AKilledAgentIsNamedWithItsRanks) {
  const pid_t run = SpawnRun();
  AwaitSteps(3);
  const pid_t victim = Find("agent " + bundle_ + " --node fast-0");
  ASSERT_EQ(kill(victim, SIGKILL), 0);
  EXPECT_EQ(Wait(run, kReaction), 7);
  EXPECT_THAT(Errors(), MatchesRegex(absl::StrCat("sailrun: error: the agent of node fast-0 \\(rank 0, pid ", victim,
                                                  "\\) was killed by SIGKILL before its workers; last step [0-9]+\n")));
  ExpectNothingLeft();
}

TEST_F(ProcessTest, AKilledControllerTakesAllProcessesAlong) {
  const pid_t run = SpawnRun();
  AwaitSteps(3);
  EXPECT_EQ(Ours().size(), 5u);  // controller, two agents, two workers
  ASSERT_EQ(kill(run, SIGKILL), 0);
  EXPECT_EQ(Wait(run, kReaction), 128 + SIGKILL);
  ExpectNothingLeft();
  ExpectWholeMetrics();
}

TEST_F(ProcessTest, AStoppedWorkerIsNamedAfterTheDeadlineOfItsPeers) {
  const pid_t run = SpawnRun();
  AwaitSteps(3);
  const pid_t victim = Worker(1);
  ASSERT_EQ(kill(victim, SIGSTOP), 0);
  // Deadline of the peers 2 s, window for a better cause 2 s, then the stop.
  EXPECT_EQ(Wait(run, std::chrono::seconds(2 + 2) + kReaction), 7);
  EXPECT_THAT(Errors(),
              ContainsRegex(absl::StrCat("rank 1 \\(node slow-0, gpu 0, pid ", victim,
                                         "\\) stopped answering after step [0-9]+: the others waited 2 s\n")));
  ExpectNothingLeft();
}

// Rank 0 sees a vanished peer half a second before rank 1 says what really happened.
TEST_F(ProcessTest, AnOwnErrorOutranksVanishedPeers) {
  const pid_t run = SpawnRun("0:3:unavailable 1:3:late_error");
  EXPECT_EQ(Wait(run, kStartTime), 7);
  EXPECT_THAT(Errors(),
              ContainsRegex("error: rank 1 \\(node slow-0, gpu 0, pid [0-9]+\\) failed after step 2: the disk"));
  EXPECT_THAT(Errors(), Not(HasSubstr("connection closed")));
  ExpectNothingLeft();
}

// A run in which every rank only lost its peers has failed, whoever is to blame.
TEST_F(ProcessTest, PeersThatAllVanishAreAFailure) {
  const pid_t run = SpawnRun("0:3:unavailable 1:3:unavailable");
  EXPECT_EQ(Wait(run, kStartTime), 7);
  EXPECT_THAT(Errors(), HasSubstr("connection closed"));
  ExpectNothingLeft();
}

// The other worker ignores SIGTERM and gets SIGKILL.
TEST_F(ProcessTest, AFailedCheckInAWorkerIsAnInternalError) {
  const pid_t run = SpawnRun("0:1:ignore_sigterm 1:2:check");
  EXPECT_EQ(Wait(run, kStartTime), 70);
  EXPECT_THAT(Errors(), ContainsRegex("rank 1 \\(.*\\) ended with exit code 70 after step 1"));
  EXPECT_THAT(Errors(), HasSubstr("its log ends:\n    internal error: action != \"check\""));
  ExpectNothingLeft();
}

TEST_F(ProcessTest, StopSignalsEndTheRunCleanly) {
  const std::vector<std::pair<int, std::string>> signals = {
      {SIGINT, "SIGINT"}, {SIGTERM, "SIGTERM"}, {SIGHUP, "SIGHUP"}};
  for (const auto& [signal, name] : signals) {
    fs::remove(metrics_);
    const pid_t run = SpawnRun();
    AwaitSteps(3);
    ASSERT_EQ(kill(run, signal), 0);
    EXPECT_EQ(Wait(run, kReaction), 128 + signal);
    EXPECT_THAT(Errors(), MatchesRegex("sailrun: error: stopped by " + name + "; last step [0-9]+\n"));
    ExpectNothingLeft();
    ExpectWholeMetrics();
  }
}

TEST_F(ProcessTest, AnAgentThatIsToldToStopIsNamedByItsRanks) {
  const pid_t run = SpawnRun();
  AwaitSteps(3);
  ASSERT_EQ(kill(Find("agent " + bundle_ + " --node slow-0"), SIGTERM), 0);
  EXPECT_EQ(Wait(run, kReaction), 7);
  EXPECT_THAT(Errors(), ContainsRegex("rank 1 \\(node slow-0, gpu 0, pid [0-9]+\\) was stopped with its node"));
  ExpectNothingLeft();
}

// The store's server reads from one connection at a time: a stranger who begins a message and does not go on silences
// it.
class SilentStoreTest : public ProcessTest {
 protected:
  void SilenceTheStore() {
    const std::string command = Ours()[Find("agent " + bundle_)];
    const size_t port_at = command.find("--store 127.0.0.1:");
    ASSERT_NE(port_at, std::string::npos) << command;
    sockaddr_in address = {.sin_family = AF_INET};
    address.sin_port = htons(static_cast<uint16_t>(std::atoi(command.c_str() + port_at + 18)));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    stranger_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ASSERT_EQ(connect(stranger_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    const char set = 0;  // the kind of message; a key and a value would follow
    ASSERT_EQ(write(stranger_, &set, 1), 1);
    const size_t steps = Metrics().size();
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    EXPECT_LE(Metrics().size(), steps + 5);  // of about 50: nothing is heard any more
  }
  void TearDown() override {
    if (stranger_ >= 0) close(stranger_);
    ProcessTest::TearDown();
  }

  int stranger_ = -1;
};

TEST_F(SilentStoreTest, EndsTheRun) {
  const pid_t run = SpawnRun();
  AwaitSteps(3);
  SilenceTheStore();
  EXPECT_EQ(Wait(run, std::chrono::seconds(2) + kReaction), 7);  // the collective timeout is 2 s
  EXPECT_EQ(Errors(), "sailrun: error: the store or a disk does not answer\n");
  ExpectNothingLeft();
  ExpectWholeMetrics();
}

TEST_F(SilentStoreTest, DoesNotHinderAStopSignal) {
  Bundle bundle = test::TinyBundle();
  WriteWith(bundle, Seconds(600));
  const pid_t run = SpawnRun();
  AwaitSteps(3);
  SilenceTheStore();
  ASSERT_EQ(kill(run, SIGTERM), 0);
  EXPECT_EQ(Wait(run, std::chrono::seconds(5) + kReaction), 128 + SIGTERM);
  ExpectNothingLeft();
}

TEST_F(ProcessTest, SigintEndsARunThatHasNotBegun) {
  const pid_t run = SpawnRun();
  AwaitSteps(0);  // the header is written, no worker is up
  ASSERT_EQ(kill(run, SIGINT), 0);
  EXPECT_EQ(Wait(run, kReaction), 128 + SIGINT);
  EXPECT_EQ(Errors(), "sailrun: error: stopped by SIGINT; last step 0\n");
  ExpectNothingLeft();
}

}  // namespace
}  // namespace sail::rt
