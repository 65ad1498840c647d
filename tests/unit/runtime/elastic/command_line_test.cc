// What sailrun refuses before it starts any process. Runs in this process; a trainer would fail the test.
#include "runtime/elastic/command_line.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/elastic/run_directory.h"
#include "tests/support/tiny_bundle.h"

namespace sail::rt {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

class CommandLineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "/command_line.XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    bundle_ = root_ + "/bundle";
    ASSERT_EQ(WriteBundle(test::TinyBundle(), bundle_), absl::OkStatus());
  }
  void TearDown() override { fs::remove_all(root_); }

  int Run(std::vector<std::string> words) {
    words.insert(words.begin(), "sailrun");
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const int exit_code = SailrunMain(static_cast<int>(argv.size()), argv.data(), [](const auto&...) {
      ADD_FAILURE() << "trained";
      return absl::OkStatus();
    });
    output_ = ::testing::internal::GetCapturedStdout();
    errors_ = ::testing::internal::GetCapturedStderr();
    return exit_code;
  }

  std::string root_, bundle_, output_, errors_;
};

TEST_F(CommandLineTest, UsageErrorsExitWith2) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong = {
      {{}, "a bundle directory is missing"},
      {{"agent"}, "a bundle directory is missing"},
      {{"a", "b"}, "unexpected argument 'b'"},
      {{"b", "--speed", "9"}, "unknown option '--speed'"},
      {{"b", "--rank", "9"}, "unknown option '--rank'"},
      {{"b", "--steps", "0"}, "--steps: '0' is not a number from 1"},
      {{"b", "--steps", "ten"}, "--steps: 'ten' is not a number"},
      {{"b", "--steps"}, "--steps needs a value"},
      {{"b", "-q", "-q"}, "-q is given twice"},
      {{"b", "--port", "65536"}, "--port: '65536' is not a number from 1 to 65535"},
      {{"agent", "b", "--node", "n"}, "--store is missing"},
      {{"worker", "b", "--store", "h:1"}, "--rank is missing"},
      {{"worker", "b", "--rank", "1", "--store", "nowhere"}, "'nowhere' is not HOST:PORT"},
      {{"worker", "b", "--rank", "1", "--store", "h:70000"}, "'h:70000' is not HOST:PORT"},
  };
  for (const auto& [words, expected] : wrong) {
    EXPECT_EQ(Run(words), 2) << expected;
    EXPECT_THAT(errors_, HasSubstr("sailrun: error: " + expected));
    EXPECT_EQ(output_, "");
  }
}

TEST_F(CommandLineTest, HelpNamesEveryForm) {
  EXPECT_EQ(Run({"agent", "--help"}), 0);
  for (const char* form : {"sailrun BUNDLE", "sailrun controller", "sailrun agent", "sailrun worker", "exit codes"}) {
    EXPECT_THAT(output_, HasSubstr(form));
  }
}

TEST_F(CommandLineTest, ADamagedBundleExitsWith6AndAnAbsentOneWith7) {
  std::ofstream(bundle_ + "/nodes/slow-0/env") << "RANK=0\n";
  EXPECT_EQ(Run({bundle_}), 6);
  EXPECT_THAT(errors_, MatchesRegex("sailrun: error: bundle '.*': file 'nodes/slow-0/env' does not match its hash\n"));
  fs::remove(bundle_ + "/MANIFEST.sha256");
  EXPECT_EQ(Run({bundle_}), 6);
  EXPECT_THAT(errors_, HasSubstr("MANIFEST.sha256 is missing"));
  fs::remove_all(bundle_);
  EXPECT_EQ(Run({bundle_}), 7);
  EXPECT_THAT(errors_, MatchesRegex("sailrun: error: bundle '.*' does not exist or is not a directory\n"));
}

TEST_F(CommandLineTest, ADamagedBundleExitsWith6InEveryForm) {
  std::ofstream(bundle_ + "/nodes/slow-0/env") << "RANK=0\n";
  EXPECT_EQ(Run({"controller", bundle_}), 6);
  EXPECT_EQ(Run({"agent", bundle_, "--node", "slow-0", "--store", "127.0.0.1:1"}), 6);
  EXPECT_EQ(Run({"worker", bundle_, "--rank", "0", "--store", "127.0.0.1:1"}), 6);
  EXPECT_THAT(errors_, HasSubstr("file 'nodes/slow-0/env' does not match its hash"));
}

TEST_F(CommandLineTest, NodesAndRanksOutsideTheBundleAreUsageErrors) {
  EXPECT_EQ(Run({"agent", bundle_, "--node", "moon-0", "--store", "127.0.0.1:1"}), 2);
  EXPECT_EQ(errors_, "error: the plan has no node 'moon-0'; its nodes are fast-0, slow-0\n");
  for (const char* rank : {"3", "99", "1048576"}) {  // three ranks; the last one is the largest that is read
    EXPECT_EQ(Run({"worker", bundle_, "--rank", rank, "--store", "127.0.0.1:1"}), 2);
    EXPECT_EQ(errors_, absl::StrCat("error: --rank: the bundle has no rank ", rank, "; its ranks are 0 to 2\n"));
    EXPECT_EQ(output_, "");
  }
  EXPECT_EQ(Run({"worker", bundle_, "--rank", "-1", "--store", "127.0.0.1:1"}), 2);
}

TEST_F(CommandLineTest, MetricsThatAreNoFileExitWith7) {
  fs::create_directory(root_ + "/other");
  fs::create_directory(root_ + "/other/directory");
  ASSERT_EQ(mkfifo((root_ + "/other/pipe").c_str(), 0666), 0);  // opening it would wait for a reader
  for (const std::string name : {"directory", "pipe"}) {
    const std::string path = root_ + "/other/" + name;
    EXPECT_EQ(Run({bundle_, "--metrics", path}), 7);
    EXPECT_EQ(errors_, "sailrun: error: cannot write '" + path + "': it is not a regular file\n");
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(root_ + "/other"), fs::directory_iterator()), 2);  // no lock, no log
}

// A misspelt directory is an error, not a new directory.
TEST_F(CommandLineTest, MissingDirectoriesAreNamedAndNotCreated) {
  const std::string missing = root_ + "/no/such";
  const std::string expected = "error: cannot write to directory '" + missing + "': No such file or directory\n";
  for (const std::string command : {"", "controller"}) {
    std::vector<std::string> words = {bundle_, "--metrics", missing + "/metrics.jsonl"};
    if (!command.empty()) words.insert(words.begin(), command);
    EXPECT_EQ(Run(words), 7);
    EXPECT_EQ(errors_, "sailrun: " + expected);
  }
  EXPECT_EQ(Run({"agent", bundle_, "--node", "fast-0", "--store", "127.0.0.1:1", "--logs", missing}), 7);
  EXPECT_EQ(errors_, expected);
  EXPECT_FALSE(fs::exists(root_ + "/no"));
}

// Every form that writes to the directory; what the first run wrote stays.
TEST_F(CommandLineTest, ADirectoryInUseIsRefusedAndNotTouched) {
  const std::string run = RunDirectory(bundle_);
  ASSERT_EQ(OpenRunDirectory(run, bundle_), absl::OkStatus());
  std::ofstream(run + "/metrics.jsonl") << "precious";
  const absl::StatusOr<LockFile> controller = LockFile::Take(run + "/controller.lock");
  const absl::StatusOr<LockFile> agent = LockFile::Take(run + "/agent-fast-0.lock");
  const std::vector<std::vector<std::string>> runs = {
      {bundle_},
      {"controller", bundle_},
      {bundle_, "--metrics", run + "/others.jsonl"},  // the logs would be shared
      {"agent", bundle_, "--node", "fast-0", "--store", "127.0.0.1:1"}};
  for (const std::vector<std::string>& words : runs) {
    EXPECT_EQ(Run(words), 7);
    EXPECT_THAT(errors_, HasSubstr(absl::StrCat("another sailrun writes here: process ", getpid(), " holds '", run)));
  }
  std::ifstream metrics(run + "/metrics.jsonl");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(metrics), {}), "precious");
  EXPECT_FALSE(fs::exists(run + "/others.jsonl"));
}

TEST_F(CommandLineTest, PortName_AnOccupiedPortIsNamedWithItsAddress) {
  const int holder = socket(AF_INET6, SOCK_STREAM, 0);
  struct sockaddr_in6 any = {};
  any.sin6_family = AF_INET6;
  ASSERT_EQ(bind(holder, reinterpret_cast<struct sockaddr*>(&any), sizeof(any)), 0);
  ASSERT_EQ(listen(holder, 1), 0);
  socklen_t size = sizeof(any);
  ASSERT_EQ(getsockname(holder, reinterpret_cast<struct sockaddr*>(&any), &size), 0);
  const std::string port = absl::StrCat(ntohs(any.sin6_port));
  EXPECT_EQ(Run({bundle_, "--port", port}), 7);
  close(holder);
  EXPECT_THAT(errors_, MatchesRegex("sailrun: error: cannot serve the store on 127.0.0.1:" + port + ": .*in use.*\n"));
}

}  // namespace
}  // namespace sail::rt
