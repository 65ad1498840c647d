#include "compiler/driver/lsp/completion.h"

#include <algorithm>

#include "compiler/frontend/keywords.h"
#include "compiler/passes/schema.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sail::lsp {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

Json Complete(const std::string& text, absl::string_view typed = "") {
  const SourceFile file("", text);
  const Document document{.uri = "", .path = "", .version = 1, .text = text};
  return Completion(document, nullptr, PositionAt(file, static_cast<int>(text.size())), typed);
}

std::vector<std::string> Labels(const std::string& text, absl::string_view typed = "") {
  std::vector<std::string> labels;
  for (const Json& item : Complete(text, typed)) labels.push_back(item["label"]);
  return labels;
}

TEST(CompletionTest, UnitsFitTheDimensionOfTheAttribute) {
  EXPECT_THAT(Labels("pool a { quota = 3 "), ElementsAre("nodes", "GPUs", "GPU", "node"));
  EXPECT_THAT(Labels("link { egress = 3 "), ElementsAre("USD/GB", "USD/GiB", "USD/TB"));
  EXPECT_THAT(Labels("price { spot = 3 "), ElementsAre("USD/h", "USD/day", "USD/GPU/h", "USD/node/h"));
  EXPECT_THAT(Labels("gpu a { usable_memory = 92 "), ElementsAre("%"));
  EXPECT_THAT(Labels("model a { hidden = 64 "), IsEmpty());
  EXPECT_THAT(Labels("job j { maximize nodes subject to { p: peak_memory <= 3 "), ElementsAre("%"));
}

TEST(CompletionTest, TheUsualUnitComesFirstAndShowsItsReading) {
  const Json items = Complete("machine a { nic = 100 G");
  EXPECT_EQ(items[0]["label"], "Gbps");
  EXPECT_EQ(items[0]["detail"], "a bandwidth");
  EXPECT_EQ(items[0]["documentation"], "100 Gbps = 12.5 GB/s");
  // The `G` is replaced.
  EXPECT_EQ(items[0]["textEdit"]["range"]["start"]["character"], 22);
  EXPECT_EQ(items[0]["textEdit"]["range"]["end"]["character"], 23);
}

// Every attribute of the schema is proposed in its block, with type and meaning; where any name is allowed there is
// nothing to propose.
TEST(CompletionTest, ProposesTheWholeSchema) {
  for (const AttributeSchema& attribute : Attributes()) {
    const Json items = Complete(std::string(attribute.kind) + " {\n  ");
    const auto item =
        std::find_if(items.begin(), items.end(), [&](const Json& i) { return i["label"] == attribute.name; });
    const bool is_open = absl::string_view(attribute.name) == "*";
    ASSERT_EQ(item == items.end(), is_open) << attribute.kind << "." << attribute.name;
    if (is_open) continue;
    EXPECT_FALSE((*item)["detail"].get<std::string>().empty());
    EXPECT_THAT((*item)["documentation"].get<std::string>(), ::testing::HasSubstr(attribute.doc));
  }
}

TEST(CompletionTest, KeywordsAreWordsOfTheLanguage) {
  std::vector<std::string> words = ReservedWords();
  const std::vector<std::string> soft = SoftWords();
  words.insert(words.end(), soft.begin(), soft.end());
  std::vector<std::string> keywords;
  for (const char* text : {"", "job j {\n"}) {
    for (const Json& item : Complete(text)) {
      if (item["detail"] == "keyword") keywords.push_back(item["label"]);
    }
  }
  ASSERT_GE(keywords.size(), 8);
  for (const std::string& keyword : keywords) EXPECT_THAT(words, Contains(keyword));
  EXPECT_THAT(Labels("pool a {\n"), Not(Contains("import")));
  EXPECT_THAT(Labels(""), Not(Contains("override")));
}

// Editors ask after every blank: an indented line must not open a list.
TEST(CompletionTest, ABlankAsksForUnitsAndValuesOnly) {
  EXPECT_THAT(Labels("pool a {\n  ", " "), IsEmpty());
  EXPECT_THAT(Labels("pool a { market = ", " "), ElementsAre("spot", "on_demand", "reserved"));
  EXPECT_THAT(Labels("model a { tied_head = ", " "), ElementsAre("true", "false"));
}

}  // namespace
}  // namespace sail::lsp
