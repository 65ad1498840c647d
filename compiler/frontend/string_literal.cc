#include "compiler/frontend/string_literal.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/display_width.h"

namespace sail::frontend {
namespace {

constexpr int kMaxHexDigits = 6;

// "{20ac}" at the start of `text`: the scalar value and the bytes read.
std::optional<std::pair<uint32_t, int>> ReadBracedHex(absl::string_view text) {
  const size_t close = text.substr(0, kMaxHexDigits + 2).find('}');
  if (text.substr(0, 1) != "{" || close == absl::string_view::npos || close == 1) {
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

constexpr absl::string_view kTextQuotes = "\"\"\"";

int QuotesOf(absl::string_view text) { return text.substr(0, kTextQuotes.size()) == kTextQuotes ? 3 : 1; }
// An unclosed string, reported already, may lack its closing quotes.
int EndOfContents(absl::string_view text) {
  return std::max(QuotesOf(text), static_cast<int>(text.size()) - QuotesOf(text));
}

// A piece of a token that contributes to its value; the pieces are joined by line ends.
struct Line {
  int begin;
  int end;
};

std::vector<Line> SplitLines(absl::string_view text, int begin, int end) {
  std::vector<Line> lines;
  for (int i = begin;; ++i) {
    if (i < end && text[i] != '\n' && text[i] != '\r') continue;
    lines.push_back({begin, i});
    if (i == end) return lines;
    if (text[i] == '\r' && i + 1 < end && text[i + 1] == '\n') ++i;
    begin = i + 1;
  }
}

int IndentOf(absl::string_view text, const Line& line) {
  int i = line.begin;
  while (i < line.end && (text[i] == ' ' || text[i] == '\t')) ++i;
  return i - line.begin;
}

std::vector<Line> LinesOfTextBlock(absl::string_view text) {
  std::vector<Line> lines = SplitLines(text, QuotesOf(text), EndOfContents(text));
  const auto is_blank = [&](const Line& line) { return IndentOf(text, line) == line.end - line.begin; };
  // The line of the closing quotes counts, so that a text can be indented as a whole.
  std::optional<absl::string_view> common;
  for (size_t i = 1; i < lines.size(); ++i) {
    if (is_blank(lines[i]) && i + 1 < lines.size()) continue;
    const absl::string_view indent = text.substr(lines[i].begin, IndentOf(text, lines[i]));
    if (!common.has_value()) common = indent;
    size_t same = 0;
    while (same < std::min(common->size(), indent.size()) && (*common)[same] == indent[same]) ++same;
    common = common->substr(0, same);
  }
  for (size_t i = 1; i < lines.size(); ++i) {
    lines[i].begin = is_blank(lines[i]) ? lines[i].end : lines[i].begin + static_cast<int>(common->size());
  }
  if (lines.size() > 1 && is_blank(lines.back())) lines.pop_back();
  if (lines.size() > 1 && is_blank(lines.front())) lines.erase(lines.begin());
  return lines;
}

class StringReader {
 public:
  StringReader(const Token& token, const BuildContext& context)
      : token_(token), text_(TextOf(token, context.file)), context_(context) {}

  std::vector<std::string> Run(const std::vector<Interpolations::Range>& ranges) {
    std::vector<std::string> texts(1);
    const bool is_text_block = QuotesOf(text_) > 1;
    const std::vector<Line> lines =
        is_text_block ? LinesOfTextBlock(text_) : std::vector<Line>{{1, EndOfContents(text_)}};
    auto range = ranges.begin();
    for (const Line& line : lines) {
      if (&line != &lines.front()) texts.back() += '\n';
      for (int i = line.begin; i < line.end;) {
        if (range != ranges.end() && i + 1 == range->begin) {  // at `$`
          texts.emplace_back();
          i = range++->end;
        } else if (text_[i] == '\\') {
          i = ReadEscape(i, line.end, texts.back());
        } else {
          texts.back() += text_[i++];
        }
      }
    }
    return texts;
  }

 private:
  // Returns the offset after the escape at `begin`.
  int ReadEscape(int begin, int end, std::string& value) {
    if (begin + 1 >= end) {
      Report(begin, 1, "`\\` at the end of a line is not an escape");
      return end;
    }
    const char escape = text_[begin + 1];
    constexpr absl::string_view kEscapes = "nt\"\\$";
    constexpr absl::string_view kValues = "\n\t\"\\$";
    if (const size_t known = kEscapes.find(escape); known != absl::string_view::npos) {
      value += kValues[known];
      return begin + 2;
    }
    const auto hex = escape == 'u' ? ReadBracedHex(text_.substr(begin + 2)) : std::nullopt;
    if (hex.has_value()) {
      value += EncodeUtf8(hex->first);
      return begin + 2 + hex->second;
    }
    const int length = DecodeUtf8(text_, begin + 1).bytes;
    Report(begin, 1 + length, absl::StrCat("`\\", text_.substr(begin + 1, length), "` is not an escape"));
    return begin + 1 + length;
  }

  void Report(int at, int length, std::string message) {
    const int begin = token_.begin + at;
    context_.Report(DiagnosticCode::kSyntax, {context_.id, begin, begin + length}, std::move(message),
                    {"escapes are \\n \\t \\\" \\\\ \\$ and \\u{…} with up to six hexadecimal digits"});
  }

  const Token& token_;
  const absl::string_view text_;
  const BuildContext& context_;
};

}  // namespace

Interpolations FindInterpolations(absl::string_view text) {
  Interpolations found;
  const int end = EndOfContents(text);
  const auto fail = [&](Interpolations::Problem problem, int at) {
    found.problem = problem;
    found.problem_at = at;
  };
  for (int i = QuotesOf(text); i + 1 < end; ++i) {
    if (text[i] == '\\') {
      ++i;
      continue;
    }
    if (text[i] != '$' || text[i + 1] != '{') continue;
    const int dollar = i++;
    int depth = 0;
    for (; i < end && found.problem == Interpolations::Problem::kNone; ++i) {
      if (text[i] == '"') fail(Interpolations::Problem::kQuote, i);
      if (text[i] == '\n' || text[i] == '\r') fail(Interpolations::Problem::kUnclosed, dollar);
      if (text[i] == '{') ++depth;
      if (text[i] == '}' && --depth == 0) break;
    }
    if (found.problem == Interpolations::Problem::kNone && i >= end) fail(Interpolations::Problem::kUnclosed, dollar);
    if (found.problem != Interpolations::Problem::kNone) break;
    found.ranges.push_back({dollar + 1, i + 1});
  }
  return found;
}

std::vector<std::string> StringTexts(const Token& token, const std::vector<Interpolations::Range>& ranges,
                                     const BuildContext& context) {
  return StringReader(token, context).Run(ranges);
}

}  // namespace sail::frontend
