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
    {"Interpolation", "let a = \"x${b}\"", {"SAIL0108 2:11 `${` is reserved and not supported yet"}},
    {"SlashComment", "// hello\nlet a = 1", {"SAIL0108 2:1 `//` is not a comment"}},
    {"SlashCommentAfterValue", "let a = 1 // hello\nlet b = 1", {"SAIL0108 2:12 `//` is not a comment"}},
    {"ReservedAsName", "let for = 3", {"SAIL0108 2:5 expected a name, found the reserved word `for`"}},
    {"TextBlock", "let a = \"\"\"\nx\n\"\"\"", {"SAIL0108 2:9 text blocks are not supported yet"}},
    {"Date", "let a = 2026-11-30", {"SAIL0108 2:9 dates are not supported yet"}},
    // Reserved for later: one diagnostic each, however long the statement.
    {"Param",
     "param max: USD/iter = 0.6 USD/iter where max > 0",
     {"SAIL0108 2:1 `param` is reserved but not supported yet"}},
    {"For",
     "a {\n  for z in us {\n    pool \"a-1\" { b = if c then d else e }\n  }\n}",
     {"SAIL0108 3:3 `for` is reserved but not supported yet"}},
    {"Trace", "trace monday {\n  at 0 s { a = 1 }\n}", {"SAIL0108 2:1 `trace` is reserved but not supported yet"}},
    {"Test",
     "test \"x\" {\n  plan a as p\n  expect p.b >= 1\n}",
     {"SAIL0108 2:1 `test` is reserved but not supported yet"}},
    {"Extends", "a b extends c.d { override x = 1 }", {"SAIL0108 2:5 `extends` is reserved but not supported yet"}},
    {"Override", "a { override b.c = 1 }", {"SAIL0108 2:5 `override` is reserved but not supported yet"}},
    {"Remove", "a { remove pool b }", {"SAIL0108 2:5 `remove` is reserved but not supported yet"}},
    {"Moved", "moved a.\"b\" -> a.\"c\"", {"SAIL0108 2:1 `moved` is reserved but not supported yet"}},
    {"Assert", "a {\n assert len(b) <= 2, \"text\"\n}", {"SAIL0108 3:2 `assert` is reserved but not supported yet"}},
    {"If", "let a = if b then 1 else 2", {"SAIL0108 2:9 `if` is reserved but not supported yet"}},
    {"Call", "let a = total(b, 3)", {"SAIL0108 2:14 function calls are not supported yet"}},
    {"Index", "let a = b[1]", {"SAIL0108 2:10 indexing is not supported yet"}},
    {"Record", "let a = { b = 1 }", {"SAIL0108 2:9 records are not supported as values yet"}},
    {"ImportHash", "import \"x\" sha256 \"y\" as z", {"SAIL0108 2:12 `sha256` is reserved but not supported yet"}},
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
