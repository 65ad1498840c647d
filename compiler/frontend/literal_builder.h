// Literals: numbers with their units, dates, strings with their `${…}`.
#pragma once

#include "SailParser.h"
#include "compiler/frontend/ast.h"
#include "compiler/frontend/build_context.h"

namespace sail::frontend {

// [$] number [unit words and `/`, or `%`].
ast::NumberExpr BuildNumber(parser::SailParser::QuantityContext* tree, const BuildContext& context);

// SAIL0108 if there is no such day.
ast::DateExpr BuildDate(const Token& token, const BuildContext& context);

// A StringExpr, or a TemplateExpr if there is a `${…}`. The expressions inside are read by a parser of their own, with
// the same limits; their ranges are those in the file.
ast::Expr BuildText(const Token& token, const BuildContext& context);

}  // namespace sail::frontend
