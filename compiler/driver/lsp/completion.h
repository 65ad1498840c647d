// textDocument/completion: what the schema allows at the cursor, and the names that fit.
#pragma once

#include "compiler/base/json.h"
#include "compiler/driver/lsp/checked_document.h"
#include "compiler/driver/lsp/protocol.h"

namespace sail::lsp {

// The list of items. `parsed` is a version of the document, perhaps an older one, or null: names come from it. `typed`
// is the character that made the editor ask, or empty: a blank asks for units and values only.
Json Completion(const Document& document, const CheckedDocument* parsed, Position position, absl::string_view typed);

}  // namespace sail::lsp
