// Brackets are checked before parsing: depth, because the parser recurses; balance, because one missing `}` would
// otherwise surface as an error at the end of the file.
#pragma once

#include "compiler/base/diagnostic.h"
#include "compiler/base/source.h"
#include "compiler/frontend/parse.h"
#include "compiler/frontend/token.h"

namespace sail::frontend {

// False if brackets, prefix operators and the `<` of types nest deeper than limits.max_nesting (SAIL0119). Linear.
bool CheckNesting(const std::vector<Token>& tokens, SourceId id, const ParseLimits& limits, DiagnosticSink& sink);

// Makes every bracket match, reporting each repair (SAIL0106). A missing closing bracket is put where the indentation
// suggests it, as long as this needs no more repairs than matching without a look at indentation does; otherwise the
// result is false: errors were reported, and parsing on would only repeat them. Linear.
bool BalanceBrackets(LexedFile& lexed, const SourceFile& file, SourceId id, const ParseLimits& limits,
                     DiagnosticSink& sink);

}  // namespace sail::frontend
