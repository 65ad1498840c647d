#include "compiler/frontend/statement_starts.h"

#include <variant>

namespace sail::frontend {
namespace {

struct Collector {
  std::vector<int> starts;

  void operator()(const ast::Import& import) { starts.push_back(import.range.begin); }
  void operator()(const ast::Let& let) { starts.push_back(let.range.begin); }
  void operator()(const ast::Assignment& assignment) { starts.push_back(assignment.range.begin); }
  void operator()(const ast::Link& link) {
    starts.push_back(link.range.begin);
    Body(link.body[0]);
  }
  void operator()(const ast::Block& block) {
    starts.push_back(block.range.begin);
    Body(block.body[0]);
  }
  void operator()(const ast::Objective& objective) {
    starts.push_back(objective.range.begin);
    for (const ast::NamedConstraint& constraint : objective.constraints) {
      starts.push_back(constraint.name.has_value() ? constraint.name->range.begin : constraint.condition.range.begin);
    }
  }
  void Body(const ast::Body& body) {
    for (const ast::Statement& statement : body.statements) {
      std::visit([this](const auto& node) { (*this)(node); }, statement);
    }
  }
};

}  // namespace

std::vector<int> StatementStarts(const ast::Spec& spec) {
  Collector collector;
  for (const ast::Item& item : spec.items) std::visit([&](const auto& node) { collector(node); }, item);
  return std::move(collector.starts);
}

}  // namespace sail::frontend
