#include "compiler/frontend/syntax_errors.h"

#include <utility>

#include "SailParser.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/display_width.h"

namespace sail::frontend {
namespace {

using antlr4::misc::IntervalSet;
using parser::SailParser;

constexpr size_t kMaxShownText = 30;

struct Spelling {
  int type;
  absl::string_view text;
};

// In the order in which they are listed.
constexpr Spelling kSpellings[] = {
    {SailParser::ASSIGN, "`=`"},
    {SailParser::LBRACE, "`{`"},
    {SailParser::COLON, "`:`"},
    {SailParser::COMMA, "`,`"},
    {SailParser::RBRACKET, "`]`"},
    {SailParser::RPAREN, "`)`"},
    {SailParser::RBRACE, "`}`"},
    {SailParser::AS, "`as`"},
    {SailParser::TO, "`to`"},
    {SailParser::BOTH_WAYS, "`<->`"},
    {SailParser::ARROW, "`->`"},
    {SailParser::STAR, "`*`"},
    {SailParser::MINIMIZE, "`minimize`"},
    {SailParser::MAXIMIZE, "`maximize`"},
    {SailParser::UNIT, "a unit"},
};

bool Contains(const IntervalSet& set, int type) { return set.contains(static_cast<size_t>(type)); }

// The widest category that fits, then single tokens; operators only continue an expression and are not worth a word.
std::string Describe(const IntervalSet& expected) {
  std::vector<std::string> parts;
  const bool statement = Contains(expected, SailParser::LET);
  const bool value = Contains(expected, SailParser::INT);
  const bool name = Contains(expected, SailParser::IDENT);
  if (statement) {
    parts.push_back("a statement");
  } else if (value) {
    parts.push_back(Contains(expected, SailParser::STRING) ? "a value" : "a number");
  } else if (name) {
    parts.push_back("a name");
  } else if (Contains(expected, SailParser::STRING)) {
    parts.push_back("a string");
  }
  for (const Spelling& spelling : kSpellings) {
    const bool covered = (statement || value || name) &&
                         (spelling.type == SailParser::AS || spelling.type == SailParser::TO ||
                          spelling.type == SailParser::MINIMIZE || spelling.type == SailParser::MAXIMIZE);
    if (Contains(expected, spelling.type) && !covered) parts.push_back(std::string(spelling.text));
  }
  if (parts.empty()) return "the end of the file";
  if (parts.size() == 1) return parts[0];
  const std::string last = parts.back();
  parts.pop_back();
  return absl::StrCat(absl::StrJoin(parts, ", "), " or ", last);
}

std::string Quoted(const Token& token, const SourceFile& file) {
  if (token.kind == TokenKind::kEnd) return "the end of the file";
  const absl::string_view text = TextOf(token, file);
  size_t shown = 0;
  for (size_t cells = 0; shown < text.size() && cells < kMaxShownText; ++cells) {
    shown += DecodeUtf8(text, shown).bytes;
  }
  return absl::StrCat("`", text.substr(0, shown), shown < text.size() ? "…" : "", "`");
}

bool IsComparison(int type) { return type >= SailParser::EQ && type <= SailParser::GT; }
bool IsOperator(int type) {
  return IsComparison(type) || (type >= SailParser::PLUS && type <= SailParser::SLASH) || type == SailParser::DOTDOT ||
         type == SailParser::AND || type == SailParser::OR || type == SailParser::ASSIGN;
}

// `a < b <`: is there a comparison between `index` and the start of its expression?
bool AfterComparison(const std::vector<Token>& tokens, size_t index) {
  int depth = 0;
  for (size_t i = index; i-- > 0;) {
    const Token& token = tokens[i];
    if (token.kind == TokenKind::kClose) ++depth;
    if (token.kind == TokenKind::kOpen && depth-- == 0) return false;
    if (depth > 0) continue;
    if (IsComparison(token.type)) return true;
    const bool boundary = token.type == SailParser::ASSIGN || token.type == SailParser::COLON ||
                          token.type == SailParser::COMMA || token.type == SailParser::AND ||
                          token.type == SailParser::OR || token.type == SailParser::NOT;
    if (boundary) return false;
  }
  return false;
}

Diagnostic Syntax(const Token& at, SourceId id, std::string message, std::vector<std::string> helps = {}) {
  return {.code = DiagnosticCode::kSyntax,
          .message = std::move(message),
          .primary = {.range = {id, at.begin, at.end}},
          .helps = std::move(helps)};
}

// Names what the user probably meant, where the token alone tells. Empty message: nothing special.
Diagnostic SpecialCase(const std::vector<Token>& tokens, size_t index, const IntervalSet& expected,
                       const SourceFile& file, SourceId id) {
  const Token& token = tokens[index];
  const Token none;
  const Token& previous = index > 0 ? tokens[index - 1] : none;
  const Token& next = token.kind == TokenKind::kEnd ? none : tokens[index + 1];
  const bool after_name = previous.kind == TokenKind::kName && !token.starts_line;
  const bool wants_name = Contains(expected, SailParser::IDENT) && !Contains(expected, SailParser::LET) &&
                          !Contains(expected, SailParser::INT);
  if (wants_name && token.kind == TokenKind::kReserved) {
    return Syntax(token, id, absl::StrCat("expected a name, found the reserved word ", Quoted(token, file)));
  }
  if (IsUnsupportedWord(token.type)) {
    return Syntax(token, id, absl::StrCat(Quoted(token, file), " is reserved but not supported yet"));
  }
  if (token.type == SailParser::DATE) return Syntax(token, id, "dates are not supported yet");
  if (token.type == SailParser::TEXT) return Syntax(token, id, "text blocks are not supported yet", {"use a string"});
  if (token.type == SailParser::LPAREN && after_name) return Syntax(token, id, "function calls are not supported yet");
  if (token.type == SailParser::LBRACKET && after_name) return Syntax(token, id, "indexing is not supported yet");
  if (token.type == SailParser::LBRACE && Contains(expected, SailParser::INT)) {
    return Syntax(token, id, "records are not supported as values yet");
  }
  const bool slashes =
      token.type == SailParser::SLASH && ((previous.type == SailParser::SLASH && Touches(previous, token)) ||
                                          (next.type == SailParser::SLASH && Touches(token, next)));
  if (slashes) return Syntax(token, id, "`//` is not a comment", {"comments begin with `#`"});
  if (IsComparison(token.type) && AfterComparison(tokens, index)) {
    return Syntax(token, id, "comparisons do not chain", {"combine two comparisons with `and`"});
  }
  return Syntax(token, id, "");
}

}  // namespace

bool IsUnsupportedWord(int type) {
  switch (type) {
    case SailParser::PARAM:
    case SailParser::EXTENDS:
    case SailParser::OVERRIDE:
    case SailParser::REMOVE:
    case SailParser::FOR:
    case SailParser::IN:
    case SailParser::IF:
    case SailParser::ELSE:
    case SailParser::ASSERT:
    case SailParser::FN:
    case SailParser::SHA256:
    case SailParser::WHERE:
    case SailParser::MOVED:
    case SailParser::WARN:
    case SailParser::TRACE:
    case SailParser::TEST:
      return true;
    default:
      return false;
  }
}

size_t OperatorWithoutOperand(const std::vector<Token>& tokens, size_t index) {
  if (tokens[index].type != SailParser::ASSIGN && tokens[index].type != SailParser::COLON) return 0;
  size_t i = index;
  while (i > 0 && !tokens[i].starts_line &&
         (tokens[i - 1].kind == TokenKind::kName || tokens[i - 1].kind == TokenKind::kString ||
          tokens[i - 1].type == SailParser::DOT)) {
    --i;
  }
  return i > 0 && i < index && tokens[i].starts_line && IsOperator(tokens[i - 1].type) ? i - 1 : 0;
}

Diagnostic UnexpectedToken(const std::vector<Token>& tokens, size_t index, const IntervalSet& expected,
                           bool in_constraint, const SourceFile& file, SourceId id) {
  const Token& token = tokens[index];
  if (const size_t op = OperatorWithoutOperand(tokens, index); op > 0) {
    return Syntax(tokens[op], id, absl::StrCat("expected a value after ", Quoted(tokens[op], file)));
  }
  Diagnostic special = SpecialCase(tokens, index, expected, file, id);
  if (!special.message.empty()) return special;
  const bool statement = Contains(expected, SailParser::LET);
  // What is missing at the end of a line is missing there, not on the next line.
  if (index > 0 && !statement && (token.starts_line || token.kind == TokenKind::kEnd)) {
    const Token& previous = tokens[index - 1];
    return Syntax(previous, id, absl::StrCat("expected ", Describe(expected), " after ", Quoted(previous, file)));
  }
  const bool between_statements = statement || Contains(expected, SailParser::RBRACE);
  const bool shares_line = between_statements && SharesLine(tokens, index);
  const std::string wanted = !shares_line                             ? Describe(expected)
                             : Contains(expected, SailParser::RBRACE) ? "a new line or `,`"
                                                                      : "a new line";
  Diagnostic diagnostic = Syntax(token, id, absl::StrCat("expected ", wanted, ", found ", Quoted(token, file)));
  if (token.type == SailParser::ASSIGN && in_constraint) {
    diagnostic.helps.push_back("`==` compares; `=` sets an attribute");
  }
  return diagnostic;
}

Diagnostic StatementsOnOneLine(const Token& second, SourceId id) {
  return {.code = DiagnosticCode::kStatementsOnOneLine,
          .message = "statements on one line need a comma between them",
          .primary = {.range = {id, second.begin, second.end}, .text = "a second statement begins here"},
          .helps = {"insert `,` before it, or begin a new line"}};
}

bool SharesLine(const std::vector<Token>& tokens, size_t index) {
  if (index == 0 || tokens[index].starts_line) return false;
  const int before = tokens[index - 1].type;
  return before != SailParser::COMMA && before != SailParser::LBRACE;
}

Diagnostic MissingEdition(const Token& first, SourceId id) {
  return {.code = DiagnosticCode::kMissingEdition,
          .message = "file does not start with `sail 1`",
          .primary = {.range = {id, first.begin, first.end}},
          .helps = {"insert the line `sail 1` at the top"}};
}

}  // namespace sail::frontend
