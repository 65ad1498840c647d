// Words for syntax errors. Nothing of ANTLR's own messages reaches the user.
#pragma once

#include <string>

#include "antlr4-runtime.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/source.h"
#include "compiler/frontend/token.h"

namespace sail::frontend {

// The words that begin statements that are not supported yet.
bool IsUnsupportedWord(int type);

// `x =` at the end of a line, `y = 3` on the next: the value is read as `y`, and the second `=` (or `:`) at `index`
// does not fit. Returns the operator that lacks its operand, here the first `=`; 0 if it is not so.
size_t OperatorWithoutOperand(const std::vector<Token>& tokens, size_t index);

enum class Place { kStatement, kConstraint, kString };  // kString: in the `${…}` of one
// Token `index` does not fit; `expected` are the types that would.
Diagnostic UnexpectedToken(const std::vector<Token>& tokens, size_t index, const antlr4::misc::IntervalSet& expected,
                           Place place, const SourceFile& file, SourceId id);

// SAIL0105, at the first token of the second statement.
Diagnostic StatementsOnOneLine(const Token& second, SourceId id);
// True if a statement may not begin at `index`: not at the start of a line, and neither after `{` nor after a comma.
bool SharesLine(const std::vector<Token>& tokens, size_t index);

// SAIL0103.
Diagnostic MissingEdition(const Token& first, SourceId id);

}  // namespace sail::frontend
