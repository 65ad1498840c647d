// A signal that ends the process while it writes a bundle: what was there before or the whole new bundle remains, and
// nothing beside it.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/bundle/bundle.h"
#include "tests/support/tiny_bundle.h"

namespace sail::rt {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int kDone = 0, kCancelled = 1, kOther = 2;

class InterruptedBundleTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "/interrupted.XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    path_ = root_ + "/out";
  }
  void TearDown() override { fs::remove_all(root_); }

  std::vector<std::string> Entries() {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(root_)) names.push_back(entry.path().filename());
    return names;
  }
  // In a process of its own; its status as waitpid gives it. `before` runs there first, `meanwhile` here.
  template <class Before, class Meanwhile>
  int Write(const Bundle& bundle, Before before, Meanwhile meanwhile) {
    const pid_t child = fork();
    if (child == 0) {
      before();
      const absl::Status status = WriteBundle(bundle, path_);
      _exit(status.ok() ? kDone : absl::IsCancelled(status) ? kCancelled : kOther);
    }
    meanwhile(child);
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return status;
  }
  // The bundle at path_, as the seed of its job.
  uint64_t SeedThere() {
    const absl::StatusOr<Bundle> bundle = ReadBundle(path_);
    EXPECT_TRUE(bundle.ok()) << bundle.status();
    return bundle.ok() ? bundle->problem.job.seed : 0;
  }

  std::string root_, path_;
};

Bundle WithSeed(uint64_t seed) {
  Bundle bundle = test::TinyBundle();
  bundle.problem.job.seed = seed;
  return bundle;
}

// The signal waits before the first file: the writer gives up, and dies of it where it no longer holds it.
TEST_F(InterruptedBundleTest, AWaitingSignalEndsTheWriting) {
  const auto block_and_raise = [] {
    sigset_t term;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    sigprocmask(SIG_BLOCK, &term, nullptr);
    raise(SIGTERM);
  };
  const auto nothing = [](pid_t) {};
  int status = Write(WithSeed(1), block_and_raise, nothing);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == kCancelled) << status;
  EXPECT_THAT(Entries(), IsEmpty());

  ASSERT_EQ(WriteBundle(WithSeed(1), path_), absl::OkStatus());
  status = Write(WithSeed(2), block_and_raise, nothing);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == kCancelled) << status;
  EXPECT_THAT(Entries(), ElementsAre("out"));
  EXPECT_EQ(SeedThere(), 1U);
}

// At many moments, in the time that one bundle takes.
TEST_F(InterruptedBundleTest, NothingHalfWrittenRemains) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  ASSERT_EQ(WriteBundle(WithSeed(1), path_), absl::OkStatus());
  const auto takes = Clock::now() - start;
  constexpr int kMoments = 40;
  for (int moment = 0; moment < kMoments; ++moment) {
    SCOPED_TRACE(moment);
    const uint64_t before = SeedThere(), after = before + 1;
    const int status = Write(
        WithSeed(after), [] {},
        [&](pid_t child) {
          std::this_thread::sleep_for(takes * moment / kMoments);
          kill(child, SIGINT);
        });
    const uint64_t seed = SeedThere();
    EXPECT_TRUE(seed == before || seed == after) << seed;
    if (WIFEXITED(status)) {
      EXPECT_EQ(WEXITSTATUS(status), kDone);
      EXPECT_EQ(seed, after);
    } else {
      EXPECT_EQ(WTERMSIG(status), SIGINT);
    }
    EXPECT_THAT(Entries(), ElementsAre("out"));
  }
}

}  // namespace
}  // namespace sail::rt
