// textDocument/documentSymbol: the blocks of a document.
#pragma once

#include "compiler/driver/lsp/checked_document.h"

namespace sail::lsp {

// The tree of imports, params, lets and blocks as they are written, those of loops once. Null when the document cannot
// be parsed.
Json Outline(const CheckedDocument& checked);

}  // namespace sail::lsp
