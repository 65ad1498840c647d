// The generated parser on our tokens, with our error strategy.
#pragma once

#include <memory>

#include "SailParser.h"
#include "antlr4-runtime.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/source.h"
#include "compiler/frontend/parse.h"
#include "compiler/frontend/token.h"

namespace sail::frontend {

// The tokens must be balanced (brackets.h) and outlive the parser, which owns the trees it returns. A rule throws
// antlr4::ParseCancellationException after limits.max_syntax_errors.
class GeneratedParser {
 public:
  GeneratedParser(const LexedFile& lexed, const SourceFile& file, SourceId id, const ParseLimits& limits,
                  DiagnosticSink& sink);
  parser::SailParser& get() { return parser_; }

 private:
  std::unique_ptr<antlr4::TokenSource> feed_;
  antlr4::CommonTokenStream stream_;
  parser::SailParser parser_;
};

}  // namespace sail::frontend
