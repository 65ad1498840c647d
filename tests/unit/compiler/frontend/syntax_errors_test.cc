// One wrong text, its diagnostics. Everything after the edition line; lines count from that line.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/compiler/frontend/parsed.h"

namespace sail {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

struct ErrorCase {
  const char* name;
  std::string source;
  std::vector<std::string> summaries;
};

void PrintTo(const ErrorCase& error, std::ostream* out) { *out << error.name; }

class SyntaxErrorTest : public testing::TestWithParam<ErrorCase> {};

TEST_P(SyntaxErrorTest, IsReportedOnce) {
  const Parsed parsed = ParseText(absl::StrCat("sail 1\n", GetParam().source));
  EXPECT_FALSE(parsed.ok);
  EXPECT_THAT(parsed.summaries, ElementsAreArray(GetParam().summaries)) << parsed.text;
}

const ErrorCase kErrors[] = {
    // 0101
    {"IllegalCharacter", "let a = 3 ; let b = 4", {"SAIL0101 2:11 character `;` is not allowed in this place"}},
    {"SingleQuotes",
     "let a = 'x'",
     {"SAIL0101 2:9 character `'` is not allowed in this place",
      "SAIL0101 2:11 character `'` is not allowed in this place"}},
    {"NonAsciiName",
     "let \xC3\xA9t\xC3\xA9 = 3",
     {"SAIL0101 2:5 character `\xC3\xA9` (U+00E9) is not allowed in this place",
      "SAIL0101 2:7 character `\xC3\xA9` (U+00E9) is not allowed in this place"}},
    {"RunOfIllegalCharactersIsOne", "let a = @@@ 3", {"SAIL0101 2:9 character `@` is not allowed in this place"}},
    {"NulByte", std::string("let a = 3\0\n", 11), {"SAIL0101 2:10 character U+0000 is not allowed in this place"}},
    {"ControlInString", "let a = \"x\x1By\"", {"SAIL0101 2:11 character U+001B is not allowed in a string"}},
    {"BidiInString", "let a = \"x\xE2\x80\xAEy\"", {"SAIL0101 2:11 character U+202E is not allowed in a string"}},
    {"BidiInComment", "# x \xE2\x81\xA6\n", {"SAIL0101 2:5 character U+2066 is not allowed in a comment"}},
    // 0102
    {"UnterminatedString",
     "a { b = \"x }\nc { d = 1 }",
     {"SAIL0102 2:9 string is not closed before the end of the line"}},
    {"UnterminatedAfterBackslash",
     "let a = \"x\\\nlet b = 1",
     {"SAIL0102 2:9 string is not closed before the end of the line"}},
    // 0105
    {"TwoStatements", "a { b = 3 GiB c = 4 }", {"SAIL0105 2:15 statements on one line need a comma between them"}},
    {"TwoLets", "let a = 1 let b = 2", {"SAIL0105 2:11 statements on one line need a comma between them"}},
    {"SecondStatementIsWrong",
     "a {\n b = foo bar\n c = 2\n}",
     {"SAIL0105 3:10 statements on one line need a comma between them"}},
    // 0106
    {"BlockNeverClosed", "a {\n  b = 1\n\nc { d = 2 }\n", {"SAIL0106 2:3 this block is never closed"}},
    {"InnerBlockNeverClosed", "a {\n  b {\n    c = 1\n  d = 2\n}\n", {"SAIL0106 3:5 this block is never closed"}},
    {"LastBlockNeverClosed", "a {\n  b = 1\n", {"SAIL0106 2:3 this block is never closed"}},
    {"ListNeverClosed", "a {\n  b = [1, 2\n  c = 3\n}", {"SAIL0106 3:7 this list is never closed"}},
    {"ParenthesisNeverClosed", "a { b = (1 + 2 }", {"SAIL0106 2:9 this parenthesis is never closed"}},
    {"BraceTooMany", "a { b = 1 } }\nc { }", {"SAIL0106 2:13 this `}` closes nothing"}},
    {"BracketTooMany", "a { b = 1] }", {"SAIL0106 2:10 this `]` closes nothing"}},
    {"WithoutIndentationStillOne", "a {\nb {\nc = 1\n}\n", {"SAIL0106 2:3 this block is never closed"}},
    {"RestIsStillChecked",
     "a {\n  b = 1\n\nc { d = = 2 }\n",
     {"SAIL0106 2:3 this block is never closed", "SAIL0108 5:9 expected a value, found `=`"}},
    // 0107
    {"AssignmentAtTop", "a = 3", {"SAIL0107 2:1 an assignment stands in a block"}},
    {"ObjectiveAtTop", "minimize a", {"SAIL0107 2:1 an objective stands in a block"}},
    {"ImportInBlock",
     "a { import \"x\" as y }",
     {"SAIL0107 2:5 `import` stands at the top level of a file, not in a block"}},
    {"KeywordAsKind", "within { }", {"SAIL0107 2:1 `within` is a reserved word, not a block kind"}},
    // 0108
    {"MissingValue", "a {\n  b =\n  c = 1\n}", {"SAIL0108 3:5 expected a value after `=`"}},
    {"MissingValueAtEnd", "let a =", {"SAIL0108 2:7 expected a value after `=`"}},
    {"MissingOperand", "a { b = 1 + }", {"SAIL0108 2:13 expected a value, found `}`"}},
    {"EmptyListSlot", "let a = [1, , 2]", {"SAIL0108 2:13 expected a value, found `,`"}},
    {"MissingComma", "let a = [1 2]", {"SAIL0108 2:12 expected `,` or `]`, found `2`"}},
    {"TwoCommas", "a { b = 1,, c = 2 }", {"SAIL0108 2:11 expected a statement or `}`, found `,`"}},
    {"NoBody", "gpu A\nlet b = 1", {"SAIL0108 2:5 expected `{` after `A`"}},
    {"TwoLabels", "gpu A B { }", {"SAIL0108 2:7 expected `{`, found `B`"}},
    {"PathAsKind", "a.b { }", {"SAIL0108 2:1 a block begins with its kind, which is one word"}},
    {"AloneOnALine", "a {\n  foo\n  b = 1\n}", {"SAIL0108 4:5 expected `{`, found `=`"}},
    {"LinkWithoutArrow", "link a { }", {"SAIL0108 2:8 expected `<->` or `->`, found `{`"}},
    {"ChainedComparison", "let a = 1 < b < 3", {"SAIL0108 2:15 comparisons do not chain"}},
    {"AssignmentAsConstraint",
     "j { minimize c subject to { a: b = 3, d: e < 1 } }",
     {"SAIL0108 2:34 expected a new line or `,`, found `=`"}},
    {"ConstraintName",
     "j { minimize c subject to { a.b: c < 3 } }",
     {"SAIL0108 2:29 the name of a constraint is one word"}},
    {"Escape",
     "let a = \"\\q\\u{d800}\"",
     {"SAIL0108 2:10 `\\q` is not an escape", "SAIL0108 2:12 `\\u` is not an escape"}},
    {"SlashComment", "// hello\nlet a = 1", {"SAIL0108 2:1 `//` is not a comment"}},
    {"SlashCommentAfterValue", "let a = 1 // hello\nlet b = 1", {"SAIL0108 2:12 `//` is not a comment"}},
    {"ReservedAsName", "let for = 3", {"SAIL0108 2:5 expected a name, found the reserved word `for`"}},
    // Numbers and dates.
    {"PointWithoutDigits", "a {\n  b = 1.\n  c = 2\n}", {"SAIL0108 3:7 `1.` is not a number: digits follow the point"}},
    {"TwoPoints", "let a = 1.5.2", {"SAIL0108 2:9 `1.5.` is not a number: digits follow the point"}},
    {"UnderscoreAtTheEnd",
     "let a = 1_000_ GiB",
     {"SAIL0108 2:9 `1_000_` is not a number: `_` stands between two digits"}},
    {"TwoUnderscores", "let a = 1__0", {"SAIL0108 2:9 `1__0` is not a number: `_` stands between two digits"}},
    {"PointFirst", "let a = .5", {"SAIL0108 2:9 a number begins with a digit"}},
    {"NoSuchDay", "let a = 2026-02-29", {"SAIL0108 2:9 `2026-02-29` is not a day of the calendar"}},
    {"NoSuchMonth", "let a = 2026-13-01", {"SAIL0108 2:9 `2026-13-01` is not a day of the calendar"}},
    // Strings.
    {"StringInsideTemplate", "let a = \"x${f(\"y\")}\"", {"SAIL0108 2:11 `${` is not closed in this string"}},
    {"StringInsideTemplateInBlock",
     "a { b = \"x${f(\"(\")}\" }\nc { }",
     {"SAIL0108 2:11 `${` is not closed in this string"}},
    {"EscapedQuoteInsideTemplate", R"(let a = "x${\"y\"}")", {"SAIL0108 2:14 a string cannot stand inside `${…}`"}},
    {"QuoteInsideTemplateOfTextBlock",
     "let a = \"\"\"${f(\"y\")}\"\"\"",
     {"SAIL0108 2:16 a string cannot stand inside `${…}`"}},
    {"TemplateOverTwoLines", "let a = \"\"\"\n${b\n}\"\"\"", {"SAIL0108 3:1 `${` is not closed in this string"}},
    {"EmptyTemplate", "let a = \"x${ }\"", {"SAIL0108 2:11 `${}` has no value inside"}},
    {"CommentInsideTemplate", "let a = \"x${b # c}\"", {"SAIL0108 2:15 a comment cannot stand inside `${…}`"}},
    {"WrongValueInsideTemplate",
     "let a = \"x${b +}y${c d}\"",
     {"SAIL0108 2:16 expected a value, found `}`", "SAIL0108 2:22 expected `}`, found `d`"}},
    {"ParenthesisInsideTemplate", "let a = \"x${(b}\"", {"SAIL0106 2:13 this parenthesis is never closed"}},
    {"IllegalInsideTemplate", "let a = \"x${b ; c}\"", {"SAIL0101 2:15 character `;` is not allowed in this place"}},
    {"TemplateInImport", "import \"std/${x}\" as y", {"SAIL0108 2:13 `${…}` cannot stand in a name"}},
    {"UnterminatedTemplate",
     "import \"std/${x} as y",
     {"SAIL0102 2:8 string is not closed before the end of the line"}},
    {"TemplateInKey", "let a = { \"b${c}\" = 1 }", {"SAIL0108 2:13 `${…}` cannot stand in a name"}},
    {"TextBlockNeverClosed",
     "a {\n  b = \"\"\"x\n}\n",
     {"SAIL0102 3:7 text block is not closed before the end of the file"}},
    {"EscapeInTextBlock",
     "let a = \"\"\"\n  x\\\n  \\q\"\"\"",
     {"SAIL0108 3:4 `\\` at the end of a line is not an escape", "SAIL0108 4:3 `\\q` is not an escape"}},
    // Statements.
    {"ParamWithoutType", "param a = 3", {"SAIL0108 2:9 expected `:`, found `=`"}},
    {"ParamInBlock", "a { param b: Int }", {"SAIL0107 2:5 `param` stands at the top level of a file, not in a block"}},
    {"OverrideAtTop", "override a = 3", {"SAIL0107 2:1 `override` stands in a block that extends another"}},
    {"RemoveAtTop", "remove pool a", {"SAIL0107 2:1 `remove` stands in a block that extends another"}},
    {"OverrideOfABlock", "a { override b { c = 1 } }", {"SAIL0108 2:16 expected `=`, found `{`"}},
    {"ForWithoutIn", "for x of y { }", {"SAIL0108 2:7 expected `,` or `in`, found `of`"}},
    {"ForWithoutCollection", "for x in { pool a { } }", {"SAIL0108 2:17 expected `=`, found `a`"}},
    {"IfAsStatement", "a {\n  if b { c = 1 }\n  d = 2\n}", {"SAIL0108 3:3 `if` does not begin a statement"}},
    {"ExtendsWithoutBase", "a b extends { }", {"SAIL0108 2:13 expected a name, found `{`"}},
    {"BlankBeforeAssign", "let a: List<Int>= []", {"SAIL0108 2:16 expected `>`, found `>=`"}},
    {"TypeWithoutEnd", "let a: List<Int = []", {"SAIL0108 2:17 expected `,` or `>`, found `=`"}},
    {"AssertWithTwoMessages",
     "assert a, \"b\" \"c\"",
     {"SAIL0105 2:15 statements on one line need a comma between them"}},
    // Values.
    {"ElseMissing", "let a = if b then 1", {"SAIL0108 2:19 expected `else` after `1`"}},
    {"ThenMissing", "a { b = if c 1 else 2 }", {"SAIL0108 2:14 expected `then`, found `1`"}},
    {"ConditionalAsOperand",
     "let a = 1 + if b then 1 else 2",
     {"SAIL0108 2:13 a conditional inside an expression needs parentheses"}},
    {"ConditionalInCondition",
     "let a = if if b then c else d then 1 else 2",
     {"SAIL0108 2:12 a conditional inside an expression needs parentheses"}},
    {"NotIn", "let a = b not in c", {"SAIL0108 2:11 `not in` is not an operator"}},
    {"ChainedIn", "let a = b in c in d", {"SAIL0108 2:16 comparisons do not chain"}},
    {"CallOnTheNextLine", "let a = b\n  (1)", {"SAIL0108 3:3 `(` cannot begin a line here"}},
    {"IndexOnTheNextLine", "let a = b\n  [1]", {"SAIL0108 3:3 `[` cannot begin a line here"}},
    {"ArgumentName", "let a = f(b.c = 1)", {"SAIL0108 2:11 the name of an argument is one word"}},
    {"EmptyArgument", "let a = f(1, , 2)", {"SAIL0108 2:14 expected a value, found `,`"}},
    {"CallNeverClosed", "a {\n  b = f(1\n  c = 3\n}", {"SAIL0106 3:8 this parenthesis is never closed"}},
    {"ColonInRecord", "let a = { b: 1 }", {"SAIL0108 2:12 expected `=`, found `:`"}},
    {"FieldsOnOneLine", "let a = { b = x c = 2 }", {"SAIL0105 2:17 statements on one line need a comma between them"}},
    {"ColonInBlock", "a { b: 1 }", {"SAIL0108 2:6 expected a name, `=` or `{`, found `:`"}},
    // Reserved for later: one diagnostic each, however long the statement.
    {"Trace", "trace monday {\n  at 0 s { a = 1 }\n}", {"SAIL0108 2:1 `trace` is reserved but not supported yet"}},
    {"Test",
     "test \"x\" {\n  plan a as p\n  expect p.b >= 1\n}",
     {"SAIL0108 2:1 `test` is reserved but not supported yet"}},
    {"Moved", "moved a.\"b\" -> a.\"c\"", {"SAIL0108 2:1 `moved` is reserved but not supported yet"}},
    {"Fn", "fn f(a, b) {\n  c = a + b\n}\nlet d = 1", {"SAIL0108 2:1 `fn` is reserved but not supported yet"}},
};

INSTANTIATE_TEST_SUITE_P(All, SyntaxErrorTest, testing::ValuesIn(kErrors),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(EditionTest, MissingOrUnknown) {
  EXPECT_THAT(ParseText("").summaries, ElementsAre("SAIL0103 1:1 file does not start with `sail 1`"));
  EXPECT_THAT(ParseText("# only a comment").summaries, ElementsAre("SAIL0103 1:17 file does not start with `sail 1`"));
  EXPECT_THAT(ParseText("gpu A { }").summaries, ElementsAre("SAIL0103 1:1 file does not start with `sail 1`"));
  EXPECT_THAT(ParseText("sail\nlet a = 1").summaries, ElementsAre("SAIL0103 1:1 file does not start with `sail 1`"));
  EXPECT_THAT(ParseText("sail \"1\"\nlet a = 1").summaries,
              ElementsAre("SAIL0103 1:1 file does not start with `sail 1`"));
  EXPECT_THAT(ParseText("sail 3\n}}} @").summaries,
              testing::Contains("SAIL0104 1:6 edition 3 is not known to this sailc (it knows 1)"));
}

TEST(SeveralErrorsTest, IndependentOnesAreAllReported) {
  const Parsed parsed = ParseText(
      "sail 1\ngpu A { memory = = 1 }\njob x {\n  a = [1, , 2]\n  b { c = 1 + * 2, d = 3 }\n  e 5\n"
      "  minimize cost subject to {\n    f: g <\n    h: 1 +\n    k: m > 1\n  }\n}\nlet = 3\n");
  EXPECT_THAT(
      parsed.summaries,
      ElementsAre("SAIL0108 2:18 expected a value, found `=`", "SAIL0108 4:11 expected a value, found `,`",
                  "SAIL0108 5:15 expected a value, found `*`", "SAIL0108 6:5 expected a name, `=` or `{`, found `5`",
                  "SAIL0108 8:10 expected a value after `<`", "SAIL0108 9:10 expected a value after `+`",
                  "SAIL0108 13:5 expected a name, found `=`"));
}

TEST(SeveralErrorsTest, StopAtTheLimit) {
  const Parsed parsed = ParseText("sail 1\n" + Repeat("let a = = 1\n", 100), {.max_syntax_errors = 7});
  EXPECT_THAT(parsed.summaries, SizeIs(7));
  EXPECT_THAT(ParseText("sail 1\n" + Repeat("@ \n", 100), {.max_syntax_errors = 7}).summaries, SizeIs(7));
}

TEST(InvalidUtf8Test, IsOneDiagnostic) {
  EXPECT_THAT(ParseText("sail 1\n# \xFF\xFE \x80\n").summaries,
              ElementsAre("SAIL0109 2:3 the file is not valid UTF-8: byte 0xFF at offset 9"));
  EXPECT_THAT(ParseText("\xFF\xFEs\0a\0").summaries,
              ElementsAre("SAIL0109 1:1 the file is not valid UTF-8: byte 0xFF at offset 0"));
  EXPECT_THAT(ParseText("sail 1\n\xED\xA0\x80").summaries, SizeIs(1));  // a surrogate
}

TEST(MessagesTest, HaveHelpAndNoneOfTheGeneratorsWords) {
  EXPECT_THAT(ParseText("sail 1\nlet a = 'x'").text, HasSubstr("= help: strings use double quotes"));
  EXPECT_THAT(ParseText("sail 1\nlet a = \"\xE2\x80\xAE\"").text, HasSubstr("write `\\u{202e}` if intended"));
  EXPECT_THAT(ParseText("let a = 1").text, HasSubstr("= help: insert the line `sail 1` at the top"));
  for (const ErrorCase& error : kErrors) {
    const std::string text = ParseText(absl::StrCat("sail 1\n", error.source)).text;
    EXPECT_THAT(text, Not(HasSubstr("mismatched input")));
    EXPECT_THAT(text, Not(HasSubstr("expecting")));
    EXPECT_THAT(text, Not(HasSubstr("<EOF>")));
  }
}

}  // namespace
}  // namespace sail
