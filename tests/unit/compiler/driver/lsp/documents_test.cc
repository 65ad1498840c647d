#include "compiler/driver/lsp/documents.h"

#include "gtest/gtest.h"
#include "tests/support/memory_file_system.h"

namespace sail::lsp {
namespace {

constexpr char kUri[] = "file:///w/a.sail";

Json Opened(const char* text) { return {{"textDocument", {{"uri", kUri}, {"version", 1}, {"text", text}}}}; }
Json Edit(int line, int from, int to, const char* text) {
  return {{"range", {{"start", {{"line", line}, {"character", from}}}, {"end", {{"line", line}, {"character", to}}}}},
          {"text", text}};
}
Json Changed(std::vector<Json> changes) {
  return {{"textDocument", {{"uri", kUri}, {"version", 2}}}, {"contentChanges", std::move(changes)}};
}

TEST(DocumentsTest, OpenTextsShadowFiles) {
  MemoryFileSystem disk;
  disk.Add("/w/a.sail", "saved");
  disk.Add("/w/b.sail", "other");
  Documents documents(disk);
  EXPECT_EQ(*documents.Read("/w/a.sail", 100), "saved");
  ASSERT_TRUE(documents.Open(Opened("typed")).ok());
  EXPECT_EQ(*documents.Read("/w/a.sail", 100), "typed");
  EXPECT_EQ(*documents.Read("/w/b.sail", 100), "other");
  EXPECT_TRUE(documents.Exists("/w/a.sail") && documents.Exists("/w/b.sail") && !documents.Exists("/w/c.sail"));
  EXPECT_FALSE(documents.Read("/w/a.sail", 4).ok());
  ASSERT_TRUE(documents.Close(Opened("")).ok());
  EXPECT_EQ(*documents.Read("/w/a.sail", 100), "saved");
}

// Each change counts in the text that the one before it left: "ab" → "aXb" → "aX" → "aX!".
TEST(DocumentsTest, ChangesApplyInOrder) {
  const MemoryFileSystem disk;
  Documents documents(disk);
  ASSERT_TRUE(documents.Open(Opened("ab")).ok());
  ASSERT_TRUE(documents.Change(Changed({Edit(0, 1, 1, "X"), Edit(0, 2, 3, ""), Edit(0, 9, 9, "!")})).ok());
  EXPECT_EQ((*documents.Find(Opened("")))->text, "aX!");
  EXPECT_EQ((*documents.Find(Opened("")))->version, 2);
  ASSERT_TRUE(documents.Change(Changed({{{"text", "whole"}}})).ok());
  EXPECT_EQ((*documents.Find(Opened("")))->text, "whole");
}

TEST(DocumentsTest, AFaultyNotificationChangesNothing) {
  const MemoryFileSystem disk;
  Documents documents(disk);
  EXPECT_FALSE(documents.Change(Changed({})).ok());  // not open
  ASSERT_TRUE(documents.Open(Opened("ab")).ok());
  EXPECT_FALSE(documents.Change(Changed({Edit(0, 0, 1, "X"), Edit(0, 1, 0, "")})).ok());
  EXPECT_EQ((*documents.Find(Opened("")))->text, "ab");
  EXPECT_EQ((*documents.Find(Opened("")))->version, 1);
}

}  // namespace
}  // namespace sail::lsp
