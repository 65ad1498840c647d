// Files, JSON, hashes, positions, units.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "compiler/base/file_system.h"
#include "compiler/base/json.h"
#include "compiler/base/sha256.h"
#include "compiler/base/source.h"
#include "compiler/base/units.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sail {
namespace {

using ::testing::HasSubstr;

class Files : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "/sail_base_test.XXXXXX";
    directory_ = mkdtemp(name.data());
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  std::string Path(const std::string& name) const { return directory_ + "/" + name; }
  int FileCount() const { return static_cast<int>(std::distance(std::filesystem::directory_iterator(directory_), {})); }
  std::string directory_;
};

TEST_F(Files, WriteThenRead) {
  ASSERT_TRUE(WriteFileAtomically(Path("a"), "text\n").ok());
  EXPECT_EQ(*RealFileSystem().Read(Path("a"), 100), "text\n");
  EXPECT_EQ(FileCount(), 1);
}

TEST_F(Files, EqualBytesAreNotRewritten) {
  ASSERT_TRUE(WriteFileAtomically(Path("a"), "same").ok());
  struct stat before, after;
  ASSERT_EQ(stat(Path("a").c_str(), &before), 0);
  ASSERT_TRUE(WriteFileAtomically(Path("a"), "same").ok());
  ASSERT_EQ(stat(Path("a").c_str(), &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino);
}

TEST_F(Files, AFailedWriteLeavesTheOldFileAndNoRest) {
  std::filesystem::create_directory(Path("target"));
  std::ofstream(Path("target/inner")) << "x";
  EXPECT_FALSE(WriteFileAtomically(Path("target"), "new").ok());  // a directory cannot be replaced by a file
  EXPECT_EQ(FileCount(), 1);
  EXPECT_FALSE(WriteFileAtomically(Path("absent/a"), "x").ok());
}

// A child writes one of two large files over the other again and again, until it is told to end.
TEST_F(Files, AnEndingSignalLeavesAWholeFileAndNoRest) {
  constexpr size_t kSize = 4 << 20;
  for (int round = 0; round < 5; ++round) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      for (bool even = true;; even = !even) {
        if (!WriteFileAtomically(Path("a"), std::string(kSize, even ? 'x' : 'y')).ok()) _exit(1);
      }
    }
    while (!std::filesystem::exists(Path("a"))) usleep(1000);
    usleep(20'000 + 7'000 * round);
    kill(child, SIGTERM);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) << status;
    EXPECT_EQ(FileCount(), 1);
    EXPECT_EQ(RealFileSystem().Read(Path("a"), kSize)->size(), kSize);
  }
}

TEST_F(Files, ReadErrorsNameThePath) {
  const RealFileSystem files;
  EXPECT_EQ(files.Read(Path("absent"), 10).status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(files.Read(Path("absent"), 10).status().message()), HasSubstr("absent"));
  EXPECT_THAT(std::string(files.Read(directory_, 10).status().message()), HasSubstr("is a directory"));
  std::ofstream(Path("big")) << "0123456789";
  EXPECT_TRUE(files.Read(Path("big"), 10).ok());
  EXPECT_THAT(std::string(files.Read(Path("big"), 9).status().message()), HasSubstr("larger than 9 bytes"));
}

TEST_F(Files, OnlyRegularFilesAreReadOrReplaced) {
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  EXPECT_THAT(std::string(RealFileSystem().Read(Path("pipe"), 10).status().message()), HasSubstr("not a regular file"));
  EXPECT_FALSE(WriteFileAtomically(Path("pipe"), "x").ok());
  EXPECT_TRUE(std::filesystem::is_fifo(Path("pipe")));
}

TEST_F(Files, WritingThroughALinkKeepsTheLink) {
  std::ofstream(Path("target")) << "old";
  std::filesystem::create_symlink(Path("target"), Path("link"));
  ASSERT_TRUE(WriteFileAtomically(Path("link"), "new").ok());
  EXPECT_TRUE(std::filesystem::is_symlink(Path("link")));
  EXPECT_EQ(*RealFileSystem().Read(Path("target"), 10), "new");
}

TEST(JoinPath, FoldsDots) {
  EXPECT_EQ(JoinPath("a/b", "../c.sail"), "a/c.sail");
  EXPECT_EQ(JoinPath("", "./x"), "x");
  EXPECT_EQ(JoinPath("a", ".."), ".");
  EXPECT_EQ(JoinPath("/", "."), "/");
  EXPECT_EQ(JoinPath("a", "/x/../y"), "/y");
  EXPECT_EQ(JoinPath("..", "../x"), "../../x");
  EXPECT_EQ(DirectoryOf("a/b.sail"), "a");
  EXPECT_EQ(DirectoryOf("b.sail"), "");
}

TEST(Json, CanonicalText) { EXPECT_EQ(DumpJson({{"b", 1}, {"a", 0.1}}), "{\n  \"a\": 0.1,\n  \"b\": 1\n}\n"); }

TEST(Json, RejectsDuplicateKeysTrailingTextAndDepth) {
  EXPECT_THAT(std::string(ParseJson("{\"a\":1,\"a\":2}", "x").status().message()), HasSubstr("given twice"));
  EXPECT_FALSE(ParseJson("{} {}", "x").ok());
  EXPECT_THAT(std::string(ParseJson(std::string(100'000, '['), "x").status().message()), HasSubstr("nested deeper"));
}

TEST(ObjectReader, ErrorsNameThePlaceInTheDocument) {
  const Json json = {{"n", "text"}, {"more", 1}};
  int n = 0;
  ObjectReader wrong(json, "plan.stages[2]");
  wrong.Get("n", &n);
  EXPECT_EQ(wrong.Finish().message(), "plan.stages[2].n: expected an integer");
  ObjectReader absent(json, "plan");
  absent.Get("q", &n);
  EXPECT_EQ(absent.Finish().message(), "plan.q: missing; expected an integer");
  ObjectReader unread(json, "plan");
  unread.Ignore("n");
  EXPECT_EQ(unread.Finish().message(), "plan.more: unknown field");
}

// FIPS 180-4, example "abc".
TEST(Sha256, KnownAnswer) {
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

// Case cr-only: LF, CRLF and lone CR end lines, and columns count code points.
TEST(SourceFile, LocatesLinesAndCodePoints) {
  const SourceFile file("x.sail", "a\nb\r\nc\r\u00e9d");
  EXPECT_EQ(file.line_count(), 4);
  EXPECT_EQ(file.Locate(5).line, 3);
  EXPECT_EQ(file.Line(2), "b");
  const LineColumn d = file.Locate(static_cast<int>(file.text().size()) - 1);
  EXPECT_EQ(d.line, 4);
  EXPECT_EQ(d.column, 2);
}

TEST(Units, OnlyMeaningfulOperationsExist) {
  EXPECT_EQ((Bytes(1000) / BytesPerSecond(100)).value(), 10);
  EXPECT_EQ((UsdPerHour(36) * Seconds(100)).value(), 1);
  EXPECT_EQ(Seconds(6) / Seconds(2), 3);
}

TEST(UnitsDeathTest, BytesOverflowIsAnInternalError) {
  EXPECT_EXIT({ [[maybe_unused]] const Bytes b = Bytes(INT64_MAX) + Bytes(1); }, testing::ExitedWithCode(70),
              "internal error");
}

}  // namespace
}  // namespace sail
