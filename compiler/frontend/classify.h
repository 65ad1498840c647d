// Token types that depend on the tokens around them.
#pragma once

#include <vector>

#include "compiler/frontend/token.h"

namespace sail::frontend {

// Sets UNIT, PER and NEGATE (grammar/SailLexer.g4), and makes a soft word an identifier where it can only be a name:
// after `.`, and before `=`, `.` and `:`. Linear.
void Classify(std::vector<Token>& tokens);

}  // namespace sail::frontend
