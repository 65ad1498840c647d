// Token types that depend on the tokens around them.
#pragma once

#include <vector>

#include "compiler/frontend/token.h"

namespace sail::frontend {

// Sets the types that no rule of the lexer gives (grammar/SailLexer.g4), marks the commas between statements, and makes
// a soft word an identifier where it can only be a name: after `.`, before `=`, `.` and `:`; `as` before `{` and
// `extends`; `minimize`, `maximize`, `where` and `warn` where an operand is awaited. Linear.
void Classify(std::vector<Token>& tokens);

}  // namespace sail::frontend
