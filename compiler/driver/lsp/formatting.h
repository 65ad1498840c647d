// textDocument/formatting: the layout of `sailc fmt`.
#pragma once

#include "compiler/base/json.h"
#include "compiler/driver/lsp/documents.h"

namespace sail::lsp {

// The edits; none when the layout is canonical. Null for a text with syntax errors, which is not touched.
Json Formatting(const Document& document);

}  // namespace sail::lsp
