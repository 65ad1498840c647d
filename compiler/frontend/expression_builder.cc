#include "compiler/frontend/expression_builder.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/frontend/literal_builder.h"

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
    case SailParser::IN:
      return BinaryOperator::kIn;
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

  // `if a then b else if c then d else e` nests to the right.
  Built Build(SailParser::ExprContext* tree) {
    const std::vector<SailParser::OrExprContext*> parts = tree->orExpr();
    Built built = Or(parts.back());
    for (size_t i = parts.size() - 1; i > 0; i -= 2) {
      const Token& word = context_.tokens[parts[i - 2]->start->getTokenIndex() - 1];
      if (TooDeep(built, word)) break;
      Built condition = Or(parts[i - 2]);
      Built then = Or(parts[i - 1]);
      const int depth = 1 + std::max({condition.depth, then.depth, built.depth});
      const SourceRange range = {context_.id, word.begin, built.expr.range.end};
      ast::ConditionalExpr node;
      node.operands.reserve(3);
      node.operands.push_back(std::move(condition.expr));
      node.operands.push_back(std::move(then.expr));
      node.operands.push_back(std::move(built.expr));
      built = {{std::move(node), range}, depth};
    }
    return built;
  }

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

  Built Or(SailParser::OrExprContext* rule) { return Chain(rule, &ExpressionBuilder::And); }
  Built And(SailParser::AndExprContext* rule) { return Chain(rule, &ExpressionBuilder::Not); }
  Built Not(SailParser::NotExprContext* rule) {
    Built built = Chain(rule->comparison(), &ExpressionBuilder::Range);
    return Prefixed(rule, std::move(built), ast::UnaryOperator::kNot);
  }
  Built Range(SailParser::RangeContext* rule) { return Chain(rule, &ExpressionBuilder::Sum); }
  Built Sum(SailParser::SumContext* rule) { return Chain(rule, &ExpressionBuilder::Product); }
  Built Product(SailParser::ProductContext* rule) { return Chain(rule, &ExpressionBuilder::Unary); }
  Built Unary(SailParser::UnaryContext* rule) {
    return Prefixed(rule, Postfix(rule->postfix()), ast::UnaryOperator::kNegate);
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

  Built Postfix(SailParser::PostfixContext* rule) {
    Built built = Primary(rule->primary());
    for (size_t i = 1; i < rule->children.size(); ++i) {
      auto* part = static_cast<antlr4::ParserRuleContext*>(rule->children[i]);
      if (TooDeep(built, context_.TokenOf(part->start))) break;
      const SourceRange range = {context_.id, built.expr.range.begin, context_.RangeOf(part).end};
      int inner = 0;
      if (auto* member = dynamic_cast<SailParser::MemberContext*>(part); member != nullptr) {
        ast::MemberExpr node{.member = context_.IdentifierOf(context_.TokenOf(member->stop))};
        node.base.push_back(std::move(built.expr));
        built.expr = {std::move(node), range};
      } else if (auto* index = dynamic_cast<SailParser::IndexContext*>(part); index != nullptr) {
        Built key = Build(index->expr());
        inner = key.depth;
        ast::IndexExpr node;
        node.operands.reserve(2);
        node.operands.push_back(std::move(built.expr));
        node.operands.push_back(std::move(key.expr));
        built.expr = {std::move(node), range};
      } else {
        ast::CallExpr node;
        inner = Arguments(static_cast<SailParser::CallContext*>(part), node.arguments);
        node.callee.push_back(std::move(built.expr));
        built.expr = {std::move(node), range};
      }
      built.depth = 1 + std::max(built.depth, inner);
    }
    return built;
  }

  // Returns the depth of the deepest.
  int Arguments(SailParser::CallContext* rule, std::vector<ast::Argument>& arguments) {
    int depth = 0;
    for (SailParser::ArgumentContext* tree : Separated<SailParser::ArgumentContext>(rule)) {
      const std::vector<SailParser::ExprContext*> parts = tree->expr();
      ast::Argument argument;
      if (parts.size() == 2) argument.name = Word(parts[0], "the name of an argument is one word");
      Built value = Build(parts.back());
      argument.value = std::move(value.expr);
      depth = std::max(depth, value.depth);
      arguments.push_back(std::move(argument));
    }
    return depth;
  }

  // An expression that must be one word.
  std::optional<ast::Identifier> Word(SailParser::ExprContext* tree, std::string message) {
    const Token& token = context_.TokenOf(tree->start);
    if (tree->start == tree->stop && token.kind == TokenKind::kName) return context_.IdentifierOf(token);
    context_.Report(DiagnosticCode::kSyntax, context_.RangeOf(tree), std::move(message));
    return std::nullopt;
  }

  Built Primary(SailParser::PrimaryContext* rule) {
    const Token& token = context_.TokenOf(rule->start);
    const SourceRange range = context_.RangeOf(rule);
    if (rule->quantity() != nullptr) return {{BuildNumber(rule->quantity(), context_), range}};
    if (rule->name() != nullptr) return {{ast::NameExpr{context_.IdentifierOf(token)}, range}};
    if (rule->list() != nullptr) return List(rule->list());
    if (rule->record() != nullptr) return Record(rule->record());
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
      case SailParser::DATE:
        return {{BuildDate(token, context_), range}};
      default:
        return {BuildText(token, context_)};
    }
  }

  Built List(SailParser::ListContext* rule) {
    if (rule->generator() != nullptr) return Comprehension(rule);
    Built built{{ast::ListExpr{}, context_.RangeOf(rule)}};
    auto& elements = std::get<ast::ListExpr>(built.expr.node).elements;
    for (SailParser::ExprContext* tree : Separated<SailParser::ExprContext>(rule)) {
      Built element = Build(tree);
      built.depth = std::max(built.depth, element.depth + 1);
      elements.push_back(std::move(element.expr));
    }
    return built;
  }

  Built Comprehension(SailParser::ListContext* rule) {
    const Generator generator = GeneratorOf(rule->generator(), context_);
    Built built{{ast::ComprehensionExpr{.first = generator.first, .second = generator.second}, context_.RangeOf(rule)}};
    auto& operands = std::get<ast::ComprehensionExpr>(built.expr.node).operands;
    for (SailParser::ExprContext* tree : {rule->expr()[0], generator.collection, generator.condition}) {
      if (tree == nullptr) continue;
      Built operand = Build(tree);
      built.depth = std::max(built.depth, operand.depth + 1);
      operands.push_back(std::move(operand.expr));
    }
    return built;
  }

  Built Record(SailParser::RecordContext* rule) {
    Built built{{ast::RecordExpr{}, context_.RangeOf(rule)}};
    auto& fields = std::get<ast::RecordExpr>(built.expr.node).fields;
    for (SailParser::FieldContext* tree : rule->field()) {
      context_.CheckSeparated(tree);
      Built value = Build(tree->expr());
      built.depth = std::max(built.depth, value.depth + 1);
      fields.push_back({context_.IdentifierOf(context_.TokenOf(tree->start)), std::move(value.expr)});
    }
    return built;
  }

  // The parts of a list or of arguments, which the grammar allows to be missing anywhere.
  template <class Part>
  std::vector<Part*> Separated(antlr4::ParserRuleContext* rule) {
    std::vector<Part*> parts;
    bool after_comma = false;
    for (antlr4::tree::ParseTree* child : rule->children) {
      if (auto* part = dynamic_cast<Part*>(child); part != nullptr) {
        parts.push_back(part);
        after_comma = false;
        continue;
      }
      const Token& token = FirstToken(child);
      if (after_comma && token.type == SailParser::COMMA) {
        context_.Report(DiagnosticCode::kSyntax, context_.RangeOf(token), "expected a value, found `,`");
      }
      after_comma = token.type == SailParser::COMMA;
    }
    return parts;
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

Expr BuildExpression(SailParser::ExprContext* tree, const BuildContext& context) {
  return ExpressionBuilder(context).Build(tree).expr;
}

Generator GeneratorOf(SailParser::GeneratorContext* tree, const BuildContext& context) {
  const std::vector<SailParser::NameContext*> names = tree->name();
  const std::vector<SailParser::ExprContext*> exprs = tree->expr();
  Generator generator{.first = context.IdentifierOf(context.TokenOf(names[0]->start)), .collection = exprs[0]};
  if (names.size() == 2) generator.second = context.IdentifierOf(context.TokenOf(names[1]->start));
  if (exprs.size() == 2) generator.condition = exprs[1];
  return generator;
}

}  // namespace sail::frontend
