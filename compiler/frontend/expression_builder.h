// Expressions of the generated parser's tree to ast::Expr.
#pragma once

#include "SailParser.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/source.h"
#include "compiler/frontend/ast.h"
#include "compiler/frontend/parse.h"
#include "compiler/frontend/token.h"

namespace sail::frontend {

// What all parts of the builder need: where tokens are, and where errors go.
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
  ast::Identifier IdentifierOf(const Token& token) const;  // a name, or a string's contents
  void Report(DiagnosticCode code, SourceRange range, std::string message, std::vector<std::string> helps = {}) const;

  const LexedFile& lexed;
  const std::vector<Token>& tokens;
  const SourceFile& file;
  const SourceId id;
  const ParseLimits& limits;
  DiagnosticSink& sink;
};

ast::Expr BuildExpression(parser::SailParser::ExprContext* tree, const BuildContext& context);

}  // namespace sail::frontend
