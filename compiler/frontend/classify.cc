#include "compiler/frontend/classify.h"

#include "SailLexer.h"

namespace sail::frontend {
namespace {

using parser::SailLexer;

bool EndsOperand(const Token& token) {
  switch (token.kind) {
    case TokenKind::kNumber:
    case TokenKind::kUnit:
    case TokenKind::kString:
    case TokenKind::kClose:
      return true;
    case TokenKind::kName:
      return token.type != SailLexer::MINIMIZE && token.type != SailLexer::MAXIMIZE;
    default:
      return token.type == SailLexer::TRUE || token.type == SailLexer::FALSE || token.type == SailLexer::NONE ||
             token.type == SailLexer::PERCENT;
  }
}

bool IsOnlyAName(const Token& previous, const Token& next) {
  return previous.type == SailLexer::DOT || next.type == SailLexer::ASSIGN || next.type == SailLexer::DOT ||
         next.type == SailLexer::COLON;
}

void SetUnit(Token& token) {
  token.type = SailLexer::UNIT;
  token.kind = TokenKind::kUnit;
}

}  // namespace

void Classify(std::vector<Token>& tokens) {
  const Token none;
  bool after_dollar = false;  // the previous token is the number of `$3.67`
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    Token& token = tokens[i];
    Token& next = tokens[i + 1];
    const Token& previous = i > 0 ? tokens[i - 1] : none;
    const bool is_number = token.kind == TokenKind::kNumber;
    if (token.kind == TokenKind::kName && token.type != SailLexer::IDENT && IsOnlyAName(previous, next)) {
      token.type = SailLexer::IDENT;
    }
    if (token.type == SailLexer::MINUS && !EndsOperand(previous)) {
      token.type = SailLexer::NEGATE;
      token.kind = TokenKind::kPrefix;
    }
    if (token.type == SailLexer::SLASH && (previous.kind == TokenKind::kUnit || after_dollar) &&
        Touches(previous, token) && next.type == SailLexer::IDENT && Touches(token, next)) {
      token.type = SailLexer::PER;
      token.kind = TokenKind::kPer;
      SetUnit(next);
    }
    after_dollar = is_number && previous.type == SailLexer::DOLLAR;
    const bool takes_unit = is_number && !after_dollar && previous.type != SailLexer::SAIL;
    if (takes_unit && next.type == SailLexer::IDENT && next.line == token.line) SetUnit(next);
  }
}

}  // namespace sail::frontend
