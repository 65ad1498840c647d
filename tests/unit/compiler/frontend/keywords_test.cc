#include "compiler/frontend/keywords.h"

#include <algorithm>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sail {
namespace {

using ::testing::Contains;
using ::testing::Not;

TEST(KeywordsTest, AreTheWordsOfTheGrammar) {
  for (const char* word : {"sail", "import", "let", "not", "true", "fn"}) EXPECT_THAT(ReservedWords(), Contains(word));
  for (const char* word : {"as", "link", "to", "minimize", "snapshot"}) EXPECT_THAT(SoftWords(), Contains(word));
  EXPECT_THAT(SoftWords(), Not(Contains("let")));
  EXPECT_THAT(ReservedWords(), Not(Contains("as")));
}

TEST(KeywordsTest, AreSortedWordsOnly) {
  for (const std::vector<std::string>& words : {ReservedWords(), SoftWords()}) {
    EXPECT_TRUE(std::is_sorted(words.begin(), words.end()));
    for (const std::string& word : words) {
      EXPECT_EQ(word.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789"), std::string::npos) << word;
    }
  }
}

}  // namespace
}  // namespace sail
