// The only doorway to ANTLR: whatever it throws ends here.
#include "compiler/frontend/parse.h"

#include <memory>
#include <utility>

#include "SailParser.h"
#include "absl/strings/str_cat.h"
#include "antlr4-runtime.h"
#include "compiler/base/check.h"
#include "compiler/frontend/ast_builder.h"
#include "compiler/frontend/brackets.h"
#include "compiler/frontend/error_strategy.h"
#include "compiler/frontend/lex.h"
#include "compiler/frontend/parse_tokens.h"
#include "compiler/frontend/syntax_errors.h"
#include "compiler/frontend/text_checks.h"

namespace sail {
namespace frontend {
namespace {

using parser::SailParser;

constexpr absl::string_view kEdition = "1";

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

// False after SAIL0104: another edition may have another grammar. A missing edition is reported by the builder.
bool CheckEdition(const LexedFile& lexed, const SourceFile& file, SourceId id, DiagnosticSink& sink) {
  if (lexed.tokens[0].type != SailParser::SAIL) return true;
  const Token& number = lexed.tokens[1];
  if (number.kind != TokenKind::kNumber || TextOf(number, file) == kEdition) return true;
  sink.Report({.code = DiagnosticCode::kUnknownEdition,
               .message = absl::StrCat("edition ", TextOf(number, file), " is not known to this sailc (it knows ",
                                       kEdition, ")"),
               .primary = {.range = {id, number.begin, number.end}}});
  return false;
}

ast::Spec ParseTokens(const LexedFile& lexed, const SourceFile& file, SourceId id, const ParseLimits& limits,
                      DiagnosticSink& sink) {
  TokenFeed feed(lexed.tokens);
  antlr4::CommonTokenStream stream(&feed);
  SailParser parser(&stream);
  parser.removeErrorListeners();
  parser.setErrorHandler(std::make_shared<ErrorStrategy>(lexed, file, id, limits, sink));
  try {
    return BuildAst(parser.file(), lexed, file, id, limits, sink);
  } catch (const antlr4::ParseCancellationException&) {
    return {};  // too many errors, which are in the sink
  } catch (const antlr4::RecognitionException&) {
    return {};  // reported by the strategy
  }
}

}  // namespace

absl::StatusOr<ParsedFile> ParseKeepingTokens(const SourceManager& sources, SourceId id, const ParseLimits& limits,
                                              DiagnosticSink& sink) {
  const SourceFile& file = sources.Get(id);
  DiagnosticSink errors;  // of this file alone; `sink` may hold others already
  const auto parse = [&]() -> std::optional<ParsedFile> {
    if (!CheckText(file, id, limits, errors)) return std::nullopt;
    std::optional<LexedFile> lexed = Lex(file, id, limits, errors);
    if (!lexed.has_value()) return std::nullopt;
    if (!CheckEdition(*lexed, file, id, errors)) return std::nullopt;
    if (!CheckNesting(lexed->tokens, id, limits, errors)) return std::nullopt;
    if (!BalanceBrackets(*lexed, file, id, limits, errors)) return std::nullopt;
    ast::Spec spec = ParseTokens(*lexed, file, id, limits, errors);
    return ParsedFile{std::move(spec), *std::move(lexed)};
  };
  std::optional<ParsedFile> parsed;
  try {
    parsed = parse();
  } catch (const std::exception& e) {
    SAIL_CHECK(false) << "the generated parser failed: " << e.what();
  }
  for (const Diagnostic& diagnostic : errors.diagnostics()) sink.Report(diagnostic);
  if (errors.has_errors()) return DiagnosedError();
  SAIL_CHECK(parsed.has_value()) << "parsing failed without a diagnostic";
  return *std::move(parsed);
}

}  // namespace frontend

absl::StatusOr<ast::Spec> Parse(const SourceManager& sources, SourceId file, const ParseLimits& limits,
                                DiagnosticSink& sink) {
  absl::StatusOr<frontend::ParsedFile> parsed = frontend::ParseKeepingTokens(sources, file, limits, sink);
  if (!parsed.ok()) return parsed.status();
  return std::move(parsed->spec);
}

}  // namespace sail
