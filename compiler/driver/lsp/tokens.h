// The words of a text that may be half-written: no parser, no diagnostics.
#pragma once

#include "absl/strings/string_view.h"
#include "compiler/base/source.h"
#include "compiler/frontend/token.h"

namespace sail::lsp {

// The last token is kEnd. Texts that the compiler refuses to split into words (size, UTF-8) have no other.
frontend::LexedFile Tokenize(const SourceFile& file);

// The token that holds `offset` or ends there (then the one that begins there is preferred); null between words.
const frontend::Token* TokenAt(const frontend::LexedFile& lexed, int offset);

}  // namespace sail::lsp
