#include "compiler/frontend/generated_parser.h"

#include <algorithm>
#include <string>
#include <vector>

#include "compiler/frontend/error_strategy.h"

namespace sail::frontend {
namespace {

// Feeds our tokens to the generated parser; a token's index there is its index here.
class TokenFeed : public antlr4::TokenSource {
 public:
  explicit TokenFeed(const std::vector<Token>& tokens) : tokens_(tokens) {}

  std::unique_ptr<antlr4::Token> nextToken() override {
    const Token& token = tokens_[std::min(next_++, tokens_.size() - 1)];
    return std::make_unique<antlr4::CommonToken>(static_cast<size_t>(token.type));
  }
  size_t getLine() const override { return 0; }
  size_t getCharPositionInLine() override { return 0; }
  antlr4::CharStream* getInputStream() override { return nullptr; }
  std::string getSourceName() override { return "sail"; }
  antlr4::TokenFactory<antlr4::CommonToken>* getTokenFactory() override { return nullptr; }

 private:
  const std::vector<Token>& tokens_;
  size_t next_ = 0;
};

}  // namespace

GeneratedParser::GeneratedParser(const LexedFile& lexed, const SourceFile& file, SourceId id, const ParseLimits& limits,
                                 DiagnosticSink& sink)
    : feed_(std::make_unique<TokenFeed>(lexed.tokens)), stream_(feed_.get()), parser_(&stream_) {
  parser_.removeErrorListeners();
  parser_.setErrorHandler(std::make_shared<ErrorStrategy>(lexed, file, id, limits, sink));
}

}  // namespace sail::frontend
