#include "compiler/driver/html_text.h"

#include "gtest/gtest.h"

namespace sail::driver {
namespace {

TEST(EscapeHtml, NothingOfATextIsMarkup) {
  EXPECT_EQ(EscapeHtml("<b a='1' c=\"2\">&amp;</b>"), "&lt;b a=&#39;1&#39; c=&quot;2&quot;&gt;&amp;amp;&lt;/b&gt;");
  EXPECT_EQ(EscapeHtml("größer → 3"), "größer → 3");
}

TEST(EscapeHtml, WhatMustNotBePrintedIsReplaced) {
  EXPECT_EQ(EscapeHtml(absl::string_view("a\0b\x1b[0m", 7)), "a\uFFFDb\uFFFD[0m");
  EXPECT_EQ(EscapeHtml("\u202Eabc"), "\uFFFDabc");  // right-to-left override
  EXPECT_EQ(EscapeHtml("\xC3("), "\uFFFD(");        // cut off in the middle of a character
}

TEST(Shorten, CutsWholeCharactersAndMarksTheCut) {
  EXPECT_EQ(Shorten("a100", 4), "a100");
  EXPECT_EQ(Shorten("a100-us-central1-b", 9), "a100…l1-b");
  EXPECT_EQ(Shorten("a100x", 4), "a1…x");
  EXPECT_EQ(Shorten("größer", 5), "gr…er");
  EXPECT_EQ(Shorten("größere", 6), "grö…re");
  EXPECT_EQ(Shorten("日本語", 5), "日…語");  // two cells each
  EXPECT_EQ(Shorten("", 4), "");
}

TEST(HtmlTable, EveryCellIsEscapedAndTheFirstColumnNamesTheRow) {
  Table table("<>", {"what", "a<b"});
  table.Add({"<i>", "1"});
  EXPECT_EQ(HtmlTable(table, "x & y"),
            "<table>\n<caption>x &amp; y</caption>\n"
            "<thead><tr><th scope=\"col\">what</th><th scope=\"col\" class=\"r\">a&lt;b</th></tr></thead>\n<tbody>\n"
            "<tr><th scope=\"row\">&lt;i&gt;</th><td class=\"r\">1</td></tr>\n</tbody>\n</table>\n");
}

}  // namespace
}  // namespace sail::driver
