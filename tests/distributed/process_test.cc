// sailrun's processes under faults: every run ends in time, with one error that names the cause, the right exit code,
// and no process left behind.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "compiler/base/json.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/bundle/bundle.h"
#include "tests/support/tiny_bundle.h"

namespace sail::rt {
namespace {

namespace fs = std::filesystem;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kStartTime{30};  // five LibTorch processes on a busy machine
constexpr std::chrono::seconds kReaction{5};    // from a fault to the end of the run

std::string ReadAll(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class ProcessTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "/process.XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    bundle_ = root_ + "/bundle";
    metrics_ = root_ + "/run/metrics.jsonl";
    Bundle bundle = test::TinyBundle();
    bundle.limits.rendezvous_timeout = Seconds(30);
    WriteWith(bundle);
  }
  void TearDown() override {
    for (const auto& [pid, command] : Ours()) kill(pid, SIGKILL);
    for (const pid_t child : children_) waitpid(child, nullptr, 0);
    fs::remove_all(root_);
  }

  // Rank 0 on node fast-0, rank 1 on node slow-0; a job without end.
  void WriteWith(Bundle bundle) {
    bundle.plan.pipelines[0].stages[0].group.gpus = {0};
    bundle.problem.job.steps = 1'000'000;
    bundle.limits.collective_timeout = Seconds(2);
    bundle.limits.stop_grace = Seconds(1);
    ASSERT_EQ(WriteBundle(bundle, bundle_), absl::OkStatus());
  }

  // Starts a program with stdout and stderr in root_/<name>.out and .err.
  pid_t Spawn(const std::string& name, std::vector<std::string> words,
              const std::map<std::string, std::string>& env = {}) {
    const pid_t pid = fork();
    if (pid == 0) {
      for (const auto& [key, value] : env) setenv(key.c_str(), value.c_str(), 1);
      if (std::freopen((root_ + "/" + name + ".out").c_str(), "w", stdout) == nullptr) _exit(99);
      if (std::freopen((root_ + "/" + name + ".err").c_str(), "w", stderr) == nullptr) _exit(99);
      std::vector<char*> argv;
      for (std::string& word : words) argv.push_back(word.data());
      argv.push_back(nullptr);
      execv(argv[0], argv.data());
      _exit(99);
    }
    children_.push_back(pid);
    return pid;
  }
  pid_t SpawnRun(const std::string& faults = "", const std::vector<std::string>& flags = {}) {
    std::vector<std::string> words = {FAKE_SAILRUN, bundle_, "--metrics", metrics_};
    words.insert(words.end(), flags.begin(), flags.end());
    return Spawn("run", words, {{"SAIL_FAKE", faults}});
  }

  // The exit code, 128 + signal, or -1 if the process still runs after `patience`.
  int Wait(pid_t pid, std::chrono::seconds patience) {
    const auto deadline = Clock::now() + patience;
    while (Clock::now() < deadline) {
      int status = 0;
      if (waitpid(pid, &status, WNOHANG) == pid) {
        std::erase(children_, pid);
        return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return -1;
  }

  // pid -> command line of every process of this test's bundle. Zombies have no command line.
  std::map<pid_t, std::string> Ours() {
    std::map<pid_t, std::string> found;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      const int pid = std::atoi(entry.path().filename().c_str());
      if (pid == 0 || pid == getpid()) continue;
      std::string command = ReadAll(entry.path() / "cmdline");
      std::replace(command.begin(), command.end(), '\0', ' ');
      if (absl::StrContains(command, bundle_)) found[pid] = command;
    }
    return found;
  }
  pid_t Find(const std::string& words) {
    for (const auto& [pid, command] : Ours()) {
      if (absl::StrContains(command, words)) return pid;
    }
    ADD_FAILURE() << "no process '" << words << "'";
    return 0;
  }
  pid_t Worker(int rank) { return Find(absl::StrCat("--rank ", rank, " ")); }

  bool WaitUntil(const std::function<bool()>& condition, std::chrono::seconds patience) {
    const auto deadline = Clock::now() + patience;
    while (Clock::now() < deadline) {
      if (condition()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }
  std::vector<std::string> Metrics() { return absl::StrSplit(ReadAll(metrics_), '\n', absl::SkipEmpty()); }
  void AwaitSteps(size_t steps) {
    ASSERT_TRUE(WaitUntil([&] { return Metrics().size() > steps; }, kStartTime)) << Errors();
  }
  std::string Errors(const std::string& name = "run") { return ReadAll(root_ + "/" + name + ".err"); }
  std::string Output(const std::string& name = "run") { return ReadAll(root_ + "/" + name + ".out"); }
  void ExpectNothingLeft() {
    EXPECT_TRUE(WaitUntil([&] { return Ours().empty(); }, std::chrono::seconds(1)))
        << absl::StrJoin(Ours(), "\n", absl::PairFormatter(" "));
  }

  std::string root_, bundle_, metrics_;
  std::vector<pid_t> children_;
};

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

TEST_F(ProcessTest, SigtermEndsTheRunCleanly) {
  const pid_t run = SpawnRun();
  AwaitSteps(3);
  ASSERT_EQ(kill(run, SIGTERM), 0);
  EXPECT_EQ(Wait(run, kReaction), 128 + SIGTERM);
  EXPECT_THAT(Errors(), MatchesRegex("sailrun: error: stopped by SIGTERM; last step [0-9]+\n"));
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
