#include "compiler/frontend/lex.h"

#include <algorithm>
#include <string>
#include <utility>

#include "SailLexer.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "antlr4-runtime.h"
#include "compiler/base/display_width.h"
#include "compiler/frontend/classify.h"
#include "compiler/frontend/keywords.h"
#include "compiler/frontend/string_literal.h"

namespace sail::frontend {
namespace {

using parser::SailLexer;

constexpr char kByteOrderMark[] = "\xEF\xBB\xBF";
constexpr int kByteOrderMarkSize = 3;

TokenKind KindOf(int type) {
  if (type == SailLexer::NOT) return TokenKind::kPrefix;
  if (type >= SailLexer::AS && type <= SailLexer::SNAPSHOT) return TokenKind::kName;
  if (type >= SailLexer::SAIL && type <= SailLexer::FN) return TokenKind::kReserved;
  switch (type) {
    case SailLexer::IDENT:
      return TokenKind::kName;
    case SailLexer::INT:
    case SailLexer::FLOAT:
      return TokenKind::kNumber;
    case SailLexer::DATE:
      return TokenKind::kDate;
    case SailLexer::STRING:
    case SailLexer::TEXT:
      return TokenKind::kString;
    case SailLexer::LPAREN:
    case SailLexer::LBRACKET:
    case SailLexer::LBRACE:
      return TokenKind::kOpen;
    case SailLexer::RPAREN:
    case SailLexer::RBRACKET:
    case SailLexer::RBRACE:
      return TokenKind::kClose;
    case SailLexer::COMMENT:
      return TokenKind::kComment;
    default:
      return TokenKind::kPunctuation;
  }
}

// ANTLR counts code points from 0, we count bytes.
class ByteOffsets {
 public:
  explicit ByteOffsets(absl::string_view text) {
    if (std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; })) return;
    for (size_t i = 0; i < text.size(); ++i) {
      if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) starts_.push_back(static_cast<int>(i));
    }
    starts_.push_back(static_cast<int>(text.size()));
  }
  int At(size_t code_point) const {
    if (starts_.empty()) return static_cast<int>(code_point);
    return starts_[std::min(code_point, starts_.size() - 1)];
  }

 private:
  std::vector<int> starts_;  // empty for ASCII texts
};

// ANTLR remembers its decisions about ASCII characters alone; every other one would be worked out anew, a hundred times
// slower. No rule tells one character beyond ASCII from another, so this one, which no rule names either, stands for
// all.
constexpr char kBeyondAscii = '\x7F';

std::string WithStandIns(absl::string_view text) {
  std::string ascii;
  ascii.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0) != 0x80) ascii += byte < 0x80 ? c : kBeyondAscii;
  }
  return ascii;
}

absl::string_view HelpForIllegal(uint32_t value) {
  switch (value) {
    case '\'':
      return "strings use double quotes";
    case ';':
      return "a statement ends with its line, or with a comma";
    case '&':
      return "write `and`";
    case '|':
      return "write `or`";
    case '!':
      return "write `not`";
    default:
      return "";
  }
}

class Lexing {
 public:
  Lexing(const SourceFile& file, SourceId id, const ParseLimits& limits, DiagnosticSink& sink)
      : file_(file), id_(id), limits_(limits), sink_(sink) {}

  std::optional<LexedFile> Run(const TextPart& part) {
    const absl::string_view text = file_.text().substr(part.begin, part.end - part.begin);
    line_ = part.line;
    first_ = part.begin == 0;
    const bool marked = part.begin == 0 && text.substr(0, kByteOrderMarkSize) == kByteOrderMark;
    const int skipped = marked ? kByteOrderMarkSize : 0;
    const absl::string_view body = text.substr(skipped);
    const ByteOffsets offsets(body);
    antlr4::ANTLRInputStream stream(WithStandIns(body));
    SailLexer lexer(&stream);
    lexer.removeErrorListeners();
    const auto offset_of = [&](size_t code_point) { return part.begin + skipped + offsets.At(code_point); };
    for (int64_t count = 0;; ++count) {
      const std::unique_ptr<antlr4::Token> read = lexer.nextToken();
      Token token{.type = static_cast<int>(read->getType()),
                  .begin = offset_of(read->getStartIndex()),
                  .end = offset_of(read->getStopIndex() + 1)};
      if (read->getType() == antlr4::Token::EOF) {
        if (token.begin >= part.end) break;
        token = {.type = kUnclosedText, .begin = token.begin, .end = part.end};  // from `"""` on
      }
      if (token.type == SailLexer::IDENT) token.type = TypeOfWord(TextOf(token, file_));
      token.kind = KindOf(token.type);
      if (count == limits_.max_tokens) return ReportTooManyTokens(token);
      Place(token);
      Add(token);
    }
    Token end{.type = static_cast<int>(antlr4::Token::EOF), .begin = part.end, .end = part.end};
    Place(end);
    lexed_.tokens.push_back(end);
    Classify(lexed_.tokens);
    return std::move(lexed_);
  }

 private:
  static constexpr int kUnclosedText = -2;  // no type of the grammar

  // Tokens come in order, so the line only moves forward. What is left out of the tokens (an illegal character) leaves
  // the next one at the start of its line.
  void Place(Token& token) {
    const int before = line_;
    AdvanceTo(token.begin);
    token.line = line_;
    token.starts_line = line_ != before || first_;
    first_ = token.type == SailLexer::ILLEGAL && token.starts_line;
    AdvanceTo(token.end - 1);
    token.end_line = line_;
  }
  void AdvanceTo(int offset) {
    while (line_ < file_.line_count() && file_.LineStart(line_ + 1) <= offset) ++line_;
  }

  void Add(Token token) {
    if (SpoilsNumber(token)) return;
    switch (token.type) {
      case SailLexer::COMMENT:
        CheckCharacters(token, "a comment");
        lexed_.comments.push_back(token);
        return;
      case SailLexer::ILLEGAL:
        CheckCharacters(token, "this place");
        return;
      case SailLexer::UNTERMINATED:
        ReportUnterminated(token);
        token.type = SailLexer::STRING;  // so that the statement is read on
        token.kind = TokenKind::kString;
        break;
      case kUnclosedText:
        ReportUnclosedText(token);
        token.type = SailLexer::TEXT;
        token.kind = TokenKind::kString;
        break;
      case SailLexer::STRING:
      case SailLexer::TEXT:
        CheckInterpolations(token);
        CheckCharacters(token, "a string");
        break;
      default:
        break;
    }
    lexed_.tokens.push_back(token);
  }

  // `1.` and `1_000_` are one wrong number each, so that nothing more is said about the rest.
  bool SpoilsNumber(const Token& token) {
    if (lexed_.tokens.empty()) return false;
    Token& number = lexed_.tokens.back();
    if (number.kind != TokenKind::kNumber || !Touches(number, token)) return false;
    const bool underscore = token.type == SailLexer::IDENT && file_.text()[token.begin] == '_';
    if (token.type != SailLexer::DOT && !underscore) return false;
    number.end = token.end;
    if (!MayReport(number.begin)) return true;
    sink_.Report({.code = DiagnosticCode::kSyntax,
                  .message = absl::StrCat("`", TextOf(number, file_), "` is not a number: ",
                                          underscore ? "`_` stands between two digits" : "digits follow the point"),
                  .primary = {.range = {id_, number.begin, number.end}}});
    return true;
  }

  void CheckInterpolations(const Token& token) {
    const Interpolations found = FindInterpolations(TextOf(token, file_));
    if (found.problem == Interpolations::Problem::kNone) return;
    lexed_.unterminated_string = true;  // perhaps it was meant to go on after an inner `"`
    if (!MayReport(token.begin)) return;
    const int begin = token.begin + found.problem_at;
    const bool quote = found.problem == Interpolations::Problem::kQuote;
    sink_.Report({.code = DiagnosticCode::kSyntax,
                  .message = quote ? "a string cannot stand inside `${…}`" : "`${` is not closed in this string",
                  .primary = {.range = {id_, begin, begin + (quote ? 1 : 2)}},
                  .helps = {quote || token.type == SailLexer::STRING
                                ? "name the inner value with `let` and write `${name}`; no `\"` can stand inside `${…}`"
                                : "add `}` on the same line"}});
  }

  // Every character of an illegal token is wrong; in strings and comments those that must not be printed.
  void CheckCharacters(const Token& token, absl::string_view where) {
    const absl::string_view text = file_.text();
    for (int i = token.begin; i < token.end;) {
      const CodePoint c = DecodeUtf8(text, i);
      if (token.type == SailLexer::ILLEGAL || IsForbiddenCharacter(c.value)) ReportCharacter(i, c, where);
      i += c.bytes;
    }
  }

  void ReportCharacter(int offset, const CodePoint& c, absl::string_view where) {
    const bool continues = !lexed_.errors.empty() && offset == illegal_end_;
    illegal_end_ = offset + c.bytes;
    if (continues || !MayReport(offset)) return;  // one report for a run of wrong characters
    std::string shown = IsForbiddenCharacter(c.value) ? CodePointName(c.value)
                                                      : absl::StrCat("`", file_.text().substr(offset, c.bytes), "`");
    if (c.value >= 0x80 && !IsForbiddenCharacter(c.value)) absl::StrAppend(&shown, " (", CodePointName(c.value), ")");
    if (c.value == 0xFEFF) shown += " (byte order mark)";
    Diagnostic diagnostic{.code = DiagnosticCode::kIllegalCharacter,
                          .message = absl::StrCat("character ", shown, " is not allowed in ", where),
                          .primary = {.range = {id_, offset, offset + c.bytes}}};
    if (const absl::string_view help = HelpForIllegal(c.value); !help.empty()) {
      diagnostic.helps.push_back(std::string(help));
    } else if (IsForbiddenCharacter(c.value)) {
      diagnostic.helps.push_back(
          where == "a string" ? absl::StrFormat("remove it, or write `\\u{%x}` if intended", c.value) : "remove it");
    }
    sink_.Report(std::move(diagnostic));
  }

  void ReportUnterminated(const Token& token) {
    lexed_.unterminated_string = true;
    if (!MayReport(token.begin)) return;
    sink_.Report({.code = DiagnosticCode::kUnterminatedString,
                  .message = "string is not closed before the end of the line",
                  .primary = {.range = {id_, token.begin, token.begin + 1}},
                  .secondary = {{.range = {id_, token.end, token.end}, .text = "the line ends here"}},
                  .helps = {"add `\"`; a line break inside a string is written `\\n`"}});
  }

  void ReportUnclosedText(const Token& token) {
    lexed_.unterminated_string = true;
    if (!MayReport(token.begin)) return;
    sink_.Report({.code = DiagnosticCode::kUnterminatedString,
                  .message = "text block is not closed before the end of the file",
                  .primary = {.range = {id_, token.begin, token.begin + 3}},
                  .helps = {"add `\"\"\"` after its last line"}});
  }

  std::optional<LexedFile> ReportTooManyTokens(const Token& token) {
    sink_.Report({.code = DiagnosticCode::kTooLarge,
                  .message = absl::StrCat("the file has more than ", limits_.max_tokens, " words"),
                  .primary = {.range = {id_, token.begin, token.end}}});
    return std::nullopt;
  }

  bool MayReport(int offset) {
    if (static_cast<int>(lexed_.errors.size()) >= limits_.max_syntax_errors) return false;
    lexed_.errors.push_back(offset);
    return true;
  }

  const SourceFile& file_;
  const SourceId id_;
  const ParseLimits& limits_;
  DiagnosticSink& sink_;
  LexedFile lexed_;
  int line_ = 1;
  bool first_ = true;
  int illegal_end_ = -1;
};

}  // namespace

std::optional<LexedFile> Lex(const SourceFile& file, const TextPart& part, SourceId id, const ParseLimits& limits,
                             DiagnosticSink& sink) {
  return Lexing(file, id, limits, sink).Run(part);
}

Token MadeUpCloser(char open, const Token& at) {
  const int type = open == '{' ? SailLexer::RBRACE : open == '[' ? SailLexer::RBRACKET : SailLexer::RPAREN;
  return {.type = type,
          .kind = TokenKind::kClose,
          .begin = at.begin,
          .end = at.begin,
          .line = at.line,
          .end_line = at.line,
          .made_up = true};
}

}  // namespace sail::frontend
