// What all parts of the tree builder need: where tokens are, and where errors go.
#pragma once

#include <string>
#include <vector>

#include "antlr4-runtime.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/source.h"
#include "compiler/frontend/ast.h"
#include "compiler/frontend/parse.h"
#include "compiler/frontend/token.h"

namespace sail::frontend {

class BuildContext {
 public:
  BuildContext(const LexedFile& lexed, const SourceFile& file, SourceId id, const ParseLimits& limits,
               DiagnosticSink& sink)
      : lexed(lexed), tokens(lexed.tokens), file(file), id(id), limits(limits), sink(sink) {}

  const Token& TokenOf(const antlr4::Token* token) const { return tokens[token->getTokenIndex()]; }
  SourceRange RangeOf(const Token& token) const { return {id, token.begin, token.end}; }
  SourceRange RangeOf(const antlr4::ParserRuleContext* context) const {
    return {id, TokenOf(context->start).begin, TokenOf(context->stop).end};
  }
  // A name, or a string's contents, which must be fixed text (SAIL0108).
  ast::Identifier IdentifierOf(const Token& token) const;
  // Nothing once the file has limits.max_syntax_errors errors.
  void Report(Diagnostic diagnostic) const;
  void Report(DiagnosticCode code, SourceRange range, std::string message, std::vector<std::string> helps = {}) const;
  // Reports SAIL0105 if a statement, constraint or field begins on the line of the one before, without a comma.
  void CheckSeparated(const antlr4::ParserRuleContext* statement) const;

  const LexedFile& lexed;
  const std::vector<Token>& tokens;
  const SourceFile& file;
  const SourceId id;
  const ParseLimits& limits;
  DiagnosticSink& sink;
};

}  // namespace sail::frontend
