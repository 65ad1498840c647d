#include "compiler/frontend/string_literal.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/display_width.h"

namespace sail::frontend {
namespace {

constexpr int kMaxHexDigits = 6;

// "{20ac}" at the start of `text`: the scalar value and the bytes read.
std::optional<std::pair<uint32_t, int>> ReadBracedHex(absl::string_view text) {
  const size_t close = text.find('}');
  if (text.substr(0, 1) != "{" || close == absl::string_view::npos || close == 1 || close > kMaxHexDigits + 1) {
    return std::nullopt;
  }
  uint32_t value = 0;
  for (const char c : text.substr(1, close - 1)) {
    const char lower = static_cast<char>(c | 0x20);
    if (c >= '0' && c <= '9') {
      value = value * 16 + (c - '0');
    } else if (lower >= 'a' && lower <= 'f') {
      value = value * 16 + (lower - 'a' + 10);
    } else {
      return std::nullopt;
    }
  }
  if (value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) return std::nullopt;
  return std::make_pair(value, static_cast<int>(close) + 1);
}

}  // namespace

std::string StringValue(const Token& token, const SourceFile& file, SourceId id, DiagnosticSink& sink) {
  const absl::string_view text = TextOf(token, file);
  const auto report = [&](size_t at, size_t length, std::string message, std::string help) {
    const int begin = token.begin + static_cast<int>(at);
    sink.Report({.code = DiagnosticCode::kSyntax,
                 .message = std::move(message),
                 .primary = {.range = {id, begin, begin + static_cast<int>(length)}},
                 .helps = {std::move(help)}});
  };
  std::string value;
  for (size_t i = 1; i + 1 < text.size(); ++i) {
    const char c = text[i];
    if (c == '$' && text[i + 1] == '{') {
      report(i, 2, "`${` is reserved and not supported yet", "write `\\u{24}{` for these two characters");
    }
    if (c != '\\') {
      value += c;
      continue;
    }
    const char escape = text[++i];
    if (escape == 'n') {
      value += '\n';
    } else if (escape == 't') {
      value += '\t';
    } else if (escape == '"' || escape == '\\') {
      value += escape;
    } else if (const auto hex = escape == 'u' ? ReadBracedHex(text.substr(i + 1)) : std::nullopt; hex.has_value()) {
      value += EncodeUtf8(hex->first);
      i += hex->second;
    } else {
      const int length = DecodeUtf8(text, i).bytes;
      report(i - 1, 1 + length, absl::StrCat("`\\", text.substr(i, length), "` is not an escape"),
             "escapes are \\n \\t \\\" \\\\ and \\u{…} with up to six hexadecimal digits");
      i += length - 1;
    }
  }
  return value;
}

}  // namespace sail::frontend
