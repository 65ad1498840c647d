#include "compiler/base/diagnostic.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "compiler/base/display_width.h"
#include "compiler/base/json.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sail {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

SourceRange RangeOf(const SourceManager& sources, SourceId id, const std::string& text) {
  const size_t begin = std::string(sources.Get(id).text()).find(text);
  EXPECT_NE(begin, std::string::npos) << text;
  return {id, static_cast<int>(begin), static_cast<int>(begin + text.size())};
}

Diagnostic At(SourceRange range, std::string message = "wrong") {
  return {.code = DiagnosticCode::kSyntax, .message = std::move(message), .primary = {.range = range}};
}

std::vector<std::string> Lines(const std::string& text) { return absl::StrSplit(text, '\n'); }

TEST(DiagnosticCodeTest, HasNumberSeverityAndTitle) {
  EXPECT_EQ(CodeText(DiagnosticCode::kSyntax), "SAIL0108");
  EXPECT_EQ(SeverityOf(DiagnosticCode::kSyntax), Severity::kError);
  EXPECT_EQ(SeverityOf(DiagnosticCode::kPriceAnomaly), Severity::kWarning);
  EXPECT_EQ(TitleOf(DiagnosticCode::kInvalidUtf8), "invalid UTF-8");
}

TEST(DiagnosticCodeTest, IsReadInEachSpelling) {
  for (const char* text : {"SAIL0204", "0204", "204", "E0204", "W0204"}) {
    EXPECT_EQ(ParseCode(text), DiagnosticCode::kAttributeDimension) << text;
  }
  for (const char* text :
       {"", "SAIL", "W", "0999", "00204", "2e2", "-204", "+204", " 204", "sail0204", "99999999999"}) {
    EXPECT_EQ(ParseCode(text), std::nullopt) << text;
  }
}

TEST(DiagnosticCodeTest, AllCodesAreAscendingAndReadable) {
  const std::vector<DiagnosticCode> codes = AllCodes();
  for (size_t i = 0; i < codes.size(); ++i) {
    EXPECT_EQ(ParseCode(CodeText(codes[i])), codes[i]);
    if (i > 0) {
      EXPECT_LT(codes[i - 1], codes[i]);
    }
  }
  EXPECT_EQ(codes.front(), DiagnosticCode::kIllegalCharacter);
}

TEST(DiagnosticCodeTest, AnUnknownCodeNamesTheNearest) {
  EXPECT_EQ(UnknownCodeMessage("9999"), "unknown code '9999'");
  EXPECT_EQ(UnknownCodeMessage("2004"), "unknown code '2004'; did you mean 'SAIL0204'?");  // two digits swapped
}

TEST(DiagnosticSinkTest, TheUsualDiagnosticIsReportedInOneCall) {
  DiagnosticSink sink;
  const SourceRange here{SourceId(0), 3, 4}, there{SourceId(0), 7, 8};
  sink.Report(DiagnosticCode::kSyntax, here, "wrong", {"write it right"}, {{there, "why"}}, "what");
  sink.Report(DiagnosticCode::kPriceAnomaly, here, "odd");
  ASSERT_EQ(sink.diagnostics().size(), 2u);
  const Diagnostic& full = sink.diagnostics()[0];
  EXPECT_EQ(full.code, DiagnosticCode::kSyntax);
  EXPECT_EQ(full.message, "wrong");
  EXPECT_EQ(full.primary.range, here);
  EXPECT_EQ(full.primary.text, "what");
  ASSERT_EQ(full.secondary.size(), 1u);
  EXPECT_EQ(full.secondary[0].range, there);
  EXPECT_THAT(full.helps, ElementsAre("write it right"));
  EXPECT_TRUE(full.notes.empty());
  EXPECT_EQ(sink.diagnostics()[1].primary.text, "");
  EXPECT_EQ(sink.error_count(), 1);
}

TEST(DiagnosticSinkTest, ADeniedWarningCountsAndShowsAsAnError) {
  Diagnostic warning{.code = DiagnosticCode::kPriceAnomaly, .message = "odd"};
  EXPECT_EQ(SeverityOf(warning), Severity::kWarning);
  warning.denied = true;
  EXPECT_EQ(SeverityOf(warning), Severity::kError);
  DiagnosticSink sink;
  sink.Report(warning);
  EXPECT_EQ(sink.error_count(), 1);
  EXPECT_THAT(RenderText(sink.Sorted(), SourceManager(), {}), StartsWith("error[SAIL0407]: odd"));
  EXPECT_THAT(RenderJson(sink.Sorted(), SourceManager(), {}), HasSubstr("\"severity\":\"error\""));
}

TEST(RenderMessageTest, HasEverythingButPlaces) {
  const Diagnostic diagnostic{.code = DiagnosticCode::kSyntax,
                              .message = "wrong",
                              .primary = {{}, "here"},
                              .notes = {"one", "two"},
                              .helps = {"do this"}};
  EXPECT_EQ(RenderMessage(diagnostic), "wrong (here)\nnote: one\nnote: two\nhelp: do this");
}

TEST(DiagnosticSinkTest, DropsExactDuplicatesAndCountsErrorsOnly) {
  DiagnosticSink sink;
  const SourceRange range{SourceId(0), 3, 4};
  sink.Report(At(range));
  sink.Report(At(range));
  sink.Report(At(range, "another"));
  sink.Report({.code = DiagnosticCode::kPriceAnomaly, .message = "odd", .primary = {.range = range}});
  EXPECT_EQ(sink.diagnostics().size(), 3u);
  EXPECT_EQ(sink.error_count(), 2);
}

TEST(DiagnosticSinkTest, SortsByFileOffsetCodeAndKeepsTheOrderOfEquals) {
  DiagnosticSink sink;
  sink.Report(At({SourceId(1), 0, 1}, "e"));
  sink.Report(At({SourceId(0), 9, 10}, "d"));
  sink.Report(At({SourceId(0), 2, 3}, "b"));
  sink.Report(At({SourceId(0), 2, 9}, "c"));
  sink.Report({.code = DiagnosticCode::kIllegalCharacter, .message = "a", .primary = {.range = {SourceId(0), 2, 3}}});
  std::vector<std::string> order;
  for (const Diagnostic& diagnostic : sink.Sorted()) order.push_back(diagnostic.message);
  EXPECT_THAT(order, ElementsAre("a", "b", "c", "d", "e"));
}

TEST(DiagnosedErrorTest, IsRecognised) {
  EXPECT_TRUE(IsDiagnosedError(DiagnosedError()));
  EXPECT_FALSE(IsDiagnosedError(absl::InvalidArgumentError("errors were reported")));
  EXPECT_FALSE(IsDiagnosedError(absl::OkStatus()));
}

TEST(RenderTextTest, ShowsPlaceLabelsNotesAndHelps) {
  SourceManager sources;
  const SourceId id = sources.Add("job.sail", "a {\n  speed = 5 USD/GB\n\n  egress = 5 Gbps\n}\n");
  const SourceId other = sources.Add("std/gcp", "x\nlink { }\n");
  const Diagnostic diagnostic{.code = DiagnosticCode::kAttributeDimension,
                              .message = "`speed` expects a bandwidth, found a price",
                              .primary = {RangeOf(sources, id, "5 USD/GB"), "this is USD per gigabyte"},
                              .secondary = {{RangeOf(sources, id, "egress"), "swapped with this"},
                                            {RangeOf(sources, other, "link"), "declared here"},
                                            {RangeOf(sources, id, "speed"), ""}},
                              .notes = {"one"},
                              .helps = {"first line\nsecond line"}};
  EXPECT_EQ(RenderText({diagnostic}, sources, {}),
            "error[SAIL0204]: `speed` expects a bandwidth, found a price\n"
            " --> job.sail:2:11\n"
            "  |\n"
            "2 |   speed = 5 USD/GB\n"
            "  |           ^^^^^^^^ this is USD per gigabyte\n"
            "  |   -----\n"
            "4 |   egress = 5 Gbps\n"
            "  |   ------ swapped with this\n"
            " ::: std/gcp:2:1\n"
            "  |\n"
            "2 | link { }\n"
            "  | ---- declared here\n"
            "  = note: one\n"
            "  = help: first line\n"
            "          second line\n");
}

TEST(RenderTextTest, GutterIsAsWideAsTheLargestLineNumber) {
  SourceManager sources;
  const SourceId id = sources.Add("a", std::string(9, '\n') + "x\n");
  EXPECT_EQ(RenderText({At(RangeOf(sources, id, "x"))}, sources, {}),
            "error[SAIL0108]: wrong\n  --> a:10:1\n   |\n10 | x\n   | ^\n");
}

TEST(RenderTextTest, DiagnosticWithoutPlaceIsItsMessage) {
  const SourceManager sources;
  EXPECT_EQ(RenderText({At({})}, sources, {}), "error[SAIL0108]: wrong\n");
  EXPECT_EQ(RenderText({}, sources, {}), "");
}

// Case caret-wide: a character of two cells gets two carets, a combining mark none; columns count code points.
TEST(RenderTextTest, CaretWide) {
  SourceManager sources;
  const SourceId id = sources.Add("a", "名 = \"日本\", e\xCC\x81 = 😀, x\n");
  const auto render = [&](const std::string& token) {
    return Lines(RenderText({At(RangeOf(sources, id, token))}, sources, {}));
  };
  // 名 and the blank take 3 cells, `= ` 2, so the string begins at cell 5 (column 5) and is 1 + 4 + 1 cells wide.
  EXPECT_EQ(render("\"日本\"")[1], " --> a:1:5");
  EXPECT_EQ(render("\"日本\"")[4], "  |      ^^^^^^");
  // Before é: 名 2, ` = ` 3, string 6, `, ` 2 = 13 cells; e and its accent are one cell.
  EXPECT_EQ(render("e\xCC\x81")[4], "  | " + std::string(13, ' ') + "^");
  EXPECT_EQ(render("😀")[4], "  | " + std::string(17, ' ') + "^^");
  EXPECT_EQ(render("x")[4], "  | " + std::string(21, ' ') + "^");
}

// Case span-dash: a long dash (three bytes) in line 1 does not move a report about line 6.
TEST(RenderTextTest, SpanDash) {
  SourceManager sources;
  const SourceId id = sources.Add("a", "# one \xE2\x80\x94 two\n\n\n\n\n  bad\n");
  const std::vector<std::string> lines = Lines(RenderText({At(RangeOf(sources, id, "bad"))}, sources, {}));
  EXPECT_EQ(lines[1], " --> a:6:3");
  EXPECT_EQ(lines[3], "6 |   bad");
  EXPECT_EQ(lines[4], "  |   ^^^");
}

TEST(RenderTextTest, TabsAreFourBlanksAndControlCharactersAreReplaced) {
  SourceManager sources;
  const SourceId id = sources.Add("a", "\tx\x1B[31m\xE2\x80\xAEy\xFFz\n");
  const std::string text = RenderText({At(RangeOf(sources, id, "z"), "no \x1B[0m")}, sources, {});
  EXPECT_THAT(text, Not(HasSubstr("\x1B")));
  EXPECT_THAT(text, Not(HasSubstr("\xE2\x80\xAE")));
  // Tab 4, x, ESC, `[31m` 4, U+202E, y, 0xFF: 13 cells before z.
  EXPECT_EQ(Lines(text)[4], "  | " + std::string(13, ' ') + "^");
}

TEST(RenderTextTest, ByteOrderMarkIsNeitherShownNorCounted) {
  SourceManager sources;
  const SourceId id = sources.Add("a", "\xEF\xBB\xBFsail x\n");
  EXPECT_EQ(RenderText({At(RangeOf(sources, id, "x"))}, sources, {}),
            "error[SAIL0108]: wrong\n --> a:1:6\n  |\n1 | sail x\n  |      ^\n");
}

TEST(RenderTextTest, LongLinesAreClippedAroundTheLabel) {
  SourceManager sources;
  const SourceId id = sources.Add("a", std::string(1000, 'a') + "BAD" + std::string(1000, 'b'));
  const std::vector<std::string> lines = Lines(RenderText({At(RangeOf(sources, id, "BAD"))}, sources, {}));
  EXPECT_LT(lines[3].size(), 180u);
  EXPECT_THAT(lines[3], StartsWith("1 | ...aaa"));
  EXPECT_EQ(lines[3].substr(lines[4].find('^'), 4), "BADb");
  EXPECT_EQ(lines[4].substr(lines[4].find('^')), "^^^");
}

TEST(RenderTextTest, RangesAtTheEndAndOverSeveralLinesStayInTheirFirstLine) {
  SourceManager sources;
  const SourceId id = sources.Add("a", "ab\ncd\n");
  EXPECT_EQ(Lines(RenderText({At({id, 1, 5})}, sources, {}))[4], "  |  ^");
  EXPECT_EQ(Lines(RenderText({At({id, 6, 6})}, sources, {}))[4], "  | ^");
}

TEST(RenderTextTest, CountsErrorsOverTheLimitAndShowsEveryWarning) {
  SourceManager sources;
  const SourceId id = sources.Add("a", "x\n");
  const SourceRange range{id, 0, 1};
  const std::vector<Diagnostic> all = {
      At(range, "1"),
      At(range, "2"),
      At(range, "3"),
      {.code = DiagnosticCode::kPriceAnomaly, .message = "odd", .primary = {.range = range}}};
  const std::string text = RenderText(all, sources, {.error_limit = 1});
  EXPECT_THAT(text, Not(HasSubstr("SAIL0108]: 2")));
  EXPECT_THAT(text, HasSubstr("warning[SAIL0407]: odd"));
  EXPECT_THAT(text, ::testing::EndsWith("\nerror: 2 more errors are not shown\n"));
}

TEST(RenderTextTest, ColorIsOnlyUsedOnRequest) {
  SourceManager sources;
  const SourceId id = sources.Add("a", "x\n");
  EXPECT_THAT(RenderText({At({id, 0, 1})}, sources, {.color = true}), HasSubstr("\033[1;31merror[SAIL0108]\033[0m"));
  EXPECT_THAT(RenderText({At({id, 0, 1})}, sources, {}), Not(HasSubstr("\033")));
}

TEST(RenderJsonTest, OneObjectPerLine) {
  SourceManager sources;
  const SourceId id = sources.Add("a.sail", "é = x\ny\n");
  Diagnostic diagnostic = At(RangeOf(sources, id, "x"), "no `x`");
  diagnostic.secondary = {{RangeOf(sources, id, "y"), "here"}};
  diagnostic.helps = {"try y"};
  const std::string text = RenderJson({diagnostic, At({id, 0, 1}), At({id, 1, 1})}, sources, {.error_limit = 1});
  const std::vector<std::string> lines = Lines(text);
  ASSERT_EQ(lines.size(), 3u);  // the last is empty
  const absl::StatusOr<Json> json = ParseJson(lines[0], "diagnostic");
  ASSERT_TRUE(json.ok()) << json.status();
  const Json expected = {{"type", "diagnostic"},
                         {"v", "1.0"},
                         {"code", "SAIL0108"},
                         {"severity", "error"},
                         {"message", "no `x`"},
                         {"file", "a.sail"},
                         {"line", 1},
                         {"column", 5},
                         {"end_line", 1},
                         {"end_column", 6},
                         {"begin", 5},
                         {"end", 6},
                         {"label", ""},
                         {"notes", Json::array()},
                         {"helps", {"try y"}},
                         {"labels", Json::array({{{"file", "a.sail"},
                                                  {"line", 2},
                                                  {"column", 1},
                                                  {"end_line", 2},
                                                  {"end_column", 2},
                                                  {"begin", 7},
                                                  {"end", 8},
                                                  {"text", "here"}}})}};
  EXPECT_EQ(*json, expected);
  EXPECT_EQ(lines[1], R"({"errors":2,"type":"dropped","v":"1.0"})");
}

TEST(RenderJsonTest, MalformedUtf8BecomesAReplacementCharacter) {
  SourceManager sources;
  const SourceId id = sources.Add("a\xFF", "x\n");
  EXPECT_THAT(RenderJson({At({id, 0, 1})}, sources, {}), HasSubstr("a\xEF\xBF\xBD"));
}

TEST(NearestTest, AllowsAThirdOfTheLength) {
  const std::vector<std::string> names = {"quota", "lab", "bandwidth", "Gbps", "GBps"};
  EXPECT_EQ(Nearest("quotas", names), "quota");
  EXPECT_EQ(Nearest("lba", names), "lab");  // neighbours swapped
  EXPECT_EQ(Nearest("bandwith", names), "bandwidth");
  EXPECT_EQ(Nearest("gbps", names), "Gbps");  // one change; GBps needs two
  EXPECT_EQ(Nearest("xyz", names), "");
  EXPECT_EQ(Nearest("", names), "");
  EXPECT_EQ(Nearest("cats", {"bats", "rats"}), "bats");  // ties by order
  EXPECT_EQ(Nearest("A100", {"A10", "A100_40", "A100_80"}), "A100_40");
  EXPECT_EQ(Nearest("lab", {"label", "lba"}), "lba");  // `label` does not go on after a whole word
  EXPECT_EQ(Nearest(std::string(100'000, 'a'), names), "");
}

TEST(DisplayWidthTest, DecodesOnlyWellFormedUtf8) {
  EXPECT_EQ(DecodeUtf8("\xF0\x9F\x98\x80", 0).value, 0x1F600u);
  for (const char* bad : {"\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82", "\x80", "\xFF"}) {
    EXPECT_FALSE(DecodeUtf8(bad, 0).valid);
    EXPECT_EQ(DecodeUtf8(bad, 0).bytes, 1);
  }
  for (const uint32_t value : {0x24u, 0xE9u, 0x20ACu, 0x1F600u}) {
    const CodePoint decoded = DecodeUtf8(EncodeUtf8(value), 0);
    EXPECT_TRUE(decoded.valid);
    EXPECT_EQ(decoded.value, value);
  }
}

}  // namespace
}  // namespace sail
