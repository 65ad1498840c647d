// Parsing that keeps the tokens, for the formatter.
#pragma once

#include "absl/status/statusor.h"
#include "compiler/frontend/ast.h"
#include "compiler/frontend/parse.h"
#include "compiler/frontend/token.h"

namespace sail::frontend {

struct ParsedFile {
  ast::Spec spec;
  LexedFile lexed;
};

// As Parse().
absl::StatusOr<ParsedFile> ParseKeepingTokens(const SourceManager& sources, SourceId file, const ParseLimits& limits,
                                              DiagnosticSink& sink);

}  // namespace sail::frontend
