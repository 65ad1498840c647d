// Reporting and recovery for the generated parser: one diagnostic per wrong statement, then on with the next one.
#pragma once

#include "antlr4-runtime.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/source.h"
#include "compiler/frontend/parse.h"
#include "compiler/frontend/token.h"

namespace sail::frontend {

// An error inside a statement (or a constraint) unwinds to that rule, which then skips to the next statement of its
// block: a token at the start of a line, or after a comma, that can begin one. Bracketed groups are skipped whole, so
// recovery never leaves the block. The tokens must be balanced (brackets.h).
// Throws antlr4::ParseCancellationException after limits.max_syntax_errors.
class ErrorStrategy : public antlr4::DefaultErrorStrategy {
 public:
  ErrorStrategy(const LexedFile& lexed, const SourceFile& file, SourceId id, const ParseLimits& limits,
                DiagnosticSink& sink);

  void reportError(antlr4::Parser* parser, const antlr4::RecognitionException& e) override;
  void recover(antlr4::Parser* parser, std::exception_ptr e) override;
  antlr4::Token* recoverInline(antlr4::Parser* parser) override;
  void sync(antlr4::Parser* parser) override;

 private:
  void ReportAt(antlr4::Parser* parser, size_t index, const antlr4::misc::IntervalSet& expected);
  bool IsHidden(size_t begin, size_t end) const;
  bool BeginsStatement(size_t index) const;
  // Moves the parser to the next statement after token `from` at the same bracket depth, or to the end of the block.
  void Resynchronize(antlr4::Parser* parser, size_t from);

  const LexedFile& lexed_;
  const SourceFile& file_;
  const SourceId id_;
  const ParseLimits& limits_;
  DiagnosticSink& sink_;
  std::vector<size_t> closer_;  // for every opening bracket, the token that closes it
  int reported_ = 0;
};

}  // namespace sail::frontend
