// The generated parser's tree to our tree, with the checks that one token of lookahead cannot make.
#pragma once

#include <vector>

#include "SailParser.h"
#include "compiler/frontend/ast.h"
#include "compiler/frontend/build_context.h"

namespace sail::frontend {

// Statements with syntax errors are left out. Reports SAIL0103, SAIL0105, SAIL0107, SAIL0119 (depth of an expression)
// and SAIL0108 (escapes, names of constraints and arguments, what stands inside `${…}`). Linear in the tokens.
ast::Spec BuildAst(parser::SailParser::FileContext* tree, const BuildContext& context);

// For a file of assignments to single words (SAIL0107 for anything else), with or without an edition line.
std::vector<ast::Assignment> BuildAssignments(parser::SailParser::FileContext* tree, const BuildContext& context);

}  // namespace sail::frontend
