// Text to tokens, with the generated lexer.
#pragma once

#include <optional>

#include "compiler/base/diagnostic.h"
#include "compiler/base/source.h"
#include "compiler/frontend/parse.h"
#include "compiler/frontend/token.h"

namespace sail::frontend {

// Part of a file, [begin, end), and the line it begins on.
struct TextPart {
  int begin = 0;
  int end = 0;
  int line = 1;
};

// The text must be valid UTF-8. Reports SAIL0101, SAIL0102 and SAIL0108 (malformed numbers, `${` that is not closed),
// at most limits.max_syntax_errors, and SAIL0119 for too many tokens, in which case there is no result. Illegal
// characters are left out of the tokens.
std::optional<LexedFile> Lex(const SourceFile& file, const TextPart& part, SourceId id, const ParseLimits& limits,
                             DiagnosticSink& sink);

// A closing bracket for `open`, with no text, before the token `at`.
Token MadeUpCloser(char open, const Token& at);

}  // namespace sail::frontend
