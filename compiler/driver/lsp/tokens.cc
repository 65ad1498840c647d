#include "compiler/driver/lsp/tokens.h"

#include "compiler/frontend/lex.h"
#include "compiler/frontend/text_checks.h"

namespace sail::lsp {

using frontend::LexedFile;
using frontend::Token;

LexedFile Tokenize(const SourceFile& file) {
  DiagnosticSink ignored;
  const ParseLimits limits;
  const SourceId id(0);
  const frontend::TextPart whole{.begin = 0, .end = static_cast<int>(file.text().size())};
  if (frontend::CheckText(file, id, limits, ignored)) {
    if (std::optional<LexedFile> lexed = frontend::Lex(file, whole, id, limits, ignored)) return *std::move(lexed);
  }
  return {.tokens = {Token{}}};
}

const Token* TokenAt(const LexedFile& lexed, int offset) {
  const Token* found = nullptr;
  for (const Token& token : lexed.tokens) {
    if (token.begin > offset) break;
    if (offset <= token.end && token.begin < token.end) found = &token;
  }
  return found;
}

}  // namespace sail::lsp
