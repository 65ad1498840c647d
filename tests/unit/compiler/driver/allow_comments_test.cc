#include "compiler/driver/allow_comments.h"

#include <string>

#include "compiler/driver/severity_policy.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sail::driver {
namespace {

// Whether a SAIL0407 on the line that holds `word` is allowed in `text`.
bool Allows(const std::string& text, const std::string& word) {
  SourceManager sources;
  const SourceId id = sources.Add("a.sail", text);
  DiagnosticSink sink;
  const AllowComments comments(sources, sink);
  const int begin = static_cast<int>(text.find(word));
  return comments.Allow({.code = DiagnosticCode::kPriceAnomaly, .primary = {{id, begin, begin + 1}, ""}}, sources);
}

TEST(AllowCommentsTest, CoverTheirOwnLineOrTheNext) {
  EXPECT_TRUE(Allows("HERE # allow(0407): x\n", "HERE"));
  EXPECT_TRUE(Allows("# allow(0407): x\nHERE\n", "HERE"));
  EXPECT_TRUE(Allows("  #allow( W0407 ) : x\r\nHERE\r\n", "HERE"));
  EXPECT_TRUE(Allows("# allow(0407): x\n# more about it\n# allow(0423): y\nHERE", "HERE"));
  EXPECT_FALSE(Allows("# allow(0407): x\n\nHERE\n", "HERE"));
  EXPECT_FALSE(Allows("before # allow(0407): x\nHERE\n", "HERE"));
  EXPECT_FALSE(Allows("# allow(0407): x\nbetween\nHERE\n", "HERE"));
  EXPECT_FALSE(Allows("# allow(0423): x\nHERE\n", "HERE"));
  EXPECT_FALSE(Allows("HERE\n# allow(0407): x\n", "HERE"));
}

TEST(AllowCommentsTest, StringsHoldNoComments) {
  EXPECT_FALSE(Allows("HERE = \"# allow(0407): x\"\n", "HERE"));
  EXPECT_FALSE(Allows("HERE = \"\\\" # allow(0407): x\"\n", "HERE"));
  EXPECT_FALSE(Allows("HERE = \"\"\"\n# allow(0407): x\nTHERE\n\"\"\"\n", "THERE"));
  EXPECT_TRUE(Allows("HERE = \"#\" # allow(0407): x\n", "HERE"));
  EXPECT_TRUE(Allows("HERE = \"\"\"\n \"#\n\"\"\" # allow(0407): x\nTHERE", "\"\"\" #"));
  // A string that is not closed ends with its line.
  EXPECT_TRUE(Allows("x = \"open\n# allow(0407): x\nHERE\n", "HERE"));
}

TEST(AllowCommentsTest, NoTextBeforeAllow) {
  EXPECT_FALSE(Allows("HERE # see allow(0407): x\n", "HERE"));
  EXPECT_FALSE(Allows("HERE ## allow(0407): x\n", "HERE"));
}

TEST(AllowCommentsTest, ErrorsAreNeverAllowed) {
  SourceManager sources;
  const SourceId id = sources.Add("a.sail", "x # allow(0108): because\n");
  DiagnosticSink sink;
  sink.Report(DiagnosticCode::kSyntax, {id, 0, 1}, "wrong");
  const DiagnosticSink shown = ApplyPolicy(sink, sources, {});
  EXPECT_EQ(shown.error_count(), 1);
  ASSERT_EQ(shown.diagnostics().size(), 2u);
  EXPECT_EQ(shown.diagnostics()[1].code, DiagnosticCode::kAllowComment);
}

TEST(SeverityPolicyTest, ApplyingItAgainChangesNothing) {
  SourceManager sources;
  const SourceId id = sources.Add("a.sail", "x\ny # allow(0407)\nz # allow(0407): fine\n");
  DiagnosticSink sink;
  for (const int offset : {0, 2, 18}) sink.Report(DiagnosticCode::kPriceAnomaly, {id, offset, offset + 1}, "odd");
  const SeverityPolicy policy{.deny_warnings = true};
  const DiagnosticSink once = ApplyPolicy(sink, sources, policy);
  const DiagnosticSink twice = ApplyPolicy(once, sources, policy);
  EXPECT_EQ(once.error_count(), 3);  // x, y and the comment without a reason; z is allowed
  EXPECT_EQ(RenderText(once.Sorted(), sources, {}), RenderText(twice.Sorted(), sources, {}));
}

}  // namespace
}  // namespace sail::driver
