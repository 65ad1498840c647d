// The only doorway to ANTLR: whatever it throws ends here.
#include "compiler/frontend/parse.h"

#include <optional>
#include <utility>

#include "SailParser.h"
#include "absl/strings/str_cat.h"
#include "antlr4-runtime.h"
#include "compiler/base/check.h"
#include "compiler/base/status_macros.h"
#include "compiler/frontend/ast_builder.h"
#include "compiler/frontend/brackets.h"
#include "compiler/frontend/generated_parser.h"
#include "compiler/frontend/lex.h"
#include "compiler/frontend/parse_tokens.h"
#include "compiler/frontend/text_checks.h"

namespace sail {
namespace frontend {
namespace {

using parser::SailParser;

constexpr absl::string_view kEdition = "1";

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

template <class Result>
struct ReadFile {
  Result result;
  LexedFile lexed;
};

// What `build` makes of the generated parser's tree. Results in DiagnosedError if there was an error in the file.
template <class Result>
absl::StatusOr<ReadFile<Result>> Read(const SourceManager& sources, SourceId id, const ParseLimits& limits,
                                      Result (*build)(SailParser::FileContext*, const BuildContext&),
                                      DiagnosticSink& sink) {
  const SourceFile& file = sources.Get(id);
  DiagnosticSink errors;  // of this file alone; `sink` may hold others already
  const auto read = [&]() -> std::optional<ReadFile<Result>> {
    if (!CheckText(file, id, limits, errors)) return std::nullopt;
    std::optional<LexedFile> lexed = Lex(file, {0, static_cast<int>(file.text().size()), 1}, id, limits, errors);
    if (!lexed.has_value()) return std::nullopt;
    if (!CheckEdition(*lexed, file, id, errors)) return std::nullopt;
    if (!CheckNesting(lexed->tokens, id, limits, errors)) return std::nullopt;
    if (!BalanceBrackets(*lexed, file, id, limits, errors)) return std::nullopt;
    GeneratedParser parser(*lexed, file, id, limits, errors);
    Result result = build(parser.get().file(), BuildContext(*lexed, file, id, limits, errors));
    return ReadFile<Result>{std::move(result), *std::move(lexed)};
  };
  std::optional<ReadFile<Result>> found;
  try {
    found = read();
  } catch (const antlr4::ParseCancellationException&) {
    // too many errors, which are in the sink
  } catch (const antlr4::RecognitionException&) {
    // reported by the strategy
  } catch (const std::exception& e) {
    SAIL_CHECK(false) << "the generated parser failed: " << e.what();
  }
  for (const Diagnostic& diagnostic : errors.diagnostics()) sink.Report(diagnostic);
  if (errors.has_errors()) return DiagnosedError();
  SAIL_CHECK(found.has_value()) << "parsing failed without a diagnostic";
  return *std::move(found);
}

}  // namespace

absl::StatusOr<ParsedFile> ParseKeepingTokens(const SourceManager& sources, SourceId id, const ParseLimits& limits,
                                              DiagnosticSink& sink) {
  SAIL_ASSIGN_OR_RETURN(ReadFile<ast::Spec> read, Read(sources, id, limits, BuildAst, sink));
  return ParsedFile{std::move(read.result), std::move(read.lexed)};
}

}  // namespace frontend

absl::StatusOr<ast::Spec> Parse(const SourceManager& sources, SourceId file, const ParseLimits& limits,
                                DiagnosticSink& sink) {
  SAIL_ASSIGN_OR_RETURN(frontend::ParsedFile parsed, frontend::ParseKeepingTokens(sources, file, limits, sink));
  return std::move(parsed.spec);
}

absl::StatusOr<std::vector<ast::Assignment>> ParseAssignments(const SourceManager& sources, SourceId file,
                                                              const ParseLimits& limits, DiagnosticSink& sink) {
  SAIL_ASSIGN_OR_RETURN(frontend::ReadFile<std::vector<ast::Assignment>> read,
                        frontend::Read(sources, file, limits, frontend::BuildAssignments, sink));
  return std::move(read.result);
}

}  // namespace sail
