// The shapes of the Language Server Protocol 3.17 that several features use, and places: the protocol counts lines and
// UTF-16 units from 0, we count bytes of UTF-8.
#pragma once

#include <initializer_list>
#include <string>

#include "absl/status/statusor.h"
#include "compiler/base/json.h"
#include "compiler/base/source.h"

namespace sail::lsp {

struct Position {
  int line = 0;       // from 0
  int character = 0;  // from 0, UTF-16 units
  friend bool operator==(const Position&, const Position&) = default;
};

// An offset inside a character counts as its first byte, one inside a line end as the end of the line.
Position PositionAt(const SourceFile& file, int offset);
// A place past the end of its line is that end; one past the last line is the end of the text; one inside a surrogate
// pair is before the character.
int OffsetAt(const SourceFile& file, Position position);

Json ToJson(Position position);
Json RangeJson(const SourceFile& file, int begin, int end);

// Reading a message, whose members the other end chooses. `path` is a way through nested objects; InvalidArgument names
// what is missing or of the wrong type.
using MemberPath = std::initializer_list<const char*>;
const Json* FindMember(const Json& json, MemberPath path);  // null if there is none
absl::StatusOr<std::string> StringAt(const Json& json, MemberPath path);
absl::StatusOr<int> IntAt(const Json& json, MemberPath path);  // not negative
absl::StatusOr<Position> PositionIn(const Json& json, MemberPath path);

}  // namespace sail::lsp
