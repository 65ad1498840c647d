#include "compiler/frontend/build_context.h"

#include <utility>

#include "compiler/frontend/string_literal.h"
#include "compiler/frontend/syntax_errors.h"

namespace sail::frontend {

ast::Identifier BuildContext::IdentifierOf(const Token& token) const {
  if (token.kind != TokenKind::kString) return {std::string(TextOf(token, file)), RangeOf(token)};
  const Interpolations found = FindInterpolations(TextOf(token, file));
  if (!found.ranges.empty() && !HasErrorIn(lexed, token.begin, token.end)) {
    const Interpolations::Range& first = found.ranges[0];
    Report(DiagnosticCode::kSyntax, {id, token.begin + first.begin - 1, token.begin + first.end},
           "`${…}` cannot stand in a name", {"it can stand in values and in the labels of blocks"});
  }
  return {StringTexts(token, {}, *this)[0], RangeOf(token)};
}

void BuildContext::Report(Diagnostic diagnostic) const {
  if (sink.error_count() < limits.max_syntax_errors) sink.Report(std::move(diagnostic));
}

void BuildContext::Report(DiagnosticCode code, SourceRange range, std::string message,
                          std::vector<std::string> helps) const {
  Report({.code = code, .message = std::move(message), .primary = {.range = range}, .helps = std::move(helps)});
}

void BuildContext::CheckSeparated(const antlr4::ParserRuleContext* statement) const {
  const size_t first = statement->start->getTokenIndex();
  if (!SharesLine(tokens, first)) return;
  // An illegal character before it may have been meant as the separator.
  if (HasErrorIn(lexed, tokens[first - 1].begin, tokens[first].begin)) return;
  Report(StatementsOnOneLine(tokens[first], id));
}

}  // namespace sail::frontend
