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
    {SailParser::GT, "`>`"},
    {SailParser::IN, "`in`"},
    {SailParser::THEN, "`then`"},
    {SailParser::ELSE, "`else`"},
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

// Not worth a word: it only continues what stands before, or another word covers it.
bool IsCovered(int type, const IntervalSet& expected) {
  const bool operators = Contains(expected, SailParser::PLUS) || Contains(expected, SailParser::DOT);
  const bool name = Contains(expected, SailParser::IDENT);
  switch (type) {
    case SailParser::IN:
    case SailParser::GT:
      return operators;
    case SailParser::THEN:
      return Contains(expected, SailParser::SUBJECT) || name;
    case SailParser::ASSIGN:  // of a named argument
      return operators && Contains(expected, SailParser::RPAREN);
    case SailParser::AS:
    case SailParser::TO:
    case SailParser::MINIMIZE:
    case SailParser::MAXIMIZE:
      return name;
    default:
      return false;
  }
}

// The widest category that fits, then single tokens; operators only continue an expression and are not worth a word.
std::string Describe(const IntervalSet& expected) {
  std::vector<std::string> parts;
  if (Contains(expected, SailParser::LET)) {
    parts.push_back("a statement");
  } else if (Contains(expected, SailParser::INT)) {
    parts.push_back(Contains(expected, SailParser::STRING) ? "a value" : "a number");
  } else if (Contains(expected, SailParser::IDENT)) {
    parts.push_back("a name");
  } else if (Contains(expected, SailParser::STRING)) {
    parts.push_back("a string");
  }
  const bool value = Contains(expected, SailParser::INT);
  for (const Spelling& spelling : kSpellings) {
    const bool is_value = value && spelling.type == SailParser::LBRACE;
    if (Contains(expected, spelling.type) && !is_value && !IsCovered(spelling.type, expected)) {
      parts.push_back(std::string(spelling.text));
    }
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

bool IsComparison(int type) { return (type >= SailParser::EQ && type <= SailParser::GT) || type == SailParser::IN; }
bool IsOperator(int type) {
  return IsComparison(type) || (type >= SailParser::PLUS && type <= SailParser::SLASH) || type == SailParser::DOTDOT ||
         type == SailParser::AND || type == SailParser::OR || type == SailParser::IN || type == SailParser::ASSIGN;
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

// `assert a, b`, at the comma or after it.
bool AfterAssertion(const std::vector<Token>& tokens, size_t index) {
  size_t comma = index;
  while (comma > 0 && index - comma < 2 && tokens[comma].type != SailParser::COMMA) --comma;
  if (tokens[comma].type != SailParser::COMMA) return false;
  size_t first = comma;
  int depth = 0;
  for (; first > 0 && !tokens[first].starts_line; --first) {
    depth += tokens[first].kind == TokenKind::kOpen ? 1 : tokens[first].kind == TokenKind::kClose ? -1 : 0;
  }
  return depth == 0 && (tokens[first].type == SailParser::ASSERT || tokens[first].type == SailParser::WARN);
}

Diagnostic Syntax(const Token& at, SourceId id, std::string message, std::vector<std::string> helps = {}) {
  return {.code = DiagnosticCode::kSyntax,
          .message = std::move(message),
          .primary = {.range = {id, at.begin, at.end}},
          .helps = std::move(helps)};
}

// The mistakes that are made with one word or sign. Empty message: nothing special.
Diagnostic WordCase(const std::vector<Token>& tokens, size_t index, const IntervalSet& expected, const SourceFile& file,
                    SourceId id) {
  const Token& token = tokens[index];
  const Token none;
  const Token& next = token.kind == TokenKind::kEnd ? none : tokens[index + 1];
  const bool value = Contains(expected, SailParser::INT);
  const bool statement = Contains(expected, SailParser::LET);
  const bool wants_name = Contains(expected, SailParser::IDENT) && !statement && !value;
  if (wants_name && token.kind == TokenKind::kReserved) {
    return Syntax(token, id, absl::StrCat("expected a name, found the reserved word ", Quoted(token, file)));
  }
  if (IsUnsupportedWord(token.type)) {
    return Syntax(token, id, absl::StrCat(Quoted(token, file), " is reserved but not supported yet"));
  }
  if (token.type == SailParser::IF && statement) {
    return Syntax(token, id, "`if` does not begin a statement",
                  {"a value is chosen with `if … then … else …`, blocks with `for … in … if … { }`"});
  }
  if (token.type == SailParser::IF && value) {
    return Syntax(token, id, "a conditional inside an expression needs parentheses", {"write `(if … then … else …)`"});
  }
  if (token.type == SailParser::NOT && next.type == SailParser::IN) {
    return Syntax(token, id, "`not in` is not an operator", {"write `not a in b`"});
  }
  return Syntax(token, id, "");
}

// Names what the user probably meant, where the tokens around the error tell. Empty message: nothing special.
Diagnostic SpecialCase(const std::vector<Token>& tokens, size_t index, const IntervalSet& expected,
                       const SourceFile& file, SourceId id) {
  const Token& token = tokens[index];
  const Token none;
  const Token& previous = index > 0 ? tokens[index - 1] : none;
  const Token& next = token.kind == TokenKind::kEnd ? none : tokens[index + 1];
  const bool slashes =
      token.type == SailParser::SLASH && ((previous.type == SailParser::SLASH && Touches(previous, token)) ||
                                          (next.type == SailParser::SLASH && Touches(token, next)));
  if (AfterAssertion(tokens, index)) {
    return Syntax(token, id, "the text of an assertion is a string", {"write `assert CONDITION, \"… ${value} …\"`"});
  }
  if (slashes) return Syntax(token, id, "`//` is not a comment", {"comments begin with `#`"});
  if (token.type == SailParser::GE && Contains(expected, SailParser::GT) && !Contains(expected, SailParser::GE)) {
    return Syntax(token, id, "expected `>`, found `>=`", {"write a blank between `>` and `=`"});
  }
  if (IsComparison(token.type) && AfterComparison(tokens, index)) {
    return Syntax(token, id, "comparisons do not chain", {"combine two comparisons with `and`"});
  }
  if (token.type == SailParser::DOT && next.kind == TokenKind::kNumber && Touches(token, next)) {
    return Syntax(token, id, "a number begins with a digit", {absl::StrCat("write `0.", TextOf(next, file), "`")});
  }
  const bool after_name = previous.kind == TokenKind::kName || previous.kind == TokenKind::kString ||
                          previous.type == SailParser::RPAREN || previous.type == SailParser::RBRACKET;
  const bool continues = token.starts_line && after_name && !Contains(expected, token.type);
  if (continues && (token.type == SailParser::LPAREN || token.type == SailParser::LBRACKET)) {
    const absl::string_view what = token.type == SailParser::LPAREN ? "a call" : "an index";
    return Syntax(token, id, absl::StrCat(Quoted(token, file), " cannot begin a line here"),
                  {absl::StrCat(what, " stands on the line of the name before it")});
  }
  return WordCase(tokens, index, expected, file, id);
}

// The edit that most likely helps, or nothing.
std::vector<std::string> HelpFor(const Token& token, const IntervalSet& expected, Place place) {
  const bool assign = Contains(expected, SailParser::ASSIGN);
  if (token.type == SailParser::ASSIGN && place == Place::kConstraint) {
    return {"`==` compares; `=` sets an attribute"};
  }
  if (token.type == SailParser::ASSIGN && Contains(expected, SailParser::COLON)) {
    return {"a param has a type: `param name: Int = 3`"};
  }
  if (token.type == SailParser::COLON && assign) return {"values are set with `=`"};
  if (token.type == SailParser::LBRACE && assign && !Contains(expected, SailParser::LBRACE)) {
    return {"write one attribute at a time: `override price.spot = …`"};
  }
  return {};
}

}  // namespace

bool IsUnsupportedWord(int type) {
  switch (type) {
    case SailParser::FN:
    case SailParser::MOVED:
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

Diagnostic UnexpectedToken(const std::vector<Token>& tokens, size_t index, const IntervalSet& expected, Place place,
                           const SourceFile& file, SourceId id) {
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
  const bool shares_line = between_statements && place != Place::kString && SharesLine(tokens, index);
  const std::string wanted = !shares_line                             ? Describe(expected)
                             : Contains(expected, SailParser::RBRACE) ? "a new line or `,`"
                                                                      : "a new line";
  Diagnostic diagnostic = Syntax(token, id, absl::StrCat("expected ", wanted, ", found ", Quoted(token, file)));
  diagnostic.helps = HelpFor(token, expected, place);
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
