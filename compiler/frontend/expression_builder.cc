#include "compiler/frontend/expression_builder.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/frontend/string_literal.h"

namespace sail::frontend {
namespace {

using ast::BinaryOperator;
using ast::Expr;
using parser::SailParser;

BinaryOperator OperatorOf(int type) {
  switch (type) {
    case SailParser::PLUS:
      return BinaryOperator::kAdd;
    case SailParser::MINUS:
      return BinaryOperator::kSubtract;
    case SailParser::STAR:
      return BinaryOperator::kMultiply;
    case SailParser::SLASH:
      return BinaryOperator::kDivide;
    case SailParser::DOTDOT:
      return BinaryOperator::kRange;
    case SailParser::EQ:
      return BinaryOperator::kEqual;
    case SailParser::NE:
      return BinaryOperator::kNotEqual;
    case SailParser::LT:
      return BinaryOperator::kLess;
    case SailParser::LE:
      return BinaryOperator::kLessEqual;
    case SailParser::GT:
      return BinaryOperator::kGreater;
    case SailParser::GE:
      return BinaryOperator::kGreaterEqual;
    case SailParser::AND:
      return BinaryOperator::kAnd;
    default:
      return BinaryOperator::kOr;
  }
}

// A tree and its depth. Consumers recurse over trees, so the depth is bounded; a chain of operators nests to the left
// and would otherwise be as deep as it is long.
struct Built {
  Expr expr;
  int depth = 1;
};

class ExpressionBuilder {
 public:
  explicit ExpressionBuilder(const BuildContext& context) : context_(context) {}

  Built Build(SailParser::ExprContext* tree) { return Chain(tree->orExpr(), &ExpressionBuilder::And); }

 private:
  // The children of a chain rule alternate: operand, operator, operand, …
  template <class Rule, class Operand>
  Built Chain(Rule* rule, Built (ExpressionBuilder::*operand)(Operand*)) {
    const auto& children = rule->children;
    Built left = (this->*operand)(static_cast<Operand*>(children[0]));
    for (size_t i = 1; i + 1 < children.size(); i += 2) {
      const Token& op = context_.TokenOf(static_cast<antlr4::tree::TerminalNode*>(children[i])->getSymbol());
      if (TooDeep(left, op)) break;
      Built right = (this->*operand)(static_cast<Operand*>(children[i + 1]));
      const SourceRange range = {context_.id, left.expr.range.begin, right.expr.range.end};
      ast::BinaryExpr node{.op = OperatorOf(op.type), .op_range = context_.RangeOf(op)};
      node.operands.reserve(2);
      node.operands.push_back(std::move(left.expr));
      node.operands.push_back(std::move(right.expr));
      left = {{std::move(node), range}, 1 + std::max(left.depth, right.depth)};
    }
    return left;
  }

  Built And(SailParser::AndExprContext* rule) { return Chain(rule, &ExpressionBuilder::Not); }
  Built Not(SailParser::NotExprContext* rule) {
    Built built = Chain(rule->comparison(), &ExpressionBuilder::Range);
    return Prefixed(rule, std::move(built), ast::UnaryOperator::kNot);
  }
  Built Range(SailParser::RangeContext* rule) { return Chain(rule, &ExpressionBuilder::Sum); }
  Built Sum(SailParser::SumContext* rule) { return Chain(rule, &ExpressionBuilder::Product); }
  Built Product(SailParser::ProductContext* rule) { return Chain(rule, &ExpressionBuilder::Unary); }
  Built Unary(SailParser::UnaryContext* rule) {
    return Prefixed(rule, Member(rule->member()), ast::UnaryOperator::kNegate);
  }

  // All children but the last are prefix operators; the innermost stands last.
  Built Prefixed(antlr4::ParserRuleContext* rule, Built built, ast::UnaryOperator op) {
    for (size_t i = rule->children.size() - 1; i-- > 0;) {
      const Token& token = context_.TokenOf(static_cast<antlr4::tree::TerminalNode*>(rule->children[i])->getSymbol());
      if (TooDeep(built, token)) break;
      const SourceRange range = {context_.id, token.begin, built.expr.range.end};
      ast::UnaryExpr node{.op = op};
      node.operand.push_back(std::move(built.expr));
      built = {{std::move(node), range}, built.depth + 1};
    }
    return built;
  }

  Built Member(SailParser::MemberContext* rule) {
    Built built = Primary(rule->primary());
    for (size_t i = 2; i < rule->children.size(); i += 2) {  // children: primary `.` name `.` name …
      const Token& name = FirstToken(rule->children[i]);
      if (TooDeep(built, name)) break;
      const SourceRange range = {context_.id, built.expr.range.begin, name.end};
      ast::MemberExpr node{.member = context_.IdentifierOf(name)};
      node.base.push_back(std::move(built.expr));
      built = {{std::move(node), range}, built.depth + 1};
    }
    return built;
  }

  Built Primary(SailParser::PrimaryContext* rule) {
    const Token& token = context_.TokenOf(rule->start);
    const SourceRange range = context_.RangeOf(rule);
    if (rule->quantity() != nullptr) return {{Number(rule->quantity()), range}};
    if (rule->name() != nullptr) return {{ast::NameExpr{context_.IdentifierOf(token)}, range}};
    if (rule->list() != nullptr) return List(rule->list());
    if (rule->expr() != nullptr) {
      Built inner = Build(rule->expr());
      inner.expr.range = range;
      return inner;
    }
    switch (token.type) {
      case SailParser::TRUE:
        return {{ast::BoolExpr{true}, range}};
      case SailParser::FALSE:
        return {{ast::BoolExpr{false}, range}};
      case SailParser::NONE:
        return {{ast::NoneExpr{}, range}};
      default:
        return {{ast::StringExpr{context_.IdentifierOf(token).text}, range}};
    }
  }

  // The tokens of a quantity: [$] number [unit words and `/`, or `%`].
  ast::NumberExpr Number(SailParser::QuantityContext* rule) {
    const size_t first = rule->start->getTokenIndex();
    const size_t last = rule->stop->getTokenIndex();
    const bool dollar = context_.tokens[first].type == SailParser::DOLLAR;
    const size_t digits = dollar ? first + 1 : first;
    ast::NumberExpr number;
    number.digits = std::string(TextOf(context_.tokens[digits], context_.file));
    number.digits_range = context_.RangeOf(context_.tokens[digits]);
    if (last > digits) {
      number.unit_range = {context_.id, context_.tokens[digits + 1].begin, context_.tokens[last].end};
      for (size_t i = digits + 1; i <= last; ++i) {
        absl::StrAppend(&number.unit, TextOf(context_.tokens[i], context_.file));
      }
    } else if (dollar) {
      number.unit_range = context_.RangeOf(context_.tokens[first]);
    }
    if (dollar) number.unit.insert(0, "USD");
    return number;
  }

  Built List(SailParser::ListContext* rule) {
    Built built{{ast::ListExpr{}, context_.RangeOf(rule)}};
    auto& elements = std::get<ast::ListExpr>(built.expr.node).elements;
    bool after_comma = false;
    for (antlr4::tree::ParseTree* child : rule->children) {
      if (auto* terminal = dynamic_cast<antlr4::tree::TerminalNode*>(child); terminal != nullptr) {
        const Token& token = context_.TokenOf(terminal->getSymbol());
        if (after_comma && token.type == SailParser::COMMA) {
          context_.Report(DiagnosticCode::kSyntax, context_.RangeOf(token), "expected a value, found `,`");
        }
        after_comma = token.type == SailParser::COMMA;
        continue;
      }
      Built element = Build(static_cast<SailParser::ExprContext*>(child));
      built.depth = std::max(built.depth, element.depth + 1);
      elements.push_back(std::move(element.expr));
      after_comma = false;
    }
    return built;
  }

  const Token& FirstToken(antlr4::tree::ParseTree* tree) const {
    if (auto* terminal = dynamic_cast<antlr4::tree::TerminalNode*>(tree); terminal != nullptr) {
      return context_.TokenOf(terminal->getSymbol());
    }
    return context_.TokenOf(static_cast<antlr4::ParserRuleContext*>(tree)->start);
  }

  // Reported once per expression.
  bool TooDeep(const Built& built, const Token& at) {
    if (built.depth < context_.limits.max_expression_depth) return false;
    if (!reported_depth_) {
      context_.Report(DiagnosticCode::kTooLarge, context_.RangeOf(at),
                      absl::StrCat("more than ", context_.limits.max_expression_depth, " operators in a chain"),
                      {"split the expression with `let`"});
    }
    reported_depth_ = true;
    return true;
  }

  const BuildContext& context_;
  bool reported_depth_ = false;
};

}  // namespace

ast::Identifier BuildContext::IdentifierOf(const Token& token) const {
  if (token.kind == TokenKind::kString) return {StringValue(token, file, id, sink), RangeOf(token)};
  return {std::string(TextOf(token, file)), RangeOf(token)};
}

void BuildContext::Report(DiagnosticCode code, SourceRange range, std::string message,
                          std::vector<std::string> helps) const {
  sink.Report({.code = code, .message = std::move(message), .primary = {.range = range}, .helps = std::move(helps)});
}

Expr BuildExpression(SailParser::ExprContext* tree, const BuildContext& context) {
  return ExpressionBuilder(context).Build(tree).expr;
}

}  // namespace sail::frontend
