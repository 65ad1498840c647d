// Controller and agents that are started each on its own, as on several machines.
#include "tests/distributed/process_fixture.h"

namespace sail::rt {
namespace {

using ::testing::HasSubstr;

// The controller on its own, agents by the nodes' launch scripts.
class LaunchTest : public ProcessTest {
 protected:
  void StartController(const std::vector<std::string>& flags) {
    std::vector<std::string> words = {FAKE_SAILRUN, "controller", bundle_, "--metrics", metrics_};
    words.insert(words.end(), flags.begin(), flags.end());
    controller_ = Spawn("run", words);
    ASSERT_TRUE(WaitUntil([&] { return absl::StrContains(Output(), "\n"); }, kStartTime)) << Errors();
    const std::vector<std::string> parts = absl::StrSplit(Output(), absl::ByAnyChar(":\n"));
    port_ = parts[1];
  }
  pid_t Launch(const std::string& node, const std::string& name) {
    fs::create_directory(root_ + "/" + name);
    return Spawn(name, {"/bin/sh", bundle_ + "/nodes/" + node + "/launch.sh", "--logs", root_ + "/" + name},
                 {{"SAILRUN", FAKE_SAILRUN}, {"SAIL_STORE", "127.0.0.1:" + port_}});
  }

  pid_t controller_ = 0;
  std::string port_;
};

TEST_F(LaunchTest, LaunchScriptsRunTheNodes) {
  StartController({"--steps", "5", "-q"});
  const pid_t slow = Launch("slow-0", "slow");
  const pid_t fast = Launch("fast-0", "fast");
  EXPECT_EQ(Wait(controller_, kStartTime), 0) << Errors();
  EXPECT_EQ(Wait(fast, kReaction), 0) << Errors("fast");
  EXPECT_EQ(Wait(slow, kReaction), 0) << Errors("slow");
  EXPECT_EQ(Metrics().size(), 6u);
  ExpectNothingLeft();
}

// No signal reaches an agent on another machine when its controller dies; the silence of the store ends it.
TEST_F(LaunchTest, AKilledControllerEndsAgentsElsewhere) {
  StartController({});
  const pid_t slow = Launch("slow-0", "slow");
  const pid_t fast = Launch("fast-0", "fast");
  AwaitSteps(3);
  ASSERT_EQ(kill(controller_, SIGKILL), 0);
  EXPECT_EQ(Wait(controller_, kReaction), 128 + SIGKILL);
  EXPECT_EQ(Wait(fast, std::chrono::seconds(2) + kReaction), 7);
  EXPECT_EQ(Wait(slow, std::chrono::seconds(2) + kReaction), 7);
  EXPECT_THAT(Errors("slow"), HasSubstr("the controller's store"));
  ExpectNothingLeft();
  ExpectWholeMetrics();
}

// world-2: too few ranks are refused before any step, and the missing ones are named.
TEST_F(LaunchTest, World_2) {
  Bundle bundle = test::TinyBundle();
  bundle.limits.rendezvous_timeout = Seconds(5);
  WriteWith(bundle);
  StartController({});
  const pid_t fast = Launch("fast-0", "fast");
  EXPECT_EQ(Wait(controller_, kStartTime), 7);
  EXPECT_THAT(Errors(), HasSubstr("plan needs 2 ranks, 1 present (missing 1) after 5 s"));
  EXPECT_EQ(Metrics().size(), 1u);
  EXPECT_NE(Wait(fast, kReaction), -1);
  ExpectNothingLeft();
}

// dup-gpu: a second agent for a node would put two ranks on each of its GPUs. The first is not disturbed.
TEST_F(LaunchTest, DupGpu_ANodeStartedTwiceIsRefused) {
  StartController({});
  const pid_t one = Launch("slow-0", "one");
  ASSERT_TRUE(WaitUntil([&] { return fs::exists(root_ + "/one/rank-1.log"); }, kStartTime));
  EXPECT_EQ(Wait(Launch("slow-0", "two"), kStartTime), 7);
  EXPECT_THAT(Errors("two"), HasSubstr("error: node slow-0 has an agent already"));
  EXPECT_EQ(Wait(one, std::chrono::seconds(0)), -1);
  ASSERT_EQ(kill(controller_, SIGTERM), 0);
  EXPECT_EQ(Wait(controller_, kReaction), 128 + SIGTERM);
  EXPECT_TRUE(WaitUntil([&] { return Ours().empty(); }, kReaction));
}

}  // namespace
}  // namespace sail::rt
