#include "compiler/frontend/error_strategy.h"

#include <algorithm>

#include "SailParser.h"
#include "compiler/frontend/syntax_errors.h"

namespace sail::frontend {
namespace {

using parser::SailParser;

// Rules whose parts are statements: recovery happens in the part or between two parts.
bool IsSequence(size_t rule) {
  return rule == SailParser::RuleFile || rule == SailParser::RuleBody || rule == SailParser::RuleConstraints;
}
bool IsPart(size_t rule) {
  return rule == SailParser::RuleStatement || rule == SailParser::RuleConstraint || rule == SailParser::RuleEdition ||
         rule == SailParser::RuleEmbedded;
}

// The innermost statement, constraint, edition line or `{…}` of a string around `context`; null between two of them.
const antlr4::ParserRuleContext* PartAround(const antlr4::RuleContext* context) {
  for (; context != nullptr; context = static_cast<const antlr4::RuleContext*>(context->parent)) {
    if (IsPart(context->getRuleIndex())) return static_cast<const antlr4::ParserRuleContext*>(context);
    const auto* rule = static_cast<const antlr4::ParserRuleContext*>(context);
    // A body that lacks its `{` is a mistake in the header.
    const bool begun = rule->getRuleIndex() == SailParser::RuleFile || rule->start->getType() == SailParser::LBRACE;
    if (IsSequence(context->getRuleIndex()) && begun) return nullptr;
  }
  return nullptr;
}

}  // namespace

ErrorStrategy::ErrorStrategy(const LexedFile& lexed, const SourceFile& file, SourceId id, const ParseLimits& limits,
                             DiagnosticSink& sink)
    : lexed_(lexed), file_(file), id_(id), limits_(limits), sink_(sink), closer_(lexed.tokens.size(), 0) {
  std::vector<size_t> open;
  for (size_t i = 0; i < lexed_.tokens.size(); ++i) {
    if (lexed_.tokens[i].kind == TokenKind::kOpen) open.push_back(i);
    if (lexed_.tokens[i].kind == TokenKind::kClose) {
      closer_[open.back()] = i;
      open.pop_back();
    }
  }
}

void ErrorStrategy::reportError(antlr4::Parser* parser, const antlr4::RecognitionException& e) {
  if (inErrorRecoveryMode(parser)) return;
  beginErrorCondition(parser);
  ReportAt(parser, e.getOffendingToken()->getTokenIndex(), e.getExpectedTokens());
}

void ErrorStrategy::recover(antlr4::Parser* parser, std::exception_ptr e) {
  const antlr4::ParserRuleContext* context = parser->getContext();
  if (!IsPart(context->getRuleIndex())) std::rethrow_exception(e);
  Resynchronize(parser, context->start->getTokenIndex() + 1);
}

antlr4::Token* ErrorStrategy::recoverInline(antlr4::Parser* parser) { throw antlr4::InputMismatchException(parser); }

// Called before every optional part and every repetition. Between statements an error is handled at once; elsewhere it
// unwinds to the statement.
void ErrorStrategy::sync(antlr4::Parser* parser) {
  const size_t rule = parser->getContext()->getRuleIndex();
  const bool between_statements = rule == SailParser::RuleFile || rule == SailParser::RuleBody;
  for (;;) {
    const size_t index = parser->getCurrentToken()->getTokenIndex();
    const antlr4::misc::IntervalSet& expected =
        parser->getATN().nextTokens(parser->getATN().states[parser->getState()]);
    const size_t type = parser->getCurrentToken()->getType();
    const bool unsupported = between_statements && IsUnsupportedWord(static_cast<int>(type));
    const bool fits = expected.contains(type) || expected.contains(antlr4::Token::EPSILON);
    if (fits && !unsupported) return;
    if (!IsSequence(rule)) throw antlr4::InputMismatchException(parser);
    ReportAt(parser, index, expected);
    // Where a value is missing, the name after it begins the next statement, which takes the token that did not fit.
    const int separator = rule == SailParser::RuleConstraints ? SailParser::COLON : SailParser::ASSIGN;
    const bool reread = rule != SailParser::RuleFile && lexed_.tokens[index].type == separator;
    const size_t op = reread ? OperatorWithoutOperand(lexed_.tokens, index) : 0;
    Resynchronize(parser, op > 0 ? op + 1 : index + 1);
  }
}

void ErrorStrategy::ReportAt(antlr4::Parser* parser, size_t index, const antlr4::misc::IntervalSet& expected) {
  const std::vector<Token>& tokens = lexed_.tokens;
  const antlr4::ParserRuleContext* part = PartAround(parser->getContext());
  const size_t start = part != nullptr ? part->start->getTokenIndex() : index;
  if (IsHidden(start, index)) return;
  if (reported_ == limits_.max_syntax_errors) throw antlr4::ParseCancellationException();
  ++reported_;
  const size_t rule = part != nullptr ? part->getRuleIndex() : parser->getContext()->getRuleIndex();
  if (rule == SailParser::RuleEdition) {
    sink_.Report(MissingEdition(tokens[0], id_));
  } else if (SharesLine(tokens, start) && (part != nullptr || BeginsStatement(start))) {
    sink_.Report(StatementsOnOneLine(tokens[start], id_));
  } else {
    const Place place = rule == SailParser::RuleEmbedded                                            ? Place::kString
                        : rule == SailParser::RuleConstraint || rule == SailParser::RuleConstraints ? Place::kConstraint
                                                                                                    : Place::kStatement;
    sink_.Report(UnexpectedToken(tokens, index, expected, place, file_, id_));
  }
}

// Errors that follow from a character that was left out, or from a bracket that was put in, were reported already:
// anything between the start of the statement and the end of the line of the error.
bool ErrorStrategy::IsHidden(size_t begin, size_t end) const {
  const std::vector<Token>& tokens = lexed_.tokens;
  if (tokens[end].made_up || (end > 0 && tokens[end - 1].made_up)) return true;
  const int from = file_.LineStart(tokens[begin].line);
  const int last_line = tokens[end].line;
  const int to =
      last_line < file_.line_count() ? file_.LineStart(last_line + 1) : static_cast<int>(file_.text().size());
  return HasErrorIn(lexed_, from, to);
}

bool ErrorStrategy::BeginsStatement(size_t index) const {
  const Token& token = lexed_.tokens[index];
  const Token& previous = lexed_.tokens[index - 1];
  const Token& next = lexed_.tokens[std::min(index + 1, lexed_.tokens.size() - 1)];
  const bool continues = token.type == SailParser::SUBJECT || token.type == SailParser::TO ||
                         token.type == SailParser::WITHIN || token.type == SailParser::ACROSS ||
                         token.type == SailParser::AS || token.type == SailParser::SHA256 ||
                         token.type == SailParser::WHERE;
  const bool awaited = (previous.kind == TokenKind::kPunctuation && previous.type != SailParser::COMMA) ||
                       previous.kind == TokenKind::kPrefix || previous.type == SailParser::AND ||
                       previous.type == SailParser::OR || previous.type == SailParser::THEN ||
                       previous.type == SailParser::IN || previous.type == SailParser::IF ||
                       previous.type == SailParser::ELSE;
  const bool certain = token.starts_line && (next.type == SailParser::ASSIGN || next.type == SailParser::COLON);
  if (continues || (awaited && !certain)) return false;
  const bool opens = token.type == SailParser::LET || token.type == SailParser::IMPORT ||
                     token.type == SailParser::PARAM || token.type == SailParser::FOR ||
                     token.type == SailParser::ASSERT || token.type == SailParser::OVERRIDE ||
                     token.type == SailParser::REMOVE;
  if (opens) return true;
  // A name alone on a line may just as well be the end of what went wrong.
  const bool is_label = next.kind == TokenKind::kName || next.kind == TokenKind::kString;
  const bool names = next.type == SailParser::ASSIGN || next.type == SailParser::COLON ||
                     next.type == SailParser::DOT || next.type == SailParser::LBRACE;
  if (token.kind == TokenKind::kString) return names;
  if (token.kind != TokenKind::kName) return false;
  return token.starts_line || names || is_label;
}

void ErrorStrategy::Resynchronize(antlr4::Parser* parser, size_t from) {
  const std::vector<Token>& tokens = lexed_.tokens;
  size_t i = from;
  // `from` may lie after an opening bracket that the error itself was about.
  if (from > 0 && tokens[from - 1].kind == TokenKind::kOpen) i = closer_[from - 1] + 1;
  for (; tokens[i].kind != TokenKind::kEnd && tokens[i].kind != TokenKind::kClose; ++i) {
    const bool separated = tokens[i].starts_line || tokens[i - 1].type == SailParser::COMMA;
    if (separated && BeginsStatement(i)) break;
    if (tokens[i].kind == TokenKind::kOpen) i = closer_[i];
  }
  parser->getInputStream()->seek(i);
  endErrorCondition(parser);
}

}  // namespace sail::frontend
