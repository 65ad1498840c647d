// Starts sailrun's processes with a bundle of two ranks, waits for them and looks at what they leave.
#pragma once

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
#include <string>
#include <thread>
#include <utility>
#include <vector>

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

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

inline constexpr std::chrono::seconds kStartTime{30};  // five LibTorch processes on a busy machine
inline constexpr std::chrono::seconds kReaction{5};    // from a fault to the end of the run

// Ends where reading fails: entries of /proc vanish with their process.
inline std::string ReadAll(const std::string& path) {
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

}  // namespace sail::rt
