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
    {"MembersOfNumbers", "let a = 32 .b\nlet c = 1.5 . d\nlet e = 2 GiB .f\n",
     "let a = 32 .b\nlet c = 1.5 .d\nlet e = 2 GiB.f\n"},
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
    {"Statements",
     "import \"./a.sail\"\nsha256 \"5f\" as b\nparam c:Map< String,iters / s > ?={ } where  c==none\nassert len( d "
     ")<=2,\"e\"\n"
     "warn f ,\n\"g\"\n",
     "import \"./a.sail\"\n    sha256 \"5f\" as b\nparam c: Map<String, iters/s>? = { } where c == none\n"
     "assert len(d) <= 2, \"e\"\nwarn f,\n    \"g\"\n"},
    {"ForBlocks", "for z ,n in a.b if n>0 nodes{pool \"p-${z}\"{c=n}}\nr { for x in y\n{ p { } }\n}\n",
     "for z, n in a.b if n > 0 nodes { pool \"p-${z}\" { c = n } }\nr {\n  for x in y { p { } }\n}\n"},
    {"Headers", "m \"a\"  as b   extends c . d{ override e=1,remove pool  f,remove  price, override gg.h=2 }\n",
     "m \"a\" as b extends c.d { override e = 1, remove pool f, remove price, override gg.h = 2 }\n"},
    {"OverridesAlign", "m extends a {\n override b=1\n override c.d=2\n remove pool x\n e=3\n}\n",
     "m extends a {\n  override b   = 1\n  override c.d = 2\n  remove pool x\n  e = 3\n}\n"},
    {"Records", "let a={b=1,cc=\"x\",}\nlet d = {\nee=1\nf = { g=2 }, h=3\n}.f\nj { k={} , l={m=1} }\n",
     "let a = { b = 1, cc = \"x\" }\nlet d = {\n  ee = 1\n  f  = { g = 2 }\n  h  = 3\n}.f\n"
     "j { k = { }, l = { m = 1 } }\n"},
    {"RecordsInLists", "a {\n  b = [\n  { c=1 },\n  {\n  d=2 # two\n  }\n  ]\n}\n",
     "a {\n  b = [\n    { c = 1 },\n    {\n      d = 2  # two\n    }\n  ]\n}\n"},
    {"RecordThatIsTooLongIsBroken",
     "let aaaaaaaaaaaaaaaaaaaaaaaaaaaa = { bbbbbbbbbbbbbbbbbbbbbbb = 1, cccccccccccccccccccccc = 2, ddddddddddd = 3 "
     "}\n",
     "let aaaaaaaaaaaaaaaaaaaaaaaaaaaa = {\n  bbbbbbbbbbbbbbbbbbbbbbb = 1\n  cccccccccccccccccccccc  = 2\n"
     "  ddddddddddd             = 3\n}\n"},
    {"RecordArgument", "let a = f(x, {b=1},\n{c=2,\nd=3})\n",
     "let a = f(x, { b = 1 },\n  {\n    c = 2\n    d = 3\n  })\n"},
    {"CallsAndComprehensions",
     "let a=f (x,hidden=4)[0] .b\nlet c=all( [ l.x<=1 ms for l,m in p.q if not m ] )\nlet d=[e\nfor e in f\nif e]\n",
     "let a = f(x, hidden = 4)[0].b\nlet c = all([l.x <= 1 ms for l, m in p.q if not m])\nlet d = [e\n  for e in f\n  "
     "if e]\n"},
    {"Conditionals", "let a=if b then 1 else-2\nlet c=if d\nthen 1\nelse if e then 2\nelse 3\n",
     "let a = if b then 1 else -2\nlet c = if d\n    then 1\n    else if e then 2\n    else 3\n"},
    {"DocComments", "## One.\n##two\nlet a=1\n## Three.\nb{## four\n## five\nc=1\n}\n",
     "## One.\n##two\nlet a = 1\n## Three.\nb {  ## four\n  ## five\n  c = 1\n}\n"},
    {"TextBlocksStay", "a {\nb=\"\"\"\n  x  \n    y\n\"\"\"   # z\nc=1\n\n\nd=\"\"\"e\"\"\"\n}\n",
     "a {\n  b = \"\"\"\n  x  \n    y\n\"\"\"  # z\n  c = 1\n\n  d = \"\"\"e\"\"\"\n}\n"},
    {"StringsWithValuesStay", "let a=\"${ b+1 }\"\nlet c=2026-11-30\n", "let a = \"${ b+1 }\"\nlet c = 2026-11-30\n"},
    {"BraceOnItsOwnLine", "a b\n{\n  c = 1\n}\n", "a b {\n  c = 1\n}\n"},
};

INSTANTIATE_TEST_SUITE_P(All, FormatTest, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(FormatFileTest, LineEndsByteOrderMarkAndLastLine) {
  EXPECT_EQ(FormatText("\xEF\xBB\xBFsail 1\r\nlet a = 1 \r\n\r\n\r\nlet b = 2"), "sail 1\nlet a = 1\n\nlet b = 2\n");
  EXPECT_EQ(FormatText("# x\n\nsail   1"), "# x\n\nsail 1\n");
  EXPECT_EQ(FormatText("sail 1\r\nlet a = \"\"\"\r\n  b\r\n  \"\"\"\r\n"), "sail 1\nlet a = \"\"\"\n  b\n  \"\"\"\n");
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
