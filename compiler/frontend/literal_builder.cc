#include "compiler/frontend/literal_builder.h"

#include <chrono>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "compiler/frontend/brackets.h"
#include "compiler/frontend/expression_builder.h"
#include "compiler/frontend/generated_parser.h"
#include "compiler/frontend/lex.h"
#include "compiler/frontend/string_literal.h"

namespace sail::frontend {
namespace {

using parser::SailParser;

// The expression of `part`, which is a `{…}`; nothing if an error was reported.
std::optional<ast::Expr> ParseEmbedded(const TextPart& part, const BuildContext& outer) {
  if (outer.sink.error_count() >= outer.limits.max_syntax_errors) return std::nullopt;
  std::optional<LexedFile> lexed = Lex(outer.file, part, outer.id, outer.limits, outer.sink);
  if (!lexed.has_value()) return std::nullopt;
  if (!lexed->comments.empty()) {
    const Token& comment = lexed->comments[0];
    outer.Report(DiagnosticCode::kSyntax, outer.RangeOf(comment), "a comment cannot stand inside `${…}`");
    return std::nullopt;
  }
  if (lexed->errors.empty() && lexed->tokens.size() == 3) {  // `{`, `}` and the end
    outer.Report(DiagnosticCode::kSyntax, {outer.id, part.begin - 1, part.end}, "`${}` has no value inside");
    return std::nullopt;
  }
  if (!CheckNesting(lexed->tokens, outer.id, outer.limits, outer.sink)) return std::nullopt;
  if (!BalanceBrackets(*lexed, outer.file, outer.id, outer.limits, outer.sink)) return std::nullopt;
  const BuildContext context(*lexed, outer.file, outer.id, outer.limits, outer.sink);
  GeneratedParser parser(*lexed, outer.file, outer.id, outer.limits, outer.sink);
  SailParser::EmbeddedContext* tree = parser.get().embedded();
  if (tree->exception != nullptr) return std::nullopt;
  return BuildExpression(tree->expr(), context);
}

}  // namespace

ast::NumberExpr BuildNumber(SailParser::QuantityContext* tree, const BuildContext& context) {
  const size_t first = tree->start->getTokenIndex();
  const size_t last = tree->stop->getTokenIndex();
  const bool dollar = context.tokens[first].type == SailParser::DOLLAR;
  const size_t digits = dollar ? first + 1 : first;
  ast::NumberExpr number;
  number.digits = std::string(TextOf(context.tokens[digits], context.file));
  number.digits_range = context.RangeOf(context.tokens[digits]);
  if (last > digits) {
    number.unit_range = {context.id, context.tokens[digits + 1].begin, context.tokens[last].end};
    for (size_t i = digits + 1; i <= last; ++i) absl::StrAppend(&number.unit, TextOf(context.tokens[i], context.file));
  } else if (dollar) {
    number.unit_range = context.RangeOf(context.tokens[first]);
  }
  if (dollar) number.unit.insert(0, "USD");
  return number;
}

ast::DateExpr BuildDate(const Token& token, const BuildContext& context) {
  const absl::string_view text = TextOf(token, context.file);  // dddd-dd-dd
  int year = 0;
  int month = 0;
  int day = 0;
  const bool read = absl::SimpleAtoi(text.substr(0, 4), &year) && absl::SimpleAtoi(text.substr(5, 2), &month) &&
                    absl::SimpleAtoi(text.substr(8, 2), &day);
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!read || !date.ok()) {
    context.Report(DiagnosticCode::kSyntax, context.RangeOf(token),
                   absl::StrCat("`", text, "` is not a day of the calendar"), {"dates are written year-month-day"});
  }
  return {std::string(text)};
}

ast::Expr BuildText(const Token& token, const BuildContext& context) {
  const Interpolations found = FindInterpolations(TextOf(token, context.file));
  std::vector<std::string> texts = StringTexts(token, found.ranges, context);
  const SourceRange range = context.RangeOf(token);
  const bool reported = HasErrorIn(context.lexed, token.begin, token.end);
  if (found.ranges.empty() || reported) return {ast::StringExpr{std::move(texts[0])}, range};
  ast::TemplateExpr node{.texts = std::move(texts)};
  int line = token.line;
  for (const Interpolations::Range& part : found.ranges) {
    const int begin = token.begin + part.begin;
    while (line < token.end_line && context.file.LineStart(line + 1) <= begin) ++line;
    std::optional<ast::Expr> value = ParseEmbedded({begin, token.begin + part.end, line}, context);
    node.values.push_back(value.has_value() ? *std::move(value) : ast::Expr{ast::NoneExpr{}, range});
  }
  return {std::move(node), range};
}

}  // namespace sail::frontend
