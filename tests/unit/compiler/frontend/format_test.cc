#include "compiler/frontend/format.h"

#include "gtest/gtest.h"
#include "tests/unit/compiler/frontend/parsed.h"

namespace sail {
namespace {

struct FormatCase {
  const char* name;
  const char* source;    // after the edition line
  const char* expected;  // after the edition line
};

class FormatTest : public testing::TestWithParam<FormatCase> {};

TEST_P(FormatTest, LaysOutOnceAndForAll) {
  const std::string source = absl::StrCat("sail 1\n", GetParam().source);
  const std::string expected = absl::StrCat("sail 1\n", GetParam().expected);
  const std::string formatted = FormatText(source);
  EXPECT_EQ(formatted, expected) << ParseText(source).text;
  EXPECT_EQ(FormatText(formatted), formatted);
  EXPECT_EQ(ParseText(formatted).tree, ParseText(source).tree);
}

constexpr FormatCase kCases[] = {
    {"OneLineBlockStays", "gpu A{memory=40GiB,peak = 312   TFLOP/s,}\n",
     "gpu A { memory = 40 GiB, peak = 312 TFLOP/s }\n"},
    {"OneLineBlockThatIsTooLongIsBroken",
     "link aaaaaaaaaaaaaaaaaaaa <-> bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb { bandwidth = 100 Gbps, latency = 30 us, egress = 0 "
     "USD/GB }\n",
     "link aaaaaaaaaaaaaaaaaaaa <-> bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb {\n  bandwidth = 100 Gbps\n  latency   = 30 us\n"
     "  egress    = 0 USD/GB\n}\n"},
    {"InnerBlockStaysWhenTheOuterBreaks",
     "aaaaaaaaaaaaaaaaaaaaaaa bbbbbbbbbbbbbbbbbbbbb { ccccccccccccccccc ddddddddddddddd { e = 1 }, f { g = 222222222 } "
     "}\n",
     "aaaaaaaaaaaaaaaaaaaaaaa bbbbbbbbbbbbbbbbbbbbb {\n  ccccccccccccccccc ddddddddddddddd { e = 1 }\n"
     "  f { g = 222222222 }\n}\n"},
    {"SeveralLines", "a {\nbb=1,c=2\n\n\n\nddd = 3 }\n", "a {\n  bb = 1\n  c  = 2\n\n  ddd = 3\n}\n"},
    {"EmptyBlock", "zone \"a\" {\n}\nb{}\n", "zone \"a\" { }\nb { }\n"},
    {"AlignmentStopsAtBlocksCommentsAndEmptyLines",
     "a {\n  b = 1\n  ccc = 2\n  # x\n  d = 3\n  e { f = 1 }\n  gg = 4\n\n  h.i = 5\n  j = 6\n}\n",
     "a {\n  b   = 1\n  ccc = 2\n  # x\n  d = 3\n  e { f = 1 }\n  gg = 4\n\n  h.i = 5\n  j   = 6\n}\n"},
    {"Comments", "# top\n## doc\na {# one\n# two\n  b = 1# three   \n  c = 2, # four\n  # five\n} # six\n# end",
     "# top\n## doc\na {  # one\n  # two\n  b = 1  # three\n  c = 2  # four\n  # five\n}  # six\n# end\n"},
    {"CommentsInsideStatements", "a {\n  b = [1, # one\n  2 # two\n  ]\n  c # three\n  = 1\n}\n",
     "a {\n  b = [1,  # one\n    2  # two\n  ]\n  c  # three\n      = 1\n}\n"},
    {"CommentBeforeBrace", "a # one\n{ b = 1 }\n", "a  # one\n{ b = 1 }\n"},
    {"BlockOfOneComment", "a {\n# x\n}\n", "a {\n  # x\n}\n"},
    {"EmptyLinesBetweenItems", "\n\n\nlet a = 1\n\n\n\nlet b = 2\nlet c = 3\n\n\n",
     "\nlet a = 1\n\nlet b = 2\nlet c = 3\n"},
    {"Expressions", "let a=1+2*-3-(4)/b . c..8\nlet d=not x and -y==[1,2,]\n",
     "let a = 1 + 2 * -3 - (4) / b.c..8\nlet d = not x and -y == [1, 2]\n"},
    {"Money", "let a = $3.67/h\nlet b = $ 5 + 1 USD\n", "let a = 3.67 USD/h\nlet b = 5 USD + 1 USD\n"},
    {"UnitsKeepTheirSpelling", "let a = 1nodes\nlet b = 92 %\nlet c: iters / s = 3 USD / h\n",
     "let a = 1 nodes\nlet b = 92%\nlet c: iters/s = 3 USD / h\n"},
    {"LineBreaksInExpressions", "let a = 1\n + 2\nlet b = [\n1, 2,\n[3,\n4]\n,]\n",
     "let a = 1\n    + 2\nlet b = [\n  1, 2,\n  [3,\n    4]\n  ,]\n"},
    {"Objective", "j {\n minimize a then maximize b subject to { aa: x<=1, b:y>=2 }\n}\n",
     "j {\n  minimize a then maximize b\n    subject to { aa: x <= 1, b: y >= 2 }\n}\n"},
    {"Constraints", "j {\n minimize a\n then maximize b\n subject to {\n aa: x<=1 # one\n b:y>=2, z > 3\n}\n}\n",
     "j {\n  minimize a\n    then maximize b\n    subject to {\n      aa: x <= 1  # one\n      b:  y >= 2\n      z > "
     "3\n"
     "    }\n}\n"},
    {"ObjectiveInOneLineBlock", "j { minimize a subject to { b: c < 1 } }\n",
     "j { minimize a subject to { b: c < 1 } }\n"},
    {"Links", "r {\nlink * <->* within zone{ a=1 }\nlink \"a\"->b.c {}\n}\n",
     "r {\n  link * <-> * within zone { a = 1 }\n  link \"a\" -> b.c { }\n}\n"},
    {"StringsAreNotTouched", "let a = \"x  # \\u{e9} \\\" \"\n", "let a = \"x  # \\u{e9} \\\" \"\n"},
    {"BraceOnItsOwnLine", "a b\n{\n  c = 1\n}\n", "a b {\n  c = 1\n}\n"},
};

INSTANTIATE_TEST_SUITE_P(All, FormatTest, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(FormatFileTest, LineEndsByteOrderMarkAndLastLine) {
  EXPECT_EQ(FormatText("\xEF\xBB\xBFsail 1\r\nlet a = 1 \r\n\r\n\r\nlet b = 2"), "sail 1\nlet a = 1\n\nlet b = 2\n");
  EXPECT_EQ(FormatText("# x\n\nsail   1"), "# x\n\nsail 1\n");
}

TEST(FormatFileTest, WrongTextIsNotTouched) {
  SourceManager sources;
  DiagnosticSink sink;
  const absl::StatusOr<std::string> formatted = Format(sources, sources.Add("a", "sail 1\nlet = 1\n"), {}, sink);
  EXPECT_TRUE(IsDiagnosedError(formatted.status()));
  EXPECT_EQ(sink.error_count(), 1);
}

}  // namespace
}  // namespace sail
