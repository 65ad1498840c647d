#include "compiler/driver/lsp/names.h"

#include "compiler/driver/lsp/completion.h"
#include "compiler/driver/lsp/definition.h"
#include "compiler/driver/lsp/describe.h"
#include "compiler/driver/lsp/hover.h"
#include "compiler/driver/lsp/outline.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/memory_file_system.h"

namespace sail::lsp {
namespace {

constexpr char kText[] = R"(sail 1

import "std/gcp@2026.11" as gcp
import "lost.sail" as lost

let names = ["a", "b"]
let pairs = [x for x in names if x != "c"]

gpu big { memory = 80 GiB, peak_fp16 = 300 TFLOP/s }
machine box extends gcp.a2_highgpu_1g {
  override gpu = big
  override price.spot = 2 USD/h
  nothing = 3
}
for n in names {
  machine "m-${n}" extends box { override nic = 10 Gbps }
}
)";

// An open document, checked.
struct Session {
  explicit Session(const std::string& text) {
    const absl::Status opened =
        documents.Open({{"textDocument", {{"uri", "file:///d/main.sail"}, {"version", 1}, {"text", text}}}});
    EXPECT_TRUE(opened.ok()) << opened;
    checked.Refresh(documents);
  }
  const Document& document() const { return documents.by_path().at("/d/main.sail"); }
  const CheckedDocument& main() const { return checked.Of(document()); }
  // The declaration of the name at the first `needle`.
  std::string DeclarationAt(const std::string& needle) const {
    const auto name = NameAt(main(), static_cast<int>(document().text.find(needle)));
    return name ? PlaceText(main(), name->declaration) : "";
  }

  MemoryFileSystem disk;
  Documents documents{disk};
  CheckedDocuments checked;
};

TEST(NamesTest, AreFoundInFilesWithErrors) {
  const Session session(kText);
  ASSERT_TRUE(session.main().sink.has_errors());
  EXPECT_EQ(session.DeclarationAt("names if"), "6:5");
  EXPECT_EQ(session.DeclarationAt("x != "), "7:20");
  EXPECT_EQ(session.DeclarationAt("gcp.a2"), "3:29");
  EXPECT_EQ(session.DeclarationAt("a2_highgpu_1g"), "std/gcp@2026.11:14");
  EXPECT_EQ(session.DeclarationAt("n} ") + session.DeclarationAt("n}\""), "15:5");
  EXPECT_EQ(session.DeclarationAt("extends"), "");
}

TEST(NamesTest, AnAttributeIsFoundWhereItIsWrittenOncePerRound) {
  const Session session(kText);
  const auto at = [&](const std::string& needle) {
    return AttributesAt(session.main(), static_cast<int>(session.document().text.find(needle)));
  };
  EXPECT_EQ(at("nic = 10").size(), 2);  // two rounds
  ASSERT_EQ(at("price.spot").size(), 1);
  EXPECT_EQ(ProvenanceText(session.main(), *at("price.spot").front()),
            "override of std/gcp@2026.11:23 (was `1.92802 USD/h`)");
  EXPECT_EQ(at("nothing").size(), 0);
}

// Half-written texts of all lengths: every request has an answer, and every range lies in the text.
TEST(NamesTest, EveryPlaceOfEveryPrefixHasAnAnswer) {
  const std::string whole = kText;
  int hovers = 0;
  for (size_t size = 0; size <= whole.size(); size += 7) {
    const Session session(whole.substr(0, size));
    const SourceFile file("", session.document().text);
    Outline(session.main());
    for (size_t offset = size % 5; offset <= size; offset += 5) {
      const Position at = PositionAt(file, static_cast<int>(offset));
      const Json hover = Hover(session.document(), session.main(), at);
      hovers += hover.is_null() ? 0 : 1;
      Definition(session.main(), session.documents, at);
      References(session.main(), session.checked, session.documents, at, true);
      Completion(session.document(), session.checked.LastParsed(session.document()), at, "");
    }
  }
  EXPECT_GT(hovers, 300);
}

TEST(CheckedDocumentsTest, KeepTheLastVersionThatParsed) {
  Session session("sail 1\nlet a = 3\n");
  const CheckedDocument* first = session.checked.LastParsed(session.document());
  ASSERT_EQ(first, &session.main());
  const auto change = [&](int version, const std::string& text) {
    const absl::Status changed =
        session.documents.Change({{"textDocument", {{"uri", "file:///d/main.sail"}, {"version", version}}},
                                  {"contentChanges", {{{"text", text}}}}});
    EXPECT_TRUE(changed.ok()) << changed;
    session.checked.Refresh(session.documents);
  };
  change(2, "sail 1\nlet a = \n");
  EXPECT_EQ(session.main().analysis, nullptr);
  EXPECT_EQ(session.checked.LastParsed(session.document()), first);
  change(3, "sail 1\nlet b = 3\n");
  EXPECT_EQ(session.checked.LastParsed(session.document()), &session.main());
  EXPECT_NE(session.main().analysis, nullptr);
}

}  // namespace
}  // namespace sail::lsp
