// textDocument/hover: what the word under the cursor means.
#pragma once

#include "compiler/base/json.h"
#include "compiler/driver/lsp/checked_document.h"
#include "compiler/driver/lsp/protocol.h"

namespace sail::lsp {

// A name (kind, type, value, comment, place), an attribute (value, where it comes from, type, default, meaning), a
// quantity in both readings, a block kind or a metric; else null. In a text that cannot be parsed there are no names
// and values.
Json Hover(const Document& document, const CheckedDocument& checked, Position position);

}  // namespace sail::lsp
