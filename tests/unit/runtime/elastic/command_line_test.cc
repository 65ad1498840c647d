// What sailrun refuses before it starts any process. Runs in this process; a trainer would fail the test.
#include "runtime/elastic/command_line.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
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

TEST_F(CommandLineTest, AnUnknownNodeIsRefused) {
  EXPECT_EQ(Run({"agent", bundle_, "--node", "moon-0", "--store", "127.0.0.1:1"}), 2);
  EXPECT_THAT(errors_, HasSubstr("the plan has no node 'moon-0'"));
}

TEST_F(CommandLineTest, MetricsThatCannotBeWrittenExitWith7) {
  fs::create_directory(root_ + "/directory");
  EXPECT_EQ(Run({bundle_, "--metrics", root_ + "/directory"}), 7);
  EXPECT_EQ(errors_, "sailrun: error: cannot write '" + root_ + "/directory'\n");
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
