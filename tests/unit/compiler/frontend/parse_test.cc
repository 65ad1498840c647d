#include "compiler/frontend/parse.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/compiler/frontend/parsed.h"

namespace sail {
namespace {

struct TreeCase {
  const char* name;
  const char* source;  // after the edition line
  const char* tree;    // after the edition line, two blanks less
};

std::string Indented(const std::string& tree) {
  std::string out = "spec edition 1\n";
  for (size_t begin = 0; begin < tree.size();) {
    const size_t end = tree.find('\n', begin) + 1;
    out += "  " + tree.substr(begin, end - begin);
    begin = end;
  }
  return out;
}

class ParseTreeTest : public testing::TestWithParam<TreeCase> {};

TEST_P(ParseTreeTest, IsBuilt) {
  const Parsed parsed = ParseText(absl::StrCat("sail 1\n", GetParam().source));
  EXPECT_TRUE(parsed.ok) << parsed.text;
  EXPECT_EQ(parsed.tree, Indented(GetParam().tree));
}

constexpr TreeCase kTrees[] = {
    {"Empty", "", ""},
    {"Import", "import \"std/gcp\" as gcp", "import \"std/gcp\" as gcp\n"},
    {"Let", "let a = 1\nlet t: iters/s = 12 iters/min", "let a\n  number 1\nlet t: iters/s\n  number 12 iters/min\n"},
    {"OneLineBlock", "gpu A100_40 { memory = 40 GiB, peak_fp16 = 312 TFLOP/s }",
     "block gpu A100_40\n  set memory\n    number 40 GiB\n  set peak_fp16\n    number 312 TFLOP/s\n"},
    {"StringLabelAndEmptyBody", "zone \"us-central1-a\" { }", "block zone \"us-central1-a\"\n"},
    {"NoLabel", "price { on_demand = 1 }", "block price\n  set on_demand\n    number 1\n"},
    {"DottedTarget", "a { price.spot = 1, na.\"v-1\".x = 2 }",
     "block a\n  set price.spot\n    number 1\n  set na.\"v-1\".x\n    number 2\n"},
    {"LinkWithin", "r { link * <-> * within zone { a = 1 } }",
     "block r\n  link * <-> * within zone\n    set a\n      number 1\n"},
    {"LinkAcrossAndPair", "link * <-> * across region { }\nlink \"a-1\" -> na.b { }",
     "link * <-> * across region\nlink \"a-1\" -> na.b\n"},
    {"Objective", "j { maximize t then minimize c subject to { s: t >= 1 iters/s, c <= 2 } }",
     "block j\n  objective\n    maximize\n      name t\n    minimize\n      name c\n    constraint s\n      binary >=\n"
     "        name t\n        number 1 iters/s\n    constraint\n      binary <=\n        name c\n        number 2\n"},
    {"ConstraintsByLine", "j {\n minimize c\n subject to {\n a: x >= 0.1 iters/s\n b: y <= 2\n }\n z = 3\n}",
     "block j\n  objective\n    minimize\n      name c\n    constraint a\n      binary >=\n        name x\n"
     "        number 0.1 iters/s\n    constraint b\n      binary <=\n        name y\n        number 2\n  set z\n"
     "    number 3\n"},
    {"UnitsJoinOnTheSameLineOnly", "j {\n hidden = 1024\n heads = 16 hosts\n}",
     "block j\n  set hidden\n    number 1024\n  set heads\n    number 16 hosts\n"},
    {"UnitDivisionOnlyWithoutBlanks", "let a = 3 USD/h\nlet b = 3 USD / h\nlet c = 4 GPUs/node * 2 nodes",
     "let a\n  number 3 USD/h\nlet b\n  binary /\n    number 3 USD\n    name h\nlet c\n  binary *\n"
     "    number 4 GPUs/node\n    number 2 nodes\n"},
    {"TouchingUnit", "let a = 16GiB", "let a\n  number 16 GiB\n"},
    {"Money", "let a = $3.67/h\nlet b = $5\nlet c = $9 / h",
     "let a\n  number 3.67 USD/h\nlet b\n  number 5 USD\nlet c\n  binary /\n    number 9 USD\n    name h\n"},
    {"Percent", "let a = 92% * b", "let a\n  binary *\n    number 92 %\n    name b\n"},
    {"Numbers", "let a = [50_257, 0.6, 1e9, 1.5e-3]",
     "let a\n  list\n    number 50_257\n    number 0.6\n    number 1e9\n    number 1.5e-3\n"},
    {"RangeAndLists", "let a = 1..8\nlet b = []\nlet c = [1, [x],]",
     "let a\n  binary ..\n    number 1\n    number 8\nlet b\n  list\nlet c\n  list\n    number 1\n    list\n      name "
     "x\n"},
    {"Precedence", "let a = not b or c and d == 1 + 2 * -3",
     "let a\n  binary or\n    unary not\n      name b\n    binary and\n      name c\n      binary ==\n        name d\n"
     "        binary +\n          number 1\n          binary *\n            number 2\n            unary -\n"
     "              number 3\n"},
    {"LeftAssociative", "let a = 1 - 2 - 3",
     "let a\n  binary -\n    binary -\n      number 1\n      number 2\n    number 3\n"},
    {"Parentheses", "let a = 1 - (2 - 3)",
     "let a\n  binary -\n    number 1\n    binary -\n      number 2\n      number 3\n"},
    {"UnaryMinusChain", "let a = b - -2\nlet c = - -d",
     "let a\n  binary -\n    name b\n    unary -\n      number 2\nlet c\n  unary -\n    unary -\n      name d\n"},
    {"Members", "let a = na.pool.\"v100-eu\".price",
     "let a\n  member price\n    member \"v100-eu\"\n      member pool\n        name na\n"},
    {"Words", "let a = [true, false, none]", "let a\n  list\n    true\n    false\n    none\n"},
    {"Escapes", R"(let a = "a\n\t\"\\\u{e9}\u{1F600}")", "let a\n  string \"a\\n\\t\\\"\\\\é😀\"\n"},
    {"SoftWordsAreNames", "j { link.x = 1, link = at, plan = on.to, within = trace, minimize = 2 }",
     "block j\n  set link.x\n    number 1\n  set link\n    name at\n  set plan\n    member to\n      name on\n  set "
     "within\n"
     "    name trace\n  set minimize\n    number 2\n"},
    {"OperatorContinuesALine", "let a = 1\n  + 2\n  - 3",
     "let a\n  binary -\n    binary +\n      number 1\n      number 2\n    number 3\n"},
    {"CommentsEverywhere", "# one\n## two\na { # three\n b = [1, # four\n 2] # five\n} # six",
     "block a\n  set b\n    list\n      number 1\n      number 2\n"},
};

INSTANTIATE_TEST_SUITE_P(All, ParseTreeTest, testing::ValuesIn(kTrees),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(ParseRangeTest, NodesCarryTheirRanges) {
  const std::string text = "sail 1\n# \xE2\x80\x94 long dash\npool fast { a = b + (2 USD/h) }\n";
  SourceManager sources;
  const SourceId id = sources.Add("a", text);
  DiagnosticSink sink;
  const absl::StatusOr<ast::Spec> spec = Parse(sources, id, {}, sink);
  ASSERT_TRUE(spec.ok());
  const auto slice = [&](const SourceRange& range) { return text.substr(range.begin, range.end - range.begin); };
  const auto& block = std::get<ast::Block>(spec->items[0]);
  EXPECT_EQ(slice(block.kind.range), "pool");
  EXPECT_EQ(slice(block.header), "pool fast");
  EXPECT_EQ(slice(block.range), "pool fast { a = b + (2 USD/h) }");
  EXPECT_EQ(slice(block.body[0].range), "{ a = b + (2 USD/h) }");
  const auto& assignment = std::get<ast::Assignment>(block.body[0].statements[0]);
  EXPECT_EQ(slice(assignment.range), "a = b + (2 USD/h)");
  EXPECT_EQ(slice(assignment.value.range), "b + (2 USD/h)");
  const auto& sum = std::get<ast::BinaryExpr>(assignment.value.node);
  EXPECT_EQ(slice(sum.op_range), "+");
  const auto& number = std::get<ast::NumberExpr>(sum.operands[1].node);
  EXPECT_EQ(slice(number.digits_range), "2");
  EXPECT_EQ(slice(number.unit_range), "USD/h");
}

TEST(SameTreeTest, IgnoresRangesOnly) {
  const auto spec = [](const char* text) {
    SourceManager sources;
    DiagnosticSink sink;
    return *Parse(sources, sources.Add("a", text), {}, sink);
  };
  EXPECT_TRUE(SameTree(spec("sail 1\na { b = 1 }"), spec("sail 1\n\na {\n b = (1)\n}")));
  EXPECT_FALSE(SameTree(spec("sail 1\na { b = 1 }"), spec("sail 1\na { b = 1.0 }")));
  EXPECT_FALSE(SameTree(spec("sail 1\na b { }"), spec("sail 1\na \"b\" { }")));
}

// Case bom: accepted and ignored at the start, columns not shifted; named anywhere else.
TEST(ParseTextTest, Bom) {
  const Parsed accepted = ParseText("\xEF\xBB\xBFsail 1\nlet a = 1\n");
  EXPECT_TRUE(accepted.ok) << accepted.text;
  EXPECT_EQ(accepted.tree, "spec edition 1\n  let a\n    number 1\n");
  EXPECT_THAT(ParseText("\xEF\xBB\xBFsail 2\n").summaries,
              testing::ElementsAre("SAIL0104 1:6 edition 2 is not known to this sailc (it knows 1)"));
  EXPECT_THAT(ParseText("\xEF\xBB\xBF\xEF\xBB\xBFsail 1\n").summaries,
              testing::ElementsAre("SAIL0101 1:1 character U+FEFF (byte order mark) is not allowed in this place"));
  EXPECT_THAT(ParseText("sail 1\nlet a = \xEF\xBB\xBF 1\n").summaries,
              testing::ElementsAre("SAIL0101 2:9 character U+FEFF (byte order mark) is not allowed in this place"));
}

// Case cr-only: LF, CRLF and CR end lines; the tree and the line of an error are the same.
TEST(ParseTextTest, CrOnly) {
  const std::string good = "sail 1\n# note\nj {\n  a = 1024\n  b = 16 hosts # x\n}\n";
  const std::string bad = "sail 1\n# note\nj {\n  a = 1024\n  b = = 3\n}\n";
  for (const absl::string_view line_end : {"\r\n", "\r"}) {
    const auto with = [&](const std::string& text) {
      std::string out;
      for (const char c : text) absl::StrAppend(&out, c == '\n' ? line_end : absl::string_view(&c, 1));
      return out;
    };
    EXPECT_EQ(ParseText(with(good)).tree, ParseText(good).tree);
    EXPECT_THAT(ParseText(with(bad)).summaries, testing::ElementsAre("SAIL0108 5:7 expected a value, found `=`"));
    EXPECT_EQ(FormatText(with(good)), FormatText(good));
  }
}

}  // namespace
}  // namespace sail
