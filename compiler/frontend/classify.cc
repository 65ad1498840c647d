#include "compiler/frontend/classify.h"

#include "SailLexer.h"

namespace sail::frontend {
namespace {

using parser::SailLexer;

// Words that stand before an operand and after one.
bool IsKeywordBeforeOperand(int type) {
  return type == SailLexer::MINIMIZE || type == SailLexer::MAXIMIZE || type == SailLexer::WHERE ||
         type == SailLexer::WARN;
}

bool EndsOperand(const Token& token) {
  switch (token.kind) {
    case TokenKind::kNumber:
    case TokenKind::kUnit:
    case TokenKind::kDate:
    case TokenKind::kString:
    case TokenKind::kClose:
      return true;
    case TokenKind::kName:
      return !IsKeywordBeforeOperand(token.type);
    default:
      return token.type == SailLexer::TRUE || token.type == SailLexer::FALSE || token.type == SailLexer::NONE ||
             token.type == SailLexer::PERCENT;
  }
}

bool AwaitsOperand(const Token& token) {
  switch (token.type) {
    case SailLexer::ASSIGN:
    case SailLexer::COLON:
    case SailLexer::LPAREN:
    case SailLexer::CALL:
    case SailLexer::LBRACKET:
    case SailLexer::INDEX:
    case SailLexer::AND:
    case SailLexer::OR:
    case SailLexer::NOT:
    case SailLexer::NEGATE:
    case SailLexer::IN:
    case SailLexer::IF:
    case SailLexer::ELSE:
    case SailLexer::FOR:
      return true;
    default:
      return (token.type >= SailLexer::DOTDOT && token.type <= SailLexer::GT) ||
             (token.type >= SailLexer::PLUS && token.type <= SailLexer::SLASH);
  }
}

class Classifier {
 public:
  explicit Classifier(std::vector<Token>& tokens) : tokens_(tokens) {}

  void Run() {
    for (size_t i = 0; i + 1 < tokens_.size(); ++i) {
      Word(i);
      Operator(i);
      Unit(i);
      Bracket(i);
      Type(i);
      Comma(i);
    }
  }

 private:
  struct Level {
    bool is_body = true;     // statements or fields, not values
    bool asserting = false;  // inside `assert` or `warn`, before its message
  };

  const Token& Before(size_t i, size_t distance = 1) const { return i >= distance ? tokens_[i - distance] : none_; }

  void Word(size_t i) {
    Token& token = tokens_[i];
    const Token& previous = Before(i);
    const Token& next = tokens_[i + 1];
    if (token.kind == TokenKind::kName && token.type != SailLexer::IDENT) {
      const bool named = next.type == SailLexer::ASSIGN || next.type == SailLexer::DOT || next.type == SailLexer::COLON;
      const bool is_label = token.type == SailLexer::AS && !token.starts_line && previous.kind == TokenKind::kName &&
                            (next.type == SailLexer::LBRACE || next.type == SailLexer::EXTENDS);
      const bool awaited = AwaitsOperand(previous) || (previous.type == SailLexer::COMMA && !levels_.back().is_body);
      const bool operand = IsKeywordBeforeOperand(token.type) && awaited && !token.starts_line;
      if (previous.type == SailLexer::DOT || named || is_label || operand) token.type = SailLexer::IDENT;
    }
    const bool begins = token.starts_line || previous.type == SailLexer::COMMA || previous.type == SailLexer::LBRACE;
    if (token.type == SailLexer::ASSERT || (token.type == SailLexer::WARN && begins)) levels_.back().asserting = true;
    const bool removed =
        Before(i, 2).type == SailLexer::REMOVE && previous.kind == TokenKind::kName && previous.line == token.line;
    if (removed && (token.kind == TokenKind::kName || token.kind == TokenKind::kString)) token.type = SailLexer::LABEL;
  }

  void Operator(size_t i) {
    Token& token = tokens_[i];
    const Token& previous = Before(i);
    if (token.type == SailLexer::MINUS && !EndsOperand(previous)) {
      token.type = SailLexer::NEGATE;
      token.kind = TokenKind::kPrefix;
    }
    const bool has_callee = (previous.kind == TokenKind::kName && !IsKeywordBeforeOperand(previous.type)) ||
                            previous.kind == TokenKind::kString || previous.kind == TokenKind::kClose;
    if (has_callee && previous.end_line == token.line) {
      if (token.type == SailLexer::LPAREN) token.type = SailLexer::CALL;
      if (token.type == SailLexer::LBRACKET) token.type = SailLexer::INDEX;
    }
  }

  void Unit(size_t i) {
    Token& token = tokens_[i];
    Token& next = tokens_[i + 1];
    const Token& previous = Before(i);
    if (token.type == SailLexer::SLASH && (previous.kind == TokenKind::kUnit || after_dollar_) &&
        Touches(previous, token) && next.type == SailLexer::IDENT && Touches(token, next)) {
      token.type = SailLexer::PER;
      token.kind = TokenKind::kPer;
      SetUnit(next);
    }
    const bool is_number = token.kind == TokenKind::kNumber;
    after_dollar_ = is_number && previous.type == SailLexer::DOLLAR;
    const bool takes_unit = is_number && !after_dollar_ && previous.type != SailLexer::SAIL;
    if (takes_unit && next.type == SailLexer::IDENT && next.line == token.line) SetUnit(next);
  }
  static void SetUnit(Token& token) {
    token.type = SailLexer::UNIT;
    token.kind = TokenKind::kUnit;
  }

  void Bracket(size_t i) {
    const Token& token = tokens_[i];
    if (token.kind == TokenKind::kOpen) levels_.push_back({.is_body = token.type == SailLexer::LBRACE});
    if (token.kind == TokenKind::kClose && levels_.size() > 1) levels_.pop_back();
  }

  // `let a: Map<A, B>` has commas that separate no statements.
  void Type(size_t i) {
    const Token& token = tokens_[i];
    const int opener = Before(i, 2).type;
    if (token.type == SailLexer::COLON && (opener == SailLexer::LET || opener == SailLexer::PARAM)) {
      angles_ = 0;
      in_type_ = true;
    } else if (token.type == SailLexer::LT) {
      ++angles_;
    } else if (token.type == SailLexer::GT) {
      --angles_;
    } else if (token.kind != TokenKind::kName && token.type != SailLexer::COMMA && token.type != SailLexer::SLASH &&
               token.type != SailLexer::QUESTION) {
      in_type_ = false;
    }
  }

  void Comma(size_t i) {
    Token& token = tokens_[i];
    Level& level = levels_.back();
    const bool in_angles = in_type_ && angles_ > 0;
    if (token.type != SailLexer::COMMA || !level.is_body || in_angles || Before(i, 2).type == SailLexer::FOR) return;
    in_type_ = false;
    const Token& next = tokens_[i + 1];
    const Token& after = i + 2 < tokens_.size() ? tokens_[i + 2] : none_;
    const bool is_message = level.asserting && next.kind == TokenKind::kString && after.type != SailLexer::ASSIGN &&
                            after.type != SailLexer::DOT;
    level.asserting = false;
    if (is_message) {
      token.type = SailLexer::MESSAGE;
    } else {
      token.kind = TokenKind::kSeparator;
    }
  }

  std::vector<Token>& tokens_;
  const Token none_;
  std::vector<Level> levels_ = {Level{}};
  bool after_dollar_ = false;  // the previous token is the number of `$3.67`
  bool in_type_ = false;
  int angles_ = 0;  // that are open, while in_type_
};

}  // namespace

void Classify(std::vector<Token>& tokens) { Classifier(tokens).Run(); }

}  // namespace sail::frontend
