// sailrun's processes under faults: every run ends in time, with one error that names the cause, the right exit code,
// and no process left behind.
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
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

// Ends where reading fails: entries of /proc vanish with their process.
std::string ReadAll(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

class ProcessTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "/process.XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    bundle_ = root_ + "/bundle";
    fs::create_directory(root_ + "/run");
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
  void WriteWith(Bundle bundle, Seconds collective_timeout = Seconds(2)) {
    bundle.plan.pipelines[0].stages[0].group.gpus = {0};
    bundle.problem.job.steps = 1'000'000;
    bundle.limits.collective_timeout = collective_timeout;
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
  int Wait(pid_t pid, std::chrono::milliseconds patience) {
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
  // Each line of the metrics is whole, whatever ended the run.
  void ExpectWholeMetrics() {
    const std::string text = ReadAll(metrics_);
    ASSERT_FALSE(text.empty());
    EXPECT_EQ(text.back(), '\n');
    for (const std::string& line : Metrics()) EXPECT_TRUE(Json::accept(line)) << line;
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

TEST_F(ProcessTest, ASecondRunInTheSameDirectoryIsRefused) {
  const pid_t first = SpawnRun();
  AwaitSteps(3);
  const std::string lock = fs::canonical(root_).string() + "/run/controller.lock";
  EXPECT_EQ(Wait(Spawn("second", {FAKE_SAILRUN, bundle_, "--metrics", metrics_}), kReaction), 7);
  EXPECT_EQ(Errors("second"),
            absl::StrCat("sailrun: error: another sailrun writes here: process ", first, " holds '", lock, "'\n"));
  // Nor does it disturb the first, and another directory is free.
  fs::create_directory(root_ + "/elsewhere");
  const std::string elsewhere = root_ + "/elsewhere/metrics.jsonl";
  EXPECT_EQ(Wait(Spawn("third", {FAKE_SAILRUN, bundle_, "--metrics", elsewhere, "--steps", "2"}), kStartTime), 0)
      << Errors("third");
  const size_t steps = Metrics().size();
  AwaitSteps(steps + 3);
  ExpectWholeMetrics();

  // Killed, the first leaves its lock behind, which holds nobody up.
  ASSERT_EQ(kill(first, SIGKILL), 0);
  EXPECT_EQ(Wait(first, kReaction), 128 + SIGKILL);
  EXPECT_TRUE(fs::exists(lock));
  EXPECT_EQ(Wait(SpawnRun("", {"--steps", "2"}), kStartTime), 0) << Errors();
  EXPECT_EQ(Metrics().size(), 3u);
  EXPECT_FALSE(fs::exists(lock));
  ExpectNothingLeft();
}

// Of two that start at the same moment one runs.
TEST_F(ProcessTest, OneOfTwoSimultaneousRunsIsRefused) {
  const std::vector<std::string> words = {FAKE_SAILRUN, bundle_, "--metrics", metrics_, "--steps", "100"};
  const pid_t one = Spawn("one", words), two = Spawn("two", words);
  const std::vector<int> codes = {Wait(one, kStartTime), Wait(two, kStartTime)};
  EXPECT_THAT(codes, ::testing::UnorderedElementsAre(0, 7)) << Errors("one") << Errors("two");
  EXPECT_THAT(Errors("one") + Errors("two"), MatchesRegex("sailrun: error: another sailrun writes here: [^\n]*\n"));
  EXPECT_EQ(Metrics().size(), 101u);
  ExpectNothingLeft();
}

// A full disk, no descriptor, a reader that has gone: the run trains to its end and then says what is missing.
TEST_F(ProcessTest, AStandardOutputThatFailsExitsWith7) {
  const std::vector<std::vector<std::string>> outputs = {
      {R"(exec "$0" "$@" >/dev/full)", "No space left on device"},
      {R"(exec "$0" "$@" -q >&-)", "Bad file descriptor"},
      {R"(("$0" "$@"; echo $? >"$CODE") | exec true; exit $(cat "$CODE"))", "Broken pipe"}};
  for (const std::vector<std::string>& output : outputs) {
    const pid_t run =
        Spawn("run", {"/bin/sh", "-c", output[0], FAKE_SAILRUN, bundle_, "--metrics", metrics_, "--steps", "3"},
              {{"CODE", root_ + "/code"}});
    EXPECT_EQ(Wait(run, kStartTime), 7) << output[0];
    EXPECT_EQ(Errors(), "sailrun: error: cannot write to standard output: " + output[1] +
                            "; all steps are trained, see '" + metrics_ + "'\n");
    EXPECT_EQ(Metrics().size(), 4u);
    ExpectWholeMetrics();
  }
  EXPECT_EQ(Wait(Spawn("help", {"/bin/sh", "-c", outputs[0][0], FAKE_SAILRUN, "--help"}), kStartTime), 7);
  EXPECT_EQ(Errors("help"), "sailrun: error: cannot write to standard output: No space left on device\n");
  ExpectNothingLeft();
}

// Nobody reads, as in a terminal after Ctrl-S: training goes on, the summary waits, a stop signal ends the wait.
TEST_F(ProcessTest, APausedStandardOutputDoesNotPauseTheRun) {
  const std::string pipe = root_ + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0666), 0);
  const int reader = open(pipe.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  const std::string page(4096, '.');
  while (write(reader, page.data(), page.size()) > 0) {
  }
  const auto train_all = [&] {
    fs::remove(metrics_);
    const pid_t run = Spawn(
        "run",
        {"/bin/sh", "-c", R"(exec "$0" "$@" >"$OUT")", FAKE_SAILRUN, bundle_, "--metrics", metrics_, "--steps", "30"},
        {{"OUT", pipe}});
    AwaitSteps(30);
    EXPECT_TRUE(WaitUntil([&] { return Ours().size() == 1; }, kStartTime));  // agents and workers are done
    EXPECT_EQ(Wait(run, std::chrono::milliseconds(500)), -1);
    return run;
  };
  const pid_t stopped = train_all();
  ASSERT_EQ(kill(stopped, SIGTERM), 0);
  EXPECT_EQ(Wait(stopped, kReaction), 128 + SIGTERM);
  EXPECT_THAT(Errors(), HasSubstr("cannot write to standard output: nobody reads it; all steps are trained"));

  const pid_t resumed = train_all();
  std::string text(1 << 20, ' ');
  EXPECT_TRUE(WaitUntil(
      [&] {
        (void)!read(reader, text.data(), text.size());
        return absl::StrContains(text, "30 steps: loss 4.0000 -> ");
      },
      kReaction));
  EXPECT_EQ(Wait(resumed, kReaction), 0) << Errors();
  close(reader);
  ExpectNothingLeft();
}

// Times of the wall clock in the log of a rank of skewed_sailrun, after each step.
class WallClockTest : public ProcessTest {
 protected:
  std::vector<double> Times(int rank) {
    std::vector<double> times;
    std::ifstream log(absl::StrCat(root_, "/run/rank-", rank, ".log"));
    for (std::string line; std::getline(log, line);) {
      if (std::atof(line.c_str()) > 1e9) times.push_back(std::atof(line.c_str()));
    }
    return times;
  }
  pid_t SpawnSkewed(double skew, double jump) {
    return Spawn("run", {SKEWED_SAILRUN, bundle_, "--metrics", metrics_},
                 {{"SAIL_WALL_CLOCK", absl::StrCat(skew, " ", jump, " ", root_, "/jump")}});
  }
  void Jump() { std::ofstream(root_ + "/jump") << "now"; }

  // Node slow-0 is `skew` seconds ahead and `jump` further during the run, which must not notice: no rank is lost, no
  // wait becomes longer or shorter, and a stop is still prompt. All deadlines are 2 s.
  void ExpectNoEffect(double skew, double jump) {
    const pid_t run = SpawnSkewed(skew, jump);
    AwaitSteps(3);
    EXPECT_EQ(Wait(run, std::chrono::milliseconds(2500)), -1) << Errors();  // longer than the deadline
    const double before = Times(1).back() - Times(0).back();
    Jump();
    EXPECT_EQ(Wait(run, std::chrono::milliseconds(2500)), -1) << Errors();
    const size_t steps = Metrics().size();
    AwaitSteps(steps + 3);
    EXPECT_NEAR(before, skew, 0.7);  // the clocks did differ …
    EXPECT_NEAR(Times(1).back() - Times(0).back(), skew + jump, 0.7);
    ASSERT_EQ(kill(run, SIGTERM), 0);
    EXPECT_EQ(Wait(run, kReaction), 128 + SIGTERM);  // … and nothing came of it
    EXPECT_THAT(Errors(), MatchesRegex("sailrun: error: stopped by SIGTERM; last step [0-9]+\n"));
    ExpectNothingLeft();
  }
};

// clock-27s, clock-076: liveness is judged by each process's own monotonic clock, and no message carries a time of day.
TEST_F(WallClockTest, Clock27s_ClocksThatDifferAndJumpBackHaveNoEffect) { ExpectNoEffect(27, -60); }
TEST_F(WallClockTest, Clock27s_AClockThatJumpsAheadHasNoEffect) { ExpectNoEffect(-27, 3600); }
TEST_F(WallClockTest, Clock076_ASmallSkewHasNoEffect) { ExpectNoEffect(0.76, 0); }

// The other way round: a rank that is really lost is found in time, though its clock and its agent's went back.
TEST_F(WallClockTest, Clock27s_ALostRankIsFoundInTime) {
  const pid_t run = SpawnSkewed(27, -60);
  AwaitSteps(3);
  const pid_t victim = Worker(1);
  Jump();
  EXPECT_EQ(Wait(run, std::chrono::milliseconds(500)), -1) << Errors();
  ASSERT_EQ(kill(victim, SIGSTOP), 0);
  EXPECT_EQ(Wait(run, std::chrono::seconds(2 + 2) + kReaction), 7);
  EXPECT_THAT(Errors(), ContainsRegex("rank 1 \\(.*\\) stopped answering after step [0-9]+: the others waited 2 s\n"));
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
