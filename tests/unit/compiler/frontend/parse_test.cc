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
    {"Import", "import \"std/gcp@2026.11\" as gcp", "import \"std/gcp@2026.11\" as gcp\n"},
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
    // Statements.
    {"ImportWithHash", "import \"./x.sail\"\n  sha256 \"5f1c\" as prices",
     "import \"./x.sail\" sha256 \"5f1c\" as prices\n"},
    {"Params", "param a: USD/iter = 0.6 USD/iter where a > 0 USD/iter\nparam b: Duration?\nparam c: Int\n  where c > 1",
     "param a: USD/iter\n  number 0.6 USD/iter\n  where\n    binary >\n      name a\n      number 0 USD/iter\n"
     "param b: Duration?\nparam c: Int\n  where\n    binary >\n      name c\n      number 1\n"},
    {"Types", "let a: List<String> = []\nlet b: Map<List<iters / s>>? = {}\nlet c: Map<String, Ref<pool>?> = {}",
     "let a: List<String>\n  list\nlet b: Map<List<iters/s>>?\n  record\nlet c: Map<String, Ref<pool>?>\n  record\n"},
    {"Asserts",
     "assert len(x) <= 2, \"too many\"\nj { assert a, b = 1, warn c, \"why ${d}\", \"e\" = 2, warn f, \"g\".h = 3 }",
     "assert\n  binary <=\n    call\n      name len\n      argument\n        name x\n    number 2\n  string \"too "
     "many\"\n"
     "block j\n  assert\n    name a\n  set b\n    number 1\n  warn\n    name c\n    template\n      text \"why \"\n"
     "      name d\n      text \"\"\n  set e\n    number 2\n  warn\n    name f\n  set g.h\n    number 3\n"},
    {"AssertMessageOnItsOwnLine", "assert a <\n  b,\n  \"text\"\nwarn (c)",
     "assert\n  binary <\n    name a\n    name b\n  string \"text\"\nwarn\n  name c\n"},
    {"For", "for z in zones {\n  pool \"a-${z}\" { zone = z }\n}",
     "for z\n  in\n    name zones\n  block pool \"a-${z}\"\n    template\n      text \"a-\"\n      name z\n"
     "      text \"\"\n    set zone\n      name z\n"},
    {"ForTwoInBlockWithCondition", "r { for z, n in quota if n > 0 nodes and z in us { p { } } }",
     "block r\n  for z, n\n    in\n      name quota\n    if\n      binary and\n        binary >\n          name n\n"
     "          number 0 nodes\n        binary in\n          name z\n          name us\n    block p\n"},
    {"ForOverARecord", "for k in { a = 1 } { p { } }",
     "for k\n  in\n    record\n      field a\n        number 1\n  block p\n"},
    {"AliasAndBase",
     "zone \"eu-1\" as eu { }\nresources ours extends gcp.us { }\nm a as b extends c.\"d\" { }\np extends q { }",
     "block zone \"eu-1\" as eu\nblock resources ours extends gcp.us\nblock m a as b extends c.d\nblock p extends "
     "q\n"},
    {"OverrideAndRemove",
     "r {\n  override price.spot = 1 USD/h\n  remove pool t4\n  remove pool \"a-1\"\n  remove price\n  override x = 2\n"
     "  remove zone, y = 3\n}",
     "block r\n  override price.spot\n    number 1 USD/h\n  remove pool t4\n  remove pool \"a-1\"\n  remove price\n"
     "  override x\n    number 2\n  remove zone\n  set y\n    number 3\n"},
    {"LinkEnds", "link * -> a { }\nlink \"b\" <-> c.d { }\nlink \"e\".f -> * across region { }",
     "link * -> a\nlink \"b\" <-> c.d\nlink e.f -> * across region\n"},
    {"Docs",
     "## One.\n##  Two.\nlet a = 1\n\n## Not directly above.\n\n# comment\n## Three.\nb { ## no\n  ## Four.\n  c { "
     "}\n}\n"
     "## Five.\nparam d: Int",
     "let a\n  doc \"One.\\n Two.\"\n  number 1\nblock b\n  doc \"Three.\"\n  block c\n    doc \"Four.\"\n"
     "param d: Int\n  doc \"Five.\"\n"},
    // Values.
    {"Conditional", "let a = if b then 1 else if c == 2 then d else e + 1",
     "let a\n  if\n    name b\n    number 1\n    if\n      binary ==\n        name c\n        number 2\n      name d\n"
     "      binary +\n        name e\n        number 1\n"},
    {"ConditionalInObjective", "j { minimize if a then b else c then maximize d }",
     "block j\n  objective\n    minimize\n      if\n        name a\n        name b\n        name c\n    maximize\n     "
     " name d\n"},
    {"CallsAndIndexes", "let a = prices.spot[z].a2(x, hidden = 1 + 2,)[\"k\"]\nlet b = f()",
     "let a\n  index\n    call\n      member a2\n        index\n          member spot\n            name prices\n       "
     "   name z\n"
     "      argument\n        name x\n      argument hidden\n        binary +\n          number 1\n          number 2\n"
     "    string \"k\"\nlet b\n  call\n    name f\n"},
    {"BracketAfterAWordIsNoCall",
     "j { minimize (a) subject to { x: not (b) in [c], (d) < 1 } }\nlet e = if (f) then [g] else (h)",
     "block j\n  objective\n    minimize\n      name a\n    constraint x\n      unary not\n        binary in\n         "
     " name b\n"
     "          list\n            name c\n    constraint\n      binary <\n        name d\n        number 1\n"
     "let e\n  if\n    name f\n    list\n      name g\n    name h\n"},
    {"Comprehensions", "let a = [x.y for x in xs]\nlet b = all([k <= 1 for k, v in m if v > 2])",
     "let a\n  comprehension x\n    member y\n      name x\n    name xs\nlet b\n  call\n    name all\n    argument\n"
     "      comprehension k, v\n        binary <=\n          name k\n          number 1\n        name m\n        "
     "binary >\n"
     "          name v\n          number 2\n"},
    {"Records", "let a = { \"us-1\" = 24 nodes, b = { }, }\nlet c = {\n  d = 1\n  e = 2\n}.d",
     "let a\n  record\n    field \"us-1\"\n      number 24 nodes\n    field b\n      record\n"
     "let c\n  member d\n    record\n      field d\n        number 1\n      field e\n        number 2\n"},
    {"Dates", "let a = 2026-11-30\nlet b = [2024-02-29]",
     "let a\n  date 2026-11-30\nlet b\n  list\n    date 2024-02-29\n"},
    {"Templates", R"(let a = "${b}-${ c + 1 }$d$$\${e}\$"
let f = "${ {x = 1}.x }")",
     "let a\n  template\n    text \"\"\n    name b\n    text \"-\"\n    binary +\n      name c\n      number 1\n"
     "    text \"$d$$${e}$\"\nlet f\n  template\n    text \"\"\n    member x\n      record\n        field x\n          "
     "number 1\n"
     "    text \"\"\n"},
    {"TextBlocks",
     "let a = \"\"\"\n    one\n      \"two\" ${b}\n\n    \\tthree\n  \"\"\"\nlet c = \"\"\"x\"\"\"\nlet d = \"\"\"\n  "
     "\"\"\"",
     "let a\n  template\n    text \"  one\\n    \\\"two\\\" \"\n    name b\n    text \"\\n\\n  \\tthree\"\n"
     "let c\n  string \"x\"\nlet d\n  string \"\"\n"},
    {"SoftWordsInNewPlaces",
     "let a = [where, warn - 1]\nlet b = f(link = at)\nfor link in as { x { } }\n"
     "pool as { where = 1, warn = 2, as = 3 }\npool where as where { }",
     "let a\n  list\n    name where\n    binary -\n      name warn\n      number 1\nlet b\n  call\n    name f\n    "
     "argument link\n"
     "      name at\nfor link\n  in\n    name as\n  block x\nblock pool as\n  set where\n    number 1\n  set warn\n    "
     "number 2\n"
     "  set as\n    number 3\nblock pool where as where\n"},
    {"CommentsEverywhere", "# one\n## two\na { # three\n b = [1, # four\n 2] # five\n} # six",
     "block a\n  doc \"two\"\n  set b\n    list\n      number 1\n      number 2\n"},
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

// A range inside a string is that in the file; the texts around it are not part of it.
TEST(ParseRangeTest, EmbeddedExpressionsCarryTheirRanges) {
  const std::string text = "sail 1\nlet a = \"\xC3\xA9 ${b + 2 GiB}\"\nlet c = \"\"\"\n  x\n  ${ d }\n  \"\"\"\n";
  SourceManager sources;
  const SourceId id = sources.Add("a", text);
  DiagnosticSink sink;
  const absl::StatusOr<ast::Spec> spec = Parse(sources, id, {}, sink);
  ASSERT_TRUE(spec.ok());
  const auto slice = [&](const SourceRange& range) { return text.substr(range.begin, range.end - range.begin); };
  const auto value = [&](int item) -> const ast::Expr& {
    return std::get<ast::TemplateExpr>(std::get<ast::Let>(spec->items[item]).value.node).values[0];
  };
  EXPECT_EQ(slice(value(0).range), "b + 2 GiB");
  EXPECT_EQ(slice(std::get<ast::BinaryExpr>(value(0).node).operands[1].range), "2 GiB");
  EXPECT_EQ(slice(value(1).range), "d");
}

TEST(ParseRangeTest, HeadersEndBeforeTheBody) {
  const std::string text =
      "sail 1\nm a as b extends c.d { override e = 1 }\nfor x in y if z { }\nlink * -> a within zone { }\n";
  SourceManager sources;
  const SourceId id = sources.Add("a", text);
  DiagnosticSink sink;
  const absl::StatusOr<ast::Spec> spec = Parse(sources, id, {}, sink);
  ASSERT_TRUE(spec.ok());
  const auto slice = [&](const SourceRange& range) { return text.substr(range.begin, range.end - range.begin); };
  const auto& block = std::get<ast::Block>(spec->items[0]);
  EXPECT_EQ(slice(block.header), "m a as b extends c.d");
  const auto& assignment = std::get<ast::Assignment>(block.body[0].statements[0]);
  EXPECT_EQ(slice(*assignment.override_word), "override");
  EXPECT_EQ(slice(assignment.range), "override e = 1");
  EXPECT_EQ(slice(assignment.target.range), "e");
  EXPECT_EQ(slice(std::get<ast::For>(spec->items[1]).header), "for x in y if z");
  EXPECT_EQ(slice(std::get<ast::For>(spec->items[1]).range), "for x in y if z { }");
  EXPECT_EQ(slice(std::get<ast::Link>(spec->items[2]).range), "link * -> a within zone");
}

struct Assignments {
  std::vector<std::string> names;
  std::vector<std::string> summaries;
};

Assignments AssignmentsOf(std::string text) {
  SourceManager sources;
  const SourceId id = sources.Add("-D", std::move(text));
  DiagnosticSink sink;
  const absl::StatusOr<std::vector<ast::Assignment>> read = ParseAssignments(sources, id, {}, sink);
  Assignments assignments;
  for (const Diagnostic& diagnostic : sink.Sorted()) {
    const LineColumn at = sources.Get(id).Locate(diagnostic.primary.range.begin);
    assignments.summaries.push_back(
        absl::StrCat(CodeText(diagnostic.code), " ", at.line, ":", at.column, " ", diagnostic.message));
  }
  EXPECT_EQ(read.ok(), assignments.summaries.empty());
  if (!read.ok()) return assignments;
  for (const ast::Assignment& assignment : *read) assignments.names.push_back(assignment.target.parts[0].text);
  return assignments;
}

TEST(ParseAssignmentsTest, TakesValuesOnly) {
  EXPECT_THAT(AssignmentsOf("max_cost=0.72 USD/iter").names, testing::ElementsAre("max_cost"));
  EXPECT_THAT(AssignmentsOf("zones=[\"a\", \"b\"]").names, testing::ElementsAre("zones"));
  EXPECT_THAT(AssignmentsOf("sail 1\n# night run\na = { b = 1 }\nwhere = 2 h\n").names,
              testing::ElementsAre("a", "where"));
  EXPECT_THAT(AssignmentsOf("").names, testing::IsEmpty());
  EXPECT_THAT(AssignmentsOf("a").summaries, testing::ElementsAre("SAIL0108 1:1 expected a name, `=` or `{` after `a`"));
  EXPECT_THAT(AssignmentsOf("a =").summaries, testing::ElementsAre("SAIL0108 1:3 expected a value after `=`"));
  EXPECT_THAT(AssignmentsOf("let a = 1").summaries,
              testing::ElementsAre("SAIL0107 1:1 only values for params stand here, as `name = value`"));
  EXPECT_THAT(AssignmentsOf("a.b = 1\n\"c\" = 2").summaries,
              testing::ElementsAre("SAIL0108 1:1 the name of a param is one word",
                                   "SAIL0108 2:1 the name of a param is one word"));
  EXPECT_THAT(AssignmentsOf("sail 2\na = 1").summaries,
              testing::ElementsAre("SAIL0104 1:6 edition 2 is not known to this sailc (it knows 1)"));
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
  const std::string mark = "\xEF\xBB\xBF";
  EXPECT_THAT(ParseText("sail 1\nlet a = 1\n" + mark + "let b = 2\n").summaries,
              testing::ElementsAre("SAIL0101 3:1 character U+FEFF (byte order mark) is not allowed in this place"));
  EXPECT_THAT(ParseText("sail 1\na {\n  b = 1 " + mark + mark + "\n  " + mark + " c = 2\n}\n").summaries,
              testing::ElementsAre("SAIL0101 3:9 character U+FEFF (byte order mark) is not allowed in this place",
                                   "SAIL0101 4:3 character U+FEFF (byte order mark) is not allowed in this place"));
  EXPECT_THAT(ParseText("sail 1\nlet a = \xEF\xBB\xBF 1\n").summaries,
              testing::ElementsAre("SAIL0101 2:9 character U+FEFF (byte order mark) is not allowed in this place"));
}

// Case cr-only: LF, CRLF and CR end lines; the tree and the line of an error are the same.
TEST(ParseTextTest, CrOnly) {
  const std::string good =
      "sail 1\n# note\nj {\n  a = 1024\n  b = 16 hosts # x\n  c = \"\"\"\n    d\n      e\n    \"\"\"\n}\n";
  const std::string bad = "sail 1\n# note\nj {\n  a = \"\"\"\n  \"\"\"\n  b = = 3\n}\n";
  for (const absl::string_view line_end : {"\r\n", "\r"}) {
    const auto with = [&](const std::string& text) {
      std::string out;
      for (const char c : text) absl::StrAppend(&out, c == '\n' ? line_end : absl::string_view(&c, 1));
      return out;
    };
    EXPECT_EQ(ParseText(with(good)).tree, ParseText(good).tree);
    EXPECT_THAT(ParseText(with(bad)).summaries, testing::ElementsAre("SAIL0108 6:7 expected a value, found `=`"));
    EXPECT_EQ(FormatText(with(good)), FormatText(good));
  }
}

}  // namespace
}  // namespace sail
