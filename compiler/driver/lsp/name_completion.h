// The names that may stand where a value or the base of a block is being written.
#pragma once

#include <string>
#include <vector>

#include "compiler/driver/lsp/checked_document.h"
#include "compiler/driver/lsp/context.h"

namespace sail::lsp {

struct NameProposal {
  std::string name;    // "card", or "hw.card" of an import
  std::string detail;  // "gpu", "let: `3 nodes`"
  std::string doc;
};

// For a value of the attribute `wanted` (null: any value), or for a base. Names around the cursor come from the text,
// innermost first, so that they are known while it cannot be parsed; those of the whole file and of its imports from
// `parsed`, a version of the document that may be older, or null. Names whose value does not fit are left out.
std::vector<NameProposal> ProposeNames(const CursorContext& context, const AttributeSchema* wanted,
                                       const CheckedDocument* parsed);

}  // namespace sail::lsp
