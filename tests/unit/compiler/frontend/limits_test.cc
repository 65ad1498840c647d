// Inputs made to exhaust stack, memory or time: one clear error each, quickly.
#include <ctime>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/compiler/frontend/parsed.h"

namespace sail {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr int kMany = 100'000;

class DeepTest : public testing::TestWithParam<std::string> {};

TEST_P(DeepTest, IsOneErrorAboutTheLimit) {
  const Parsed parsed = ParseText("sail 1\n" + GetParam());
  ASSERT_THAT(parsed.summaries, SizeIs(1)) << parsed.text;
  EXPECT_THAT(parsed.summaries[0], StartsWith("SAIL0119 "));
}

INSTANTIATE_TEST_SUITE_P(All, DeepTest,
                         testing::Values("let a = " + Repeat("(", kMany) + "1" +
                                             Repeat(")", kMany),                                 // nested parentheses
                                         "let a = " + Repeat("(", kMany),                        // never closed
                                         "let a = " + Repeat("[", kMany) + Repeat("]", kMany),   //
                                         Repeat("a { ", kMany) + Repeat("}", kMany),             //
                                         "let a = " + Repeat("- ", kMany) + "1",                 //
                                         "let a = " + Repeat("not ", kMany) + "true",            //
                                         "let a = " + Repeat("-(", 40) + "1" + Repeat(")", 40),  // 80 levels together
                                         "let a = 1" + Repeat(" + 1", kMany),                    //
                                         "let a = 1" + Repeat(" * 1 - 2", kMany / 2),            //
                                         "let a = x" + Repeat(" and x", kMany),                  //
                                         "let a = x" + Repeat(".y", kMany),                      //
                                         "let a = x" + Repeat("[1]", kMany),                     //
                                         "let a = x" + Repeat("()", kMany),                      //
                                         "let a = " + Repeat("f(", kMany),                       //
                                         "let a = " + Repeat("{ a = ", kMany),                   //
                                         "let a = " + Repeat("if x then 1 else ", kMany) + "2",  //
                                         "let a: " + Repeat("List<", kMany) + "Int",             //
                                         "param a: " + Repeat("A<b, ", kMany) + "Int",           //
                                         "let a = \"${" + Repeat("(", kMany) + "}\"",            //
                                         Repeat("for x in y { ", kMany)));

TEST(LimitsTest, DepthCountsBracketsAndPrefixOperatorsTogether) {
  EXPECT_TRUE(ParseText("sail 1\nlet a = " + Repeat("(", 64) + "1" + Repeat(")", 64)).ok);
  EXPECT_FALSE(ParseText("sail 1\nlet a = " + Repeat("(", 65) + "1" + Repeat(")", 65)).ok);
  EXPECT_TRUE(ParseText("sail 1\nlet a = " + Repeat("-(", 32) + "1" + Repeat(")", 32)).ok);
  EXPECT_TRUE(ParseText("sail 1\nlet a = [" + Repeat("-1, ", 1000) + "1]").ok) << "side by side is not nested";
}

TEST(LimitsTest, ChainsUpToTheLimitParseAndFormat) {
  const std::string text = "sail 1\nlet a = 1" + Repeat(" + 1", 255) + "\n";
  EXPECT_TRUE(ParseText(text).ok);
  EXPECT_EQ(FormatText(text), text);
}

// One string, however long.
TEST(LimitsTest, ManyInterpolationsTakeLinearTime) {
  const auto seconds = [](int count) {
    const std::string text =
        "sail 1\nlet a = \"" + Repeat("${b}", count) + "\"\nlet c = [" + Repeat("{d=1},", count) + "]\n";
    const std::clock_t begin = std::clock();
    EXPECT_NE(FormatText(text), "");
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  };
  const double few = seconds(500) + 0.002;
  EXPECT_LT(seconds(4000), 24 * few);
}

TEST(LimitsTest, WrongInterpolationsAreBounded) {
  const Parsed parsed = ParseText("sail 1\nlet a = \"" + Repeat("${b c}", 1000) + "\"\n", {.max_syntax_errors = 7});
  EXPECT_THAT(parsed.summaries, SizeIs(7));
}

TEST(LimitsTest, WideIsNotDeep) {
  EXPECT_TRUE(ParseText("sail 1\nlet a = [" + Repeat("1, ", kMany) + "1]").ok);
  EXPECT_TRUE(ParseText("sail 1\n" + Repeat("a b { c = 1 }\n", kMany / 10)).ok);
  EXPECT_TRUE(ParseText("sail 1\n" + Repeat("let a: List<List<Int>> = if b < c then d else e\n", kMany / 100)).ok);
  EXPECT_TRUE(ParseText("sail 1\nlet a = [" + Repeat("b < c, ", kMany / 100) + "]").ok);
}

TEST(LimitsTest, SizeIsCheckedBeforeAnythingElse) {
  const std::string at_limit = "sail 1\n#" + std::string((8 << 20) - 8, 'x');
  EXPECT_TRUE(ParseText(at_limit).ok);
  EXPECT_THAT(ParseText(at_limit + "\xFF").summaries,
              ElementsAre("SAIL0119 1:1 the file has 8388609 bytes; at most 8388608 are accepted"));
}

TEST(LimitsTest, NumberOfWordsIsBounded) {
  EXPECT_THAT(ParseText("sail 1\n" + Repeat("a ", 50), {.max_tokens = 20}).summaries,
              ElementsAre("SAIL0119 2:37 the file has more than 20 words"));
}

// Processor time for n and for 8n statements: linear means about 8 times; 24 leaves room for noise, and quadratic
// would be 64.
TEST(LimitsTest, TimeIsLinear) {
  for (const std::string unit : {"a b { c = x.y + 1 GiB, d = [1, 2] }\n",
                                 "let a = 1\n  - 2\n  - 3\n",
                                 "a { b = (1 }\n",
                                 "x = foo bar\n",
                                 "let a = \"\n",
                                 "} ",
                                 "\"\"\" ",
                                 "a { ",
                                 "- ",
                                 "let a = x let b = y\n",
                                 "let a = \"\\q\"\n",
                                 "@ ",
                                 "\"\"\"\n\\",
                                 "let a = \"${b}\"\n",
                                 "let a = \"\"\"\n  ${b}\n  \"\"\"\n",
                                 "let a = \"\\u{\"\n",
                                 "## doc\nlet a = 1\n",
                                 "for x in y { z \"${x}\" { } }\n",
                                 "assert a, \"b\"\n",
                                 "remove a\n",
                                 "if a then ",
                                 "let a: b<c> = {d = 1}\n"}) {
    const auto seconds = [&](int count) {
      const std::string text = "sail 1\n" + Repeat(unit, count);
      const std::clock_t begin = std::clock();
      ParseText(text);
      return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    };
    const double few = seconds(500) + 0.002;
    EXPECT_LT(seconds(4000), 24 * few) << unit;
  }
}

}  // namespace
}  // namespace sail
