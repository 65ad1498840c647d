// textDocument/definition and textDocument/references.
#pragma once

#include "compiler/driver/lsp/checked_document.h"
#include "compiler/driver/lsp/protocol.h"

namespace sail::lsp {

// Where the name at a place is declared: for the path of an import the file, for an override what it replaces. Null
// when there is no name, or the declaration is in the standard library, which has no files.
Json Definition(const CheckedDocument& checked, const Documents& documents, Position position);

// The uses, in every open document, of what is named at a place, by file and place. `with_declaration` adds where it
// is declared.
Json References(const CheckedDocument& checked, const CheckedDocuments& all, const Documents& documents,
                Position position, bool with_declaration);

}  // namespace sail::lsp
