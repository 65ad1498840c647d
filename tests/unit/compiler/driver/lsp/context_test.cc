#include "compiler/driver/lsp/context.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sail::lsp {
namespace {

const char* NameOf(Expect expect) {
  switch (expect) {
    case Expect::kNothing:
      return "nothing";
    case Expect::kStatement:
      return "statement";
    case Expect::kValue:
      return "value";
    case Expect::kBase:
      return "base";
    case Expect::kUnit:
      return "unit";
    case Expect::kMetric:
      return "metric";
    case Expect::kImportPath:
      return "import";
  }
  return "";
}

// "unit in machine.price of spot after 3, writing `USD/`"
std::string Show(const std::string& text) {
  const CursorContext context = ContextAt(text, static_cast<int>(text.size()));
  EXPECT_EQ(context.kinds.front(), "file");
  std::string shown = NameOf(context.expect);
  if (context.expect == Expect::kNothing) return shown;
  const std::vector<std::string> inner(context.kinds.begin() + 1, context.kinds.end());
  if (!inner.empty()) absl::StrAppend(&shown, " in ", absl::StrJoin(inner, "."));
  if (!context.path.empty()) absl::StrAppend(&shown, " of ", absl::StrJoin(context.path, "."));
  if (!context.number.empty()) absl::StrAppend(&shown, " after ", context.number);
  if (!context.metric.empty()) absl::StrAppend(&shown, " for ", context.metric);
  if (!context.base_kind.empty()) absl::StrAppend(&shown, " of kind ", context.base_kind);
  if (!context.qualifier.empty()) absl::StrAppend(&shown, " in ", absl::StrJoin(context.qualifier, "."), ".");
  const std::string word = text.substr(context.word_begin);
  if (!word.empty()) absl::StrAppend(&shown, ", writing ", word);
  return shown;
}

struct Case {
  const char* text;  // up to the cursor
  const char* context;
};

constexpr Case kCases[] = {
    // Statements.
    {"", "statement"},
    {"sail 1\n\n", "statement"},
    {"sail 1\nmod", "statement, writing mod"},
    {"machine a {", "statement in machine"},
    {"machine a { gpu = b, ", "statement in machine"},
    {"machine a {\n  gpu = b\n  pr", "statement in machine, writing pr"},
    {"machine a {\n  price { spot = 3 USD/h }\n  ", "statement in machine"},
    {"machine a {\n  price {\n    ", "statement in machine.price"},
    {"machine a {\n  price.", "statement in machine of price"},
    {"machine a {\n  gpu = b\n  override gpu.mem", "statement in machine of gpu, writing mem"},
    {"resources r {\n  region \"a\" { zone \"b\" {\n pool c { machine = m\n",
     "statement in resources.region.zone.pool"},
    {"resources r {\n  for z in zones {\n    pool \"p-${z}\" { ", "statement in resources.resources.pool"},
    {"resources r {\n  link * <-> * within zone { ", "statement in resources.link"},
    {"job j extends k { ", "statement in job"},
    {"job j {\n  x = {\n    ", "statement in job."},
    {"test \"a\" {\n  ", "statement in "},
    // The statement above is not closed, but a new one begins.
    {"job j {\n  batch { micro = [1, 2\n  global = 4 ", "unit in job.batch of global after 4"},
    {"machine a {\n}\n}\n}\n", "statement"},

    // Values.
    {"pool a { market = ", "value in pool of market"},
    {"pool a { market = sp", "value in pool of market, writing sp"},
    {"pool a {\n  market = [spot, ", "value in pool of market"},
    {"pool a { override price.spot = ", "value in pool of price.spot"},
    {"pool a { market = if x then ", "value in pool of market"},
    {"pool a { market = spot ", "nothing"},
    {"let x = ", "value"},

    {"let x = a + ", "value"},
    {"param x: iters = 3 iters where ", "value"},
    {"param x: ", "nothing"},
    {"machine a { gpu = hw.", "value in machine of gpu in hw."},
    {"machine a { gpu = hw.gpu.ca", "value in machine of gpu in hw.gpu., writing ca"},
    {"for z in ", "value"},
    {"for z in hw.zo", "value in hw., writing zo"},
    {"for z, n in m if ", "value"},
    {"for z ", "nothing"},
    {"resources r {\n  for z in ", "value in resources"},
    {"resources r {\n  for z, n in m { pool a { ", "statement in resources.resources.pool"},

    // Bases.
    {"job j extends ", "base of kind job"},
    {"job j extends ba", "base of kind job, writing ba"},
    {"resources r extends gcp.us", "base of kind resources in gcp., writing us"},
    {"extends ", "nothing"},

    // Units: after a number on the same line.
    {"link { bandwidth = 100 ", "unit in link of bandwidth after 100"},
    {"link { bandwidth = 1_00.5 Gb", "unit in link of bandwidth after 1_00.5, writing Gb"},
    {"link { egress = 3 USD/", "unit in link of egress after 3, writing USD/"},
    {"link { egress = 3 USD/G", "unit in link of egress after 3, writing USD/G"},
    {"link { bandwidth = 100\n", "statement in link"},
    {"link { bandwidth = 100\n  lat", "statement in link, writing lat"},
    {"link { bandwidth = 3 / ", "nothing"},
    {"pool a { quota = 4 GPUs/node * 2 no", "unit in pool after 2, writing no"},
    {"let x = 3 ", "unit after 3"},
    {"sail ", "nothing"},
    {"sail 1 ", "nothing"},

    // Objectives.
    {"job j {\n  maximize ", "metric in job"},
    {"job j {\n  maximize throughput then minimize co", "metric in job, writing co"},
    {"job j {\n  maximize throughput\n    subject to {\n      speed: ", "metric in job."},
    {"job j {\n  maximize throughput\n    subject to {\n      speed: throughput >= 3 ",
     "unit in job. after 3 for throughput"},
    {"job j {\n  maximize throughput\n  subject to { a: nodes <= 3 nodes }\n  ", "statement in job"},
    {"job j {\n  maximize throughput\n  ", "statement in job"},

    // Texts and comments.
    {"import \"", "import"},
    {"import \"std/g", "import, writing std/g"},
    {"import \"std/gcp@2026.11\"", "nothing"},
    {"pool \"std/", "nothing"},
    {"machine a {\n  # gp", "nothing"},
    {"machine a {\n  # gpu\n", "statement in machine"},
};

TEST(ContextTest, IsToldFromTheWordsBeforeTheCursor) {
  for (const Case& c : kCases) EXPECT_EQ(Show(c.text), c.context) << c.text;
}

TEST(ContextTest, NamesAroundTheCursorAreKnownFromTheText) {
  const std::string text =
      "import \"a.sail\" as hw\nlet x = 3\nparam y: Int\nfor z, n in m {\n machine \"p\" { let gone = 1 } \n}\n"
      "resources r as s {\n  machine m {\n  }\n  for q, k in x {\n    pool p { let inner = hw.";
  const CursorContext context = ContextAt(text, static_cast<int>(text.size()));
  EXPECT_THAT(
      context.names,
      ::testing::ElementsAre(VisibleName{"hw", "import"}, VisibleName{"x", "let"}, VisibleName{"y", "param"},
                             VisibleName{"r", "resources"}, VisibleName{"s", "resources"}, VisibleName{"m", "machine"},
                             VisibleName{"q", "for"}, VisibleName{"k", "for"}, VisibleName{"inner", "let"}));
  EXPECT_EQ(context.own_name, "inner");
}

// Any prefix of any text has a context, and the word being written lies before the cursor.
TEST(ContextTest, HoldsAtEveryOffset) {
  for (const Case& c : kCases) {
    const std::string text = absl::StrCat(c.text, "}]) \"\xE8\xB5\x84 { [ ( 3 USD/");
    for (int offset = 0; offset <= static_cast<int>(text.size()); ++offset) {
      if (offset < static_cast<int>(text.size()) && (text[offset] & 0xC0) == 0x80) continue;
      const CursorContext context = ContextAt(text, offset);
      EXPECT_LE(context.word_begin, offset) << text.substr(0, offset);
      EXPECT_EQ(context.kinds.front(), "file") << text.substr(0, offset);
    }
  }
}

}  // namespace
}  // namespace sail::lsp
