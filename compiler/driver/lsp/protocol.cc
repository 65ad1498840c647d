#include "compiler/driver/lsp/protocol.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/display_width.h"
#include "compiler/base/status_macros.h"

namespace sail::lsp {
namespace {

int Utf16Units(const CodePoint& c) { return c.value >= 0x10000 ? 2 : 1; }

absl::Status Missing(MemberPath path, absl::string_view expected) {
  return absl::InvalidArgumentError(absl::StrCat("params.", absl::StrJoin(path, "."), ": expected ", expected));
}

}  // namespace

Position PositionAt(const SourceFile& file, int offset) {
  const int line = file.Locate(offset).line;
  const absl::string_view text = file.Line(line);
  const int target = offset - file.LineStart(line);
  Position position{.line = line - 1, .character = 0};
  for (size_t i = 0; i < text.size();) {
    const CodePoint c = DecodeUtf8(text, i);
    i += c.bytes;
    if (static_cast<int>(i) > target) break;
    position.character += Utf16Units(c);
  }
  return position;
}

int OffsetAt(const SourceFile& file, Position position) {
  if (position.line >= file.line_count()) return static_cast<int>(file.text().size());
  const absl::string_view text = file.Line(position.line + 1);
  size_t i = 0;
  for (int units = 0; i < text.size();) {
    const CodePoint c = DecodeUtf8(text, i);
    units += Utf16Units(c);
    if (units > position.character) break;
    i += c.bytes;
  }
  return file.LineStart(position.line + 1) + static_cast<int>(i);
}

Json ToJson(Position position) { return {{"line", position.line}, {"character", position.character}}; }

Json RangeJson(const SourceFile& file, int begin, int end) {
  return {{"start", ToJson(PositionAt(file, begin))}, {"end", ToJson(PositionAt(file, end))}};
}

const Json* FindMember(const Json& json, MemberPath path) {
  const Json* at = &json;
  for (const char* key : path) {
    if (!at->is_object()) return nullptr;
    const auto found = at->find(key);
    if (found == at->end()) return nullptr;
    at = &*found;
  }
  return at;
}

absl::StatusOr<std::string> StringAt(const Json& json, MemberPath path) {
  const Json* found = FindMember(json, path);
  if (found == nullptr || !found->is_string()) return Missing(path, "a string");
  return found->get<std::string>();
}

absl::StatusOr<int> IntAt(const Json& json, MemberPath path) {
  const Json* found = FindMember(json, path);
  const bool is_negative = found != nullptr && !found->is_number_unsigned() && *found < 0;
  if (found == nullptr || !found->is_number_integer() || is_negative) return Missing(path, "a whole number");
  return static_cast<int>(std::min<uint64_t>(found->get<uint64_t>(), std::numeric_limits<int>::max()));
}

absl::StatusOr<Position> PositionIn(const Json& json, MemberPath path) {
  const Json* found = FindMember(json, path);
  if (found == nullptr) return Missing(path, "a position");
  SAIL_ASSIGN_OR_RETURN(const int line, IntAt(*found, {"line"}));
  SAIL_ASSIGN_OR_RETURN(const int character, IntAt(*found, {"character"}));
  return Position{.line = line, .character = character};
}

}  // namespace sail::lsp
