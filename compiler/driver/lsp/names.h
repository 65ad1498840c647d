// What the names and attributes of a checked document stand for. All searches are linear in what was checked.
#pragma once

#include <optional>
#include <vector>

#include "compiler/driver/lsp/checked_document.h"

namespace sail::lsp {

// The name at `offset` and where it was declared; at the declaration itself both are the same. Names that evaluation
// never reached (in the branch of an `if` that was not taken) are not known.
std::optional<Use> NameAt(const CheckedDocument& checked, int offset);

// What was declared at a place. The body of a loop declares there once in each round, and an inherited attribute is
// where the base has it.
struct Declared {
  std::vector<const Binding*> bindings;
  std::vector<const CheckedBlock*> blocks;
  std::vector<const CheckedAttribute*> attributes;
};
Declared DeclaredAt(const Analysis& analysis, const SourceRange& declaration);

// The attribute whose name or value covers `offset`, once for each round of the loops around it. Where it is written,
// not where it is inherited.
std::vector<const CheckedAttribute*> AttributesAt(const CheckedDocument& checked, int offset);

// The import whose statement covers `offset`; null if there is none.
const ast::Import* ImportAt(const CheckedDocument& checked, int offset);
// The file that an import of the document brings; null if it was not found.
const Module* ImportedModule(const Analysis& analysis, const ast::Import& import);

// A block as it stands in a file, not the copy that another one inherits.
bool IsWritten(const CheckedBlock& block);

}  // namespace sail::lsp
