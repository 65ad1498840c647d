// The generated parser's tree to our tree, with the checks that one token of lookahead cannot make.
#pragma once

#include "SailParser.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/source.h"
#include "compiler/frontend/ast.h"
#include "compiler/frontend/parse.h"
#include "compiler/frontend/token.h"

namespace sail::frontend {

// Statements with syntax errors are left out. Reports SAIL0103, SAIL0105, SAIL0107, SAIL0119 (depth of an expression)
// and SAIL0108 (escapes, constraint names). Linear in the tokens.
ast::Spec BuildAst(parser::SailParser::FileContext* tree, const LexedFile& lexed, const SourceFile& file, SourceId id,
                   const ParseLimits& limits, DiagnosticSink& sink);

}  // namespace sail::frontend
