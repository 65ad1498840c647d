// What the formatter needs to know about the tree.
#pragma once

#include <vector>

#include "compiler/base/source.h"
#include "compiler/frontend/ast.h"

namespace sail::frontend {

struct Layout {
  std::vector<int> starts;         // byte offsets of the first tokens of all items, statements, constraints and fields
  std::vector<int> records;        // of the `{` of records
  std::vector<SourceRange> types;  // of lets and params
};

// Everything ascending.
Layout LayoutOf(const ast::Spec& spec);

}  // namespace sail::frontend
