// Text to tree: the only doorway to ANTLR. Nothing outside frontend/ sees an ANTLR type or exception.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/source.h"
#include "compiler/frontend/ast.h"

namespace sail {

// Sources are read up to this size; the smaller limit below then yields a diagnostic with a place.
inline constexpr int64_t kMaxSourceBytes = int64_t{1} << 30;

struct ParseLimits {
  int64_t max_bytes = 8 << 20;     // larger files are SAIL0119, before lexing
  int64_t max_tokens = 1'000'000;  // words; bounds memory
  int max_expression_depth = 256;  // of the tree of one expression, whose chains of operators nest to the left
  int max_nesting = 64;            // brackets, prefix operators, `<` of types; checked on the tokens before parsing
  int max_syntax_errors = 20;      // recovery stops after this many
};

// Returns the tree if no error was reported; otherwise DiagnosedError, the errors being in `sink`.
// Never throws, never crashes, time linear in the text for any input (fuzzed).
absl::StatusOr<ast::Spec> Parse(const SourceManager& sources, SourceId file, const ParseLimits& limits,
                                DiagnosticSink& sink);

// Values for params, from the command line or from a file: `name = value` statements, one per line, with or without an
// edition line. Same errors and limits.
absl::StatusOr<std::vector<ast::Assignment>> ParseAssignments(const SourceManager& sources, SourceId file,
                                                              const ParseLimits& limits, DiagnosticSink& sink);

// One line per node, indented; stable, without ranges. `sailc check --print=ast`.
std::string PrintAst(const ast::Spec& spec);

}  // namespace sail
