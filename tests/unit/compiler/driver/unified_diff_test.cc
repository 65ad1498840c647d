#include "compiler/driver/unified_diff.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "compiler/base/rng.h"
#include "gtest/gtest.h"

namespace sail::driver {
namespace {

std::string Numbers(int first, int last) {
  std::string text;
  for (int i = first; i <= last; ++i) absl::StrAppend(&text, i, "\n");
  return text;
}

// What `patch` would make of `before`: kept and removed lines must be there, at the line that the hunk names.
std::string Apply(const std::string& before, const std::string& diff) {
  const std::vector<std::string> old_lines = absl::StrSplit(before, '\n');
  const std::vector<std::string> lines = absl::StrSplit(diff, '\n');
  std::string after;
  size_t at = 0;  // in old_lines
  const auto take = [&](bool keep) {
    if (keep) absl::StrAppend(&after, old_lines[at], at + 1 < old_lines.size() ? "\n" : "");
    ++at;
  };
  for (size_t i = 2; i + 1 < lines.size(); ++i) {
    const std::string& line = lines[i];
    if (absl::StartsWith(line, "@@ -")) {
      const std::vector<std::string> range = absl::StrSplit(line.substr(4, line.find(' ', 4) - 4), ',');
      int first = 0;
      EXPECT_TRUE(absl::SimpleAtoi(range[0], &first));
      const bool empty = range.size() == 2 && range[1] == "0";
      while (at + (empty ? 0 : 1) < static_cast<size_t>(first)) take(true);
    } else if (line[0] == '+') {
      const bool no_end = absl::StartsWith(lines[i + 1], "\\");
      absl::StrAppend(&after, line.substr(1), no_end ? "" : "\n");
    } else if (line[0] != '\\') {
      EXPECT_EQ(line.substr(1), old_lines[at]);
      take(line[0] == ' ');
    }
  }
  while (at < old_lines.size()) take(true);
  return after;
}

TEST(UnifiedDiffTest, EqualTextsDoNotDiffer) { EXPECT_EQ(UnifiedDiff("a\nb\n", "a\nb\n", "x", "y"), ""); }

TEST(UnifiedDiffTest, AChangeHasThreeLinesAround) {
  std::string after = Numbers(1, 20);
  after.replace(after.find("10\n"), 3, "ten\n");
  EXPECT_EQ(UnifiedDiff(Numbers(1, 20), after, "old", "new"),
            "--- old\n+++ new\n@@ -7,7 +7,7 @@\n 7\n 8\n 9\n-10\n+ten\n 11\n 12\n 13\n");
}

TEST(UnifiedDiffTest, ChangesShareAHunkWhenTheirContextsTouch) {
  // Six equal lines between: one hunk. Seven: two.
  EXPECT_EQ(UnifiedDiff("a\n" + Numbers(1, 6) + "b\n", "x\n" + Numbers(1, 6) + "y\n", "old", "new"),
            "--- old\n+++ new\n@@ -1,8 +1,8 @@\n-a\n+x\n 1\n 2\n 3\n 4\n 5\n 6\n-b\n+y\n");
  EXPECT_EQ(UnifiedDiff("a\n" + Numbers(1, 7) + "b\n", "x\n" + Numbers(1, 7) + "y\n", "old", "new"),
            "--- old\n+++ new\n@@ -1,4 +1,4 @@\n-a\n+x\n 1\n 2\n 3\n@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-b\n+y\n");
}

TEST(UnifiedDiffTest, EmptyRangesNameTheLineBefore) {
  EXPECT_EQ(UnifiedDiff("", "a\n", "old", "new"), "--- old\n+++ new\n@@ -0,0 +1 @@\n+a\n");
  EXPECT_EQ(UnifiedDiff("a\n", "", "old", "new"), "--- old\n+++ new\n@@ -1 +0,0 @@\n-a\n");
}

TEST(UnifiedDiffTest, AMissingLastLineEndIsShown) {
  EXPECT_EQ(UnifiedDiff("a", "a\n", "old", "new"),
            "--- old\n+++ new\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n");
}

TEST(UnifiedDiffTest, TextsThatShareNothingAreReplaced) {
  const std::string before = Numbers(1, kMaxEdits), after = Numbers(-kMaxEdits, -1);
  const std::string diff = UnifiedDiff(before, after, "old", "new");
  EXPECT_EQ(Apply(before, diff), after);
}

TEST(UnifiedDiffTest, AppliedToTheOldTextItGivesTheNew) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    Rng rng(seed);
    std::string before, after;
    const int lines = static_cast<int>(rng.Below(40));
    for (int i = 0; i < lines; ++i) {
      const std::string line = absl::StrCat(rng.Below(5), "\n");
      const uint64_t kind = rng.Below(10);
      if (kind != 0) before += line;
      if (kind > 1) after += line;
    }
    if (before == after) continue;
    EXPECT_EQ(Apply(before, UnifiedDiff(before, after, "old", "new")), after) << "seed " << seed;
  }
}

}  // namespace
}  // namespace sail::driver
