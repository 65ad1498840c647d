// Where statements begin, for the formatter.
#pragma once

#include <vector>

#include "compiler/frontend/ast.h"

namespace sail::frontend {

// Byte offsets of the first tokens of all items, statements and constraints, ascending.
std::vector<int> StatementStarts(const ast::Spec& spec);

}  // namespace sail::frontend
