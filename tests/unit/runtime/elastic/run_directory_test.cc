#include "runtime/elastic/run_directory.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sail::rt {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class RunDirectoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "/run_directory.XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    path_ = root_ + "/lock";
  }
  void TearDown() override { fs::remove_all(root_); }

  std::string root_, path_;
};

TEST_F(RunDirectoryTest, OnlyTheBundlesOwnIsCreated) {
  const std::string bundle = root_ + "/b";
  EXPECT_EQ(OpenRunDirectory(root_ + "/b.run", bundle), absl::OkStatus());
  EXPECT_TRUE(fs::is_directory(root_ + "/b.run"));
  EXPECT_EQ(OpenRunDirectory(root_ + "/b.run", bundle), absl::OkStatus());
  EXPECT_EQ(OpenRunDirectory(root_, bundle), absl::OkStatus());
  EXPECT_EQ(OpenRunDirectory("", bundle), absl::OkStatus());

  for (const std::string missing : {"/c", "/c/d", "/b.run/c", "/c.run"}) {
    const absl::Status status = OpenRunDirectory(root_ + missing, bundle);
    EXPECT_THAT(std::string(status.message()), HasSubstr("'" + root_ + missing + "': No such file")) << missing;
    EXPECT_FALSE(fs::exists(root_ + missing));
  }
  EXPECT_FALSE(OpenRunDirectory(root_ + "/no/b.run", root_ + "/no/b").ok());
  std::ofstream(root_ + "/file") << "x";
  EXPECT_THAT(std::string(OpenRunDirectory(root_ + "/file", bundle).message()), HasSubstr("Not a directory"));
  fs::create_directory(root_ + "/f");
  std::ofstream(root_ + "/f.run") << "x";
  EXPECT_FALSE(OpenRunDirectory(root_ + "/f.run", root_ + "/f").ok());
}

TEST_F(RunDirectoryTest, ASecondHolderIsToldOfTheFirst) {
  std::optional<LockFile> first;
  {
    absl::StatusOr<LockFile> taken = LockFile::Take(path_);
    ASSERT_EQ(taken.status(), absl::OkStatus());
    first.emplace(*std::move(taken));
  }
  const absl::Status second = LockFile::Take(path_).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(second)) << second;
  EXPECT_EQ(second.message(), absl::StrCat("another sailrun writes here: process ", getpid(), " holds '", path_, "'"));
  first.reset();
  EXPECT_FALSE(fs::exists(path_));
  EXPECT_EQ(LockFile::Take(path_).status(), absl::OkStatus());
}

TEST_F(RunDirectoryTest, FilesThatWereLeftBehindAreTakenOver) {
  std::ofstream(path_) << "999999999999\n";
  EXPECT_EQ(LockFile::Take(path_).status(), absl::OkStatus());

  const pid_t child = fork();
  if (child == 0) {
    const absl::StatusOr<LockFile> held = LockFile::Take(path_);
    kill(getpid(), SIGKILL);
  }
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(fs::exists(path_));
  EXPECT_EQ(LockFile::Take(path_).status(), absl::OkStatus());
}

TEST_F(RunDirectoryTest, FilesThatCannotBeWrittenAreNamed) {
  EXPECT_THAT(std::string(LockFile::Take(root_ + "/no/lock").status().message()), HasSubstr(root_ + "/no/lock"));
  EXPECT_FALSE(LockFile::Take(root_).ok());
}

// Holders come and go; at no time are there two, though each removes the file. Whoever holds the lock creates a mark
// that must not exist.
TEST_F(RunDirectoryTest, ThereIsNeverASecondHolder) {
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      int held = 0;
      while (held < 100) {
        const absl::StatusOr<LockFile> lock = LockFile::Take(path_);
        if (!lock.ok()) {
          if (!absl::IsFailedPrecondition(lock.status())) _exit(2);
          continue;
        }
        const int mark = open((root_ + "/mark").c_str(), O_CREAT | O_EXCL | O_WRONLY, 0666);
        if (mark < 0) _exit(1);
        close(mark);
        unlink((root_ + "/mark").c_str());
        ++held;
      }
      _exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
}

}  // namespace
}  // namespace sail::rt
