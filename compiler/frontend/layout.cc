#include "compiler/frontend/layout.h"

#include <utility>
#include <variant>

namespace sail::frontend {
namespace {

class Collector {
 public:
  Layout Collect(const ast::Spec& spec) {
    for (const ast::Item& item : spec.items) Visit(item);
    return std::move(layout_);
  }

  void operator()(const ast::Import& import) { Start(import.range); }
  void operator()(const ast::Remove& removal) { Start(removal.range); }
  void operator()(const ast::Param& param) {
    Start(param.range);
    layout_.types.push_back(param.type.range);
    Optional(param.value);
    Optional(param.where);
  }
  void operator()(const ast::Let& let) {
    Start(let.range);
    if (let.type.has_value()) layout_.types.push_back(let.type->range);
    Expression(let.value);
  }
  void operator()(const ast::Assignment& assignment) {
    Start(assignment.range);
    Expression(assignment.value);
  }
  void operator()(const ast::Assert& assertion) {
    Start(assertion.range);
    Expression(assertion.condition);
  }
  void operator()(const ast::Link& link) {
    Start(link.range);
    Body(link.body[0]);
  }
  void operator()(const ast::Block& block) {
    Start(block.range);
    Body(block.body[0]);
  }
  void operator()(const ast::For& loop) {
    Start(loop.range);
    Expression(loop.collection);
    Optional(loop.condition);
    Body(loop.body[0]);
  }
  void operator()(const ast::Objective& objective) {
    Start(objective.range);
    for (const ast::ObjectiveTerm& term : objective.terms) Expression(term.metric);
    for (const ast::NamedConstraint& constraint : objective.constraints) {
      Start(constraint.name.has_value() ? constraint.name->range : constraint.condition.range);
      Expression(constraint.condition);
    }
  }

  void operator()(const ast::MemberExpr& member) { Expressions(member.base); }
  void operator()(const ast::IndexExpr& index) { Expressions(index.operands); }
  void operator()(const ast::CallExpr& call) {
    Expressions(call.callee);
    for (const ast::Argument& argument : call.arguments) Expression(argument.value);
  }
  void operator()(const ast::ListExpr& list) { Expressions(list.elements); }
  void operator()(const ast::ConditionalExpr& conditional) { Expressions(conditional.operands); }
  void operator()(const ast::ComprehensionExpr& comprehension) { Expressions(comprehension.operands); }
  void operator()(const ast::UnaryExpr& unary) { Expressions(unary.operand); }
  void operator()(const ast::BinaryExpr& binary) { Expressions(binary.operands); }
  void operator()(const ast::RecordExpr& record) {
    for (const ast::Field& field : record.fields) {
      Start(field.key.range);
      Expression(field.value);
    }
  }
  template <class Leaf>
  void operator()(const Leaf&) {}

 private:
  template <class Variant>
  void Visit(const Variant& node) {
    std::visit([this](const auto& alternative) { (*this)(alternative); }, node);
  }
  void Start(const SourceRange& range) { layout_.starts.push_back(range.begin); }
  void Expression(const ast::Expr& expr) {
    if (std::holds_alternative<ast::RecordExpr>(expr.node)) layout_.records.push_back(expr.range.begin);
    Visit(expr.node);
  }
  void Expressions(const std::vector<ast::Expr>& exprs) {
    for (const ast::Expr& expr : exprs) Expression(expr);
  }
  void Optional(const std::optional<ast::Expr>& expr) {
    if (expr.has_value()) Expression(*expr);
  }
  void Body(const ast::Body& body) {
    for (const ast::Statement& statement : body.statements) Visit(statement);
  }

  Layout layout_;
};

}  // namespace

Layout LayoutOf(const ast::Spec& spec) { return Collector().Collect(spec); }

}  // namespace sail::frontend
