// The formatter works on tokens, comments included, so that nothing is lost; the tree only says where statements,
// records and types are. Rules:
//   - two blanks of indentation per block; one statement per line; at most one empty line between two of them;
//   - a block or record the author wrote on one line stays there if the line fits in 100 columns;
//   - one blank around binary operators and before units, none inside units and types and around `..`; `$3/h` is
//     `3 USD/h`;
//   - `=` of consecutive one-line assignments and fields is aligned, and so are conditions after the names of
//     constraints;
//   - line breaks inside an expression stay where the author put them, indented by four, inside brackets by two for
//     each bracket;
//   - `subject to` has its own line, indented by two, except inside a one-line block;
//   - strings, text blocks included, stay as they are, but for the line ends.
#include "compiler/frontend/format.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "SailLexer.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "compiler/base/display_width.h"
#include "compiler/base/status_macros.h"
#include "compiler/frontend/layout.h"
#include "compiler/frontend/parse_tokens.h"

namespace sail {
namespace frontend {
namespace {

using parser::SailLexer;

constexpr int kMaxColumns = 100;
constexpr int kIndent = 2;
constexpr int kContinuation = 4;

int Width(absl::string_view text) {
  int cells = 0;
  for (size_t i = 0; i < text.size();) {
    const CodePoint c = DecodeUtf8(text, i);
    cells += CellWidth(c.value);
    i += c.bytes;
  }
  return cells;
}

// Text that knows where its last line ends, so that appending stays linear.
class Writer {
 public:
  explicit Writer(int column) : column_(column) {}

  void Append(absl::string_view text) {
    text_.append(text.data(), text.size());
    const size_t line = text.rfind('\n') + 1;  // npos + 1 is 0
    column_ = (line == 0 ? column_ : 0) + Width(text.substr(line));
  }
  int column() const { return column_; }
  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
  int column_;
};

// One statement or one comment of a block, laid out. Lines after the first carry their own indentation.
struct Element {
  bool blank_before = false;
  std::string head;  // what comes before the aligned part, or empty
  std::string text;
  std::string comment;  // at the end of the last line

  bool aligns() const { return !head.empty() && text.find('\n') == std::string::npos; }
};

class Formatter {
 public:
  Formatter(const ParsedFile& parsed, const SourceFile& file) : file_(file) {
    std::merge(parsed.lexed.tokens.begin(), parsed.lexed.tokens.end(), parsed.lexed.comments.begin(),
               parsed.lexed.comments.end(), std::back_inserter(tokens_), [](const Token& a, const Token& b) {
                 // A comment at the very end has the offset of no token but the end.
                 return a.begin != b.begin ? a.begin < b.begin : a.kind == TokenKind::kComment;
               });
    const Layout layout = LayoutOf(parsed.spec);
    const auto among = [](const std::vector<int>& offsets, int offset) {
      return std::binary_search(offsets.begin(), offsets.end(), offset);
    };
    closer_.resize(tokens_.size());
    begins_.resize(tokens_.size());
    is_record_.resize(tokens_.size());
    in_type_.resize(tokens_.size());
    std::vector<size_t> open;
    auto type = layout.types.begin();
    for (size_t i = 0; i < tokens_.size(); ++i) {
      begins_[i] = among(layout.starts, tokens_[i].begin);
      is_record_[i] = among(layout.records, tokens_[i].begin);
      while (type != layout.types.end() && type->end <= tokens_[i].begin) ++type;
      in_type_[i] = type != layout.types.end() && type->begin <= tokens_[i].begin;
      if (tokens_[i].kind == TokenKind::kOpen) open.push_back(i);
      if (tokens_[i].kind == TokenKind::kClose) {
        closer_[open.back()] = i;
        open.pop_back();
      }
    }
  }

  std::string Run() { return Sequence(0, tokens_.size() - 1, 0); }

 private:
  absl::string_view Text(size_t i) const { return TextOf(tokens_[i], file_); }
  std::string CommentText(size_t i) const { return std::string(absl::StripTrailingAsciiWhitespace(Text(i))); }
  bool IsComment(size_t i) const { return tokens_[i].kind == TokenKind::kComment; }
  bool IsSeparator(size_t i) const { return tokens_[i].kind == TokenKind::kSeparator; }

  // The statements and comments in [begin, end), one per line.
  std::string Sequence(size_t begin, size_t end, int indent) {
    std::vector<Element> elements;
    int last_line = 0;  // of the source, where the previous element ends
    for (size_t i = begin; i < end;) {
      Element element{.blank_before = !elements.empty() && tokens_[i].line > last_line + 1};
      if (IsComment(i)) {
        element.text = CommentText(i);
        last_line = tokens_[i++].line;
      } else {
        const size_t last = LastOfStatement(i, end);
        LayOut(i, last, indent, element);
        last_line = tokens_[last].end_line;
        i = last + 1;
        // The comma may stand on a line of its own; a comment right after either of them belongs to the statement.
        if (i < end && IsComment(i) && tokens_[i].line == last_line) element.comment = CommentText(i++);
        if (i < end && IsSeparator(i)) last_line = tokens_[i++].line;
        if (i < end && IsComment(i) && tokens_[i].line == last_line && element.comment.empty()) {
          element.comment = CommentText(i++);
        }
      }
      elements.push_back(std::move(element));
    }
    return Emit(elements, indent);
  }

  size_t LastOfStatement(size_t first, size_t end) const {
    size_t last = first;
    for (size_t i = first; i < end; ++i) {
      if (i > first && (begins_[i] || IsSeparator(i))) break;
      if (IsComment(i)) continue;
      if (tokens_[i].kind == TokenKind::kOpen) i = closer_[i];
      last = i;
    }
    return last;
  }

  void LayOut(size_t first, size_t last, int indent, Element& element) {
    const size_t split = EndOfHead(first, last);
    if (split < last) {
      element.head = Render(first, split, indent, indent, /*inline_only=*/false);
      element.text = Render(split + 1, last, indent, indent + Width(element.head) + 1, /*inline_only=*/false);
      if (element.head.find('\n') == std::string::npos && element.aligns()) return;
      element.head.clear();
    }
    element.text = Render(first, last, indent, indent, /*inline_only=*/false);
  }

  // The token before the aligned part: before `=` in an assignment, the `:` itself in a constraint; `last` if neither.
  size_t EndOfHead(size_t first, size_t last) const {
    if (tokens_[first].type == SailLexer::LET || tokens_[first].type == SailLexer::PARAM) return last;
    for (size_t i = first; i < last; ++i) {
      if (tokens_[i].kind == TokenKind::kOpen || IsComment(i)) return last;
      if (Text(i) == "=" && i > first) return i - 1;
      if (Text(i) == ":") return i;
    }
    return last;
  }

  static std::string Emit(const std::vector<Element>& elements, int indent) {
    std::string out;
    const std::string margin(indent, ' ');
    for (size_t run = 0; run < elements.size();) {
      // A run of elements whose second parts are aligned; every other element is a run of its own.
      size_t end = run + 1;
      int widest = Width(elements[run].head);
      while (end < elements.size() && elements[run].aligns() && elements[end].aligns() && !elements[end].blank_before) {
        widest = std::max(widest, Width(elements[end++].head));
      }
      for (; run < end; ++run) {
        const Element& element = elements[run];
        absl::StrAppend(&out, element.blank_before ? "\n" : "", margin, element.head);
        if (!element.head.empty()) out.append(widest - Width(element.head) + 1, ' ');
        absl::StrAppend(&out, element.text, element.comment.empty() ? "" : "  ", element.comment, "\n");
      }
    }
    return out;
  }

  // Tokens [first, last] of one statement, from `column` on. `inline_only`: no line breaks, for one-line blocks.
  std::string Render(size_t first, size_t last, int indent, int column, bool inline_only) {
    Writer out(column);
    int base = indent;
    int line_indent = indent;
    int brackets = 0;  // open round and square ones
    for (size_t i = first; i <= last; ++i) {
      const bool opens_body = Text(i) == "{";
      const bool subject = !inline_only && Text(i) == "subject" && i + 1 <= last && Text(i + 1) == "to";
      if (subject) base = indent + kIndent;
      if (i > first && !inline_only && (subject || BreaksBefore(i, brackets))) {
        line_indent = base + (subject || (opens_body && brackets == 0) ? 0 : BreakIndent(i, brackets));
        out.Append(absl::StrCat("\n", std::string(line_indent, ' ')));
      } else if (i > first && IsComment(i)) {
        out.Append("  ");
      } else if (i > first && SpaceBetween(i - 1, i)) {
        out.Append(" ");
      }
      if (opens_body) {
        RenderBody(i, is_record_[i] ? line_indent : base, inline_only, out);
        i = closer_[i];
      } else {
        RenderToken(i, last, out);
        if (tokens_[i].kind == TokenKind::kOpen) ++brackets;
        if (tokens_[i].kind == TokenKind::kClose) --brackets;
      }
    }
    return out.Take();
  }

  // The brace of a body follows what stands before it; a record in a list may have its own line.
  bool BreaksBefore(size_t i, int brackets) const {
    if (IsComment(i - 1)) return true;
    return tokens_[i].starts_line && (Text(i) != "{" || brackets > 0);
  }

  // Of a line that continues a statement, relative to the statement.
  int BreakIndent(size_t i, int brackets) const {
    if (tokens_[i].kind == TokenKind::kClose) return kIndent * (brackets - 1);
    if (brackets > 0) return kIndent * brackets;
    const bool next_term = Text(i) == "then" && (Text(i + 1) == "minimize" || Text(i + 1) == "maximize");
    return next_term ? kIndent : kContinuation;
  }

  void RenderToken(size_t i, size_t last, Writer& out) {
    if (IsComment(i)) {
      out.Append(CommentText(i));
    } else if (Text(i) == "$") {
      // written after the number
    } else if (Text(i) == "," && !tokens_[i].starts_line && i < last && tokens_[i + 1].kind == TokenKind::kClose &&
               !tokens_[i + 1].starts_line) {
      // a comma before a bracket on the same line separates nothing
    } else if (tokens_[i].line != tokens_[i].end_line) {
      out.Append(absl::StrReplaceAll(Text(i), {{"\r\n", "\n"}, {"\r", "\n"}}));
    } else {
      out.Append(Text(i));
      if (i > 0 && Text(i - 1) == "$") out.Append(" USD");
    }
  }

  // The block or record that opens at `open`; `out` ends just before its brace.
  void RenderBody(size_t open, int indent, bool inline_only, Writer& out) {
    const size_t close = closer_[open];
    const bool one_line = tokens_[open].line == tokens_[close].line;
    if (inline_only || close == open + 1 || one_line) {
      const std::string text = Inline(open);
      if (inline_only || close == open + 1 || out.column() + Width(text) <= kMaxColumns) {
        out.Append(text);
        return;
      }
    }
    out.Append("{");
    size_t first = open + 1;
    if (IsComment(first) && tokens_[first].line == tokens_[open].line) {
      out.Append(absl::StrCat("  ", CommentText(first++)));
    }
    out.Append(absl::StrCat("\n", Sequence(first, close, indent + kIndent), std::string(indent, ' '), "}"));
  }

  std::string Inline(size_t open) {
    const size_t close = closer_[open];
    std::string out = "{";
    for (size_t i = open + 1; i < close;) {
      const size_t last = LastOfStatement(i, close);
      absl::StrAppend(&out, i == open + 1 ? " " : ", ", Render(i, last, 0, 0, /*inline_only=*/true));
      i = last + 1;
      if (i < close && IsSeparator(i)) ++i;
    }
    out += " }";
    return out;
  }

  bool SpaceBetween(size_t left, size_t right) const {
    const absl::string_view before = Text(left);
    const absl::string_view after = Text(right);
    if (in_type_[left] && in_type_[right]) return before == ",";
    if (tokens_[left].kind == TokenKind::kPer || tokens_[right].kind == TokenKind::kPer) return false;
    if (tokens_[left].kind == TokenKind::kPrefix && before == "-") return false;
    if (tokens_[right].type == SailLexer::CALL || tokens_[right].type == SailLexer::INDEX) return false;
    // `32 .a` is a member of a number, `32.a` a fraction that lacks its digits.
    if (tokens_[left].kind == TokenKind::kNumber && after == ".") return true;
    if (before == "(" || before == "[" || before == "." || before == "$" || before == "..") return false;
    return after != ")" && after != "]" && after != "." && after != "," && after != ":" && after != "%" &&
           after != "..";
  }

  const SourceFile& file_;
  std::vector<Token> tokens_;    // comments included
  std::vector<size_t> closer_;   // for every opening bracket
  std::vector<bool> begins_;     // a statement or a field
  std::vector<bool> is_record_;  // this `{` begins a record
  std::vector<bool> in_type_;
};

}  // namespace
}  // namespace frontend

absl::StatusOr<std::string> Format(const SourceManager& sources, SourceId file, const ParseLimits& limits,
                                   DiagnosticSink& sink) {
  SAIL_ASSIGN_OR_RETURN(const frontend::ParsedFile parsed, frontend::ParseKeepingTokens(sources, file, limits, sink));
  return frontend::Formatter(parsed, sources.Get(file)).Run();
}

}  // namespace sail
