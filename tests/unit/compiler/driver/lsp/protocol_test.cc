#include "compiler/driver/lsp/protocol.h"

#include "compiler/driver/lsp/uri.h"
#include "gtest/gtest.h"

namespace sail::lsp {
namespace {

// Line 0: "a" (1 byte), U+1F600 (4 bytes, 2 UTF-16 units), "é" (2 bytes, 1 unit), then CRLF.
// Line 1: U+8D44 U+6E90 (3 bytes, 1 unit each), then a lone CR. Line 2: "z", LF. Line 3: empty.
constexpr char kText[] = "a\xF0\x9F\x98\x80\xC3\xA9\r\n\xE8\xB5\x84\xE6\xBA\x90\rz\n";

struct Place {
  int offset;
  Position position;
};
constexpr Place kPlaces[] = {{0, {0, 0}},  {1, {0, 1}},  {5, {0, 3}},  {7, {0, 4}},  {9, {1, 0}},
                             {12, {1, 1}}, {15, {1, 2}}, {16, {2, 0}}, {17, {2, 1}}, {18, {3, 0}}};

TEST(PositionTest, OffsetsAndUtf16PositionsAreInverse) {
  const SourceFile file("", kText);
  ASSERT_EQ(file.text().size(), 18);
  for (const Place& place : kPlaces) {
    EXPECT_EQ(PositionAt(file, place.offset), place.position) << place.offset;
    EXPECT_EQ(OffsetAt(file, place.position), place.offset) << place.offset;
  }
}

TEST(PositionTest, AnOffsetInsideACharacterIsItsFirstByte) {
  const SourceFile file("", kText);
  for (const int offset : {2, 3, 4}) EXPECT_EQ(PositionAt(file, offset), (Position{0, 1})) << offset;
  EXPECT_EQ(PositionAt(file, 8), (Position{0, 4}));  // between CR and LF
}

TEST(PositionTest, PlacesOutsideTheTextAreMovedIntoIt) {
  const SourceFile file("", kText);
  EXPECT_EQ(OffsetAt(file, {0, 2}), 1);   // inside the surrogate pair
  EXPECT_EQ(OffsetAt(file, {0, 99}), 7);  // the line ends before CRLF
  EXPECT_EQ(OffsetAt(file, {1, 99}), 15);
  EXPECT_EQ(OffsetAt(file, {99, 0}), 18);
  EXPECT_EQ(OffsetAt(SourceFile("", ""), {0, 5}), 0);
}

TEST(MessageTest, MembersOfTheWrongTypeAreNamed) {
  const Json json = {{"a", {{"b", "text"}, {"n", 3}, {"minus", -1}}}};
  EXPECT_EQ(*StringAt(json, {"a", "b"}), "text");
  EXPECT_EQ(*IntAt(json, {"a", "n"}), 3);
  EXPECT_EQ(IntAt(json, {"a", "minus"}).status().message(), "params.a.minus: expected a whole number");
  EXPECT_EQ(StringAt(json, {"a", "b", "c"}).status().message(), "params.a.b.c: expected a string");
  EXPECT_FALSE(PositionIn(json, {"a"}).ok());
  EXPECT_EQ(FindMember(Json::array(), {"a"}), nullptr);
}

TEST(UriTest, PathsSurviveTheWay) {
  EXPECT_EQ(PathOfUri("file:///tmp/a%20b/%E8%B5%84.sail"), "/tmp/a b/\xE8\xB5\x84.sail");
  EXPECT_EQ(UriOfPath("/tmp/a b/\xE8\xB5\x84.sail"), "file:///tmp/a%20b/%E8%B5%84.sail");
  EXPECT_EQ(PathOfUri("file://localhost/x/../y.sail"), "/y.sail");
  EXPECT_EQ(PathOfUri("file:///100%"), "/100%");  // no escape
  EXPECT_EQ(PathOfUri("untitled:Untitled-1"), "untitled:Untitled-1");
  EXPECT_EQ(PathOfUri("file://elsewhere/x.sail"), "file://elsewhere/x.sail");
}

}  // namespace
}  // namespace sail::lsp
