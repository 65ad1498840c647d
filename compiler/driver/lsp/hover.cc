#include "compiler/driver/lsp/hover.h"

#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/driver/lsp/context.h"
#include "compiler/driver/lsp/describe.h"
#include "compiler/driver/lsp/names.h"
#include "compiler/driver/lsp/tokens.h"
#include "compiler/ir/names.h"
#include "compiler/passes/metrics.h"
#include "compiler/passes/schema_text.h"
#include "compiler/passes/unit_readings.h"

namespace sail::lsp {
namespace {

using frontend::LexedFile;
using frontend::Token;
using frontend::TokenKind;

struct Explained {
  std::string markdown;
  int begin = 0;
  int end = 0;
};

bool IsUnitPart(const Token& token, const SourceFile& file) {
  return token.kind == TokenKind::kUnit || token.kind == TokenKind::kPer || frontend::TextOf(token, file) == "%";
}

// The literal that `token` is part of: a number and its unit.
std::optional<Explained> ExplainQuantity(const Token& token, const LexedFile& lexed, const SourceFile& file) {
  const std::vector<Token>& tokens = lexed.tokens;
  size_t number = &token - tokens.data();
  while (number > 0 && IsUnitPart(tokens[number], file)) --number;
  if (tokens[number].kind != TokenKind::kNumber) return std::nullopt;
  size_t end = number + 1;
  while (end < tokens.size() && IsUnitPart(tokens[end], file)) ++end;
  if (end == number + 1) return std::nullopt;
  const absl::string_view digits = frontend::TextOf(tokens[number], file);
  const int unit_begin = tokens[number + 1].begin, unit_end = tokens[end - 1].end;
  const std::string unit(file.text().substr(unit_begin, unit_end - unit_begin));
  const auto parsed = ParseUnit(unit, digits);
  if (!std::holds_alternative<Unit>(parsed)) return std::nullopt;

  const std::string literal = absl::StrCat(digits, unit == "%" ? "" : " ", unit);
  const auto reading = OtherReading(digits, unit);
  Explained explained{.begin = tokens[number].begin, .end = unit_end};
  explained.markdown = reading ? absl::StrCat("`", literal, "` = ", *reading) : absl::StrCat("`", literal, "`");
  absl::StrAppend(&explained.markdown, "\n\n", Describe(std::get<Unit>(parsed).dimension));
  return explained;
}

std::string KindText(const KindSchema& kind) { return absl::StrCat("**", kind.name, "** block\n\n", kind.doc); }

std::string MetricText(absl::string_view word) {
  const auto metric = ir::ValueOf(ir::kMetrics, word);
  if (!metric) return "";
  const absl::string_view unit = MetricUnit(*metric);
  return absl::StrCat("**", word, "**: in ", unit.empty() ? "%" : unit, "\n\n", MetricDoc(*metric));
}

// A word at the start of a statement: an attribute, a block, or a part of a dotted name.
std::string StatementText(const CursorContext& context, const std::string& word) {
  std::vector<std::string> path = context.path;
  path.push_back(word);
  if (const AttributeSchema* attribute = ResolveAttribute(context.kind(), path)) return SchemaText(*attribute);
  if (const KindSchema* kind = ResolveKind(context.kind(), path)) return KindText(*kind);
  return "";
}

std::string WordText(const CursorContext& context, const std::string& word) {
  switch (context.expect) {
    case Expect::kStatement:
      return StatementText(context, word);
    case Expect::kValue: {
      const AttributeSchema* attribute = ResolveAttribute(context.kind(), context.path);
      return attribute != nullptr && !EnumWords(*attribute).empty() ? SchemaText(*attribute) : "";
    }
    case Expect::kMetric:
      return MetricText(word);
    case Expect::kNothing:
    case Expect::kBase:
    case Expect::kUnit:
    case Expect::kImportPath:
      return "";
  }
  SAIL_CHECK(false) << "context " << static_cast<int>(context.expect);
}

// What the words around the cursor tell, also in a text that the compiler cannot read.
std::optional<Explained> ExplainWord(const Token& token, const SourceFile& file) {
  if (token.kind != TokenKind::kName && token.kind != TokenKind::kReserved) return std::nullopt;
  const std::string word(frontend::TextOf(token, file));
  std::string text = WordText(ContextAt(file.text(), token.end), word);
  if (text.empty()) return std::nullopt;
  return Explained{std::move(text), token.begin, token.end};
}

// A name, or an import by its path.
std::optional<Explained> ExplainName(const CheckedDocument& checked, int offset) {
  std::optional<Use> name = NameAt(checked, offset);
  if (const ast::Import* import = ImportAt(checked, offset); import != nullptr && !name) {
    name = Use{.range = import->path_range, .declaration = import->alias.range};
  }
  if (!name) return std::nullopt;
  std::string text = DescribeName(checked, name->declaration);
  if (text.empty()) return std::nullopt;
  return Explained{std::move(text), name->range.begin, name->range.end};
}

// The last word of an attribute's name, or its value. A number that is a part of the value speaks for itself.
std::optional<Explained> ExplainAttribute(const CheckedDocument& checked, const Token& token,
                                          const std::optional<Explained>& quantity) {
  const std::vector<const CheckedAttribute*> attributes = AttributesAt(checked, token.begin);
  if (attributes.empty()) return std::nullopt;
  const SourceRange& name = attributes.front()->name_range;
  const SourceRange& value = attributes.front()->expr->range;
  const bool on_name = token.begin < name.end;
  if (on_name && token.end != name.end) return std::nullopt;
  const bool on_part = quantity && (quantity->begin != value.begin || quantity->end != value.end);
  if (!on_name && on_part) return std::nullopt;
  const SourceRange& shown = on_name ? name : value;
  return Explained{DescribeAttribute(checked, attributes), shown.begin, shown.end};
}

std::optional<Explained> Explain(const CheckedDocument& checked, const SourceFile& file, int offset) {
  if (auto name = ExplainName(checked, offset)) return name;
  const LexedFile lexed = Tokenize(file);
  const Token* token = TokenAt(lexed, offset);
  if (token == nullptr) return std::nullopt;
  auto quantity = ExplainQuantity(*token, lexed, file);
  if (auto attribute = ExplainAttribute(checked, *token, quantity)) return attribute;
  return quantity ? quantity : ExplainWord(*token, file);
}

}  // namespace

Json Hover(const Document& document, const CheckedDocument& checked, Position position) {
  const SourceFile file(document.path, document.text);
  const auto explained = Explain(checked, file, OffsetAt(file, position));
  if (!explained) return nullptr;
  return {{"contents", {{"kind", "markdown"}, {"value", explained->markdown}}},
          {"range", RangeJson(file, explained->begin, explained->end)}};
}

}  // namespace sail::lsp
