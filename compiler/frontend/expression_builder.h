// Expressions of the generated parser's tree to ast::Expr.
#pragma once

#include <optional>

#include "SailParser.h"
#include "compiler/frontend/ast.h"
#include "compiler/frontend/build_context.h"

namespace sail::frontend {

ast::Expr BuildExpression(parser::SailParser::ExprContext* tree, const BuildContext& context);

// for first, second in collection if condition
struct Generator {
  ast::Identifier first;
  std::optional<ast::Identifier> second;
  parser::SailParser::ExprContext* collection = nullptr;
  parser::SailParser::ExprContext* condition = nullptr;  // null: none
};
Generator GeneratorOf(parser::SailParser::GeneratorContext* tree, const BuildContext& context);

}  // namespace sail::frontend
