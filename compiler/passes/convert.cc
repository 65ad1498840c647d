// Values to what the schema says: dimension, wholeness, bounds.
#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "compiler/base/check.h"
#include "compiler/passes/checked_block.h"
#include "compiler/passes/convert.h"

namespace sail {
namespace {

constexpr int64_t kLongestRange = 10'002;  // the deepest pipeline of the largest model

class Converter {
 public:
  Converter(const AttributeSchema& schema, DiagnosticSink& sink) : schema_(schema), sink_(sink) {}

  std::optional<Value> Convert(Value value) {
    switch (schema_.type) {
      case ValueType::kQuantity:
      case ValueType::kInteger:
      case ValueType::kNumber:
      case ValueType::kShare:
      case ValueType::kPrice:
      case ValueType::kQuota:
        return ConvertQuantity(std::move(value));
      case ValueType::kBoolean:
        return std::holds_alternative<bool>(value.content) ? std::optional(value) : Mismatch(value, "a truth value");
      case ValueType::kText:
        return std::holds_alternative<TextValue>(value.content) ? std::optional(value) : Mismatch(value, "a text");
      case ValueType::kTextList:
        return ConvertTexts(std::move(value));
      case ValueType::kIntegerList:
        return ConvertIntegers(std::move(value));
      case ValueType::kReference:
        return ConvertReference(std::move(value));
      case ValueType::kDate:
        return value.As<DateValue>() != nullptr ? std::optional(value) : Mismatch(value, "a date");
      case ValueType::kTextOrSecret: {
        const bool fits = value.As<TextValue>() != nullptr || value.As<SecretValue>() != nullptr;
        return fits ? std::optional(value) : Mismatch(value, "a text or a secret");
      }
      case ValueType::kEnum:
        return ConvertWord(value);
      case ValueType::kEnumList:
        return ConvertWords(std::move(value));
    }
    SAIL_CHECK(false) << "attribute " << schema_.name;
  }

 private:
  std::nullopt_t Fail(DiagnosticCode code, SourceRange range, std::string message, std::string label = "",
                      std::vector<std::string> helps = {}) {
    sink_.Report(code, range, std::move(message), std::move(helps), {}, std::move(label));
    return std::nullopt;
  }

  std::optional<Value> Mismatch(const Value& value, absl::string_view expected) {
    std::vector<std::string> helps;
    if (schema_.type == ValueType::kTextList) helps.push_back("write one text, or several in `[ ]`");
    Fail(DiagnosticCode::kTypeMismatch, value.range,
         absl::StrCat("`", schema_.name, "` expects ", expected, ", found ", DescribeValue(value)), "",
         std::move(helps));
    return std::nullopt;
  }

  std::string Expected() const {
    if (schema_.type == ValueType::kPrice) return "a price per time";
    if (schema_.type == ValueType::kQuota) return "a number of nodes or GPUs";
    if (schema_.type == ValueType::kInteger || schema_.type == ValueType::kIntegerList) return "a whole number";
    if (schema_.type == ValueType::kShare) return "a share";
    return Describe(KnownUnit(schema_.unit).dimension);
  }

  std::nullopt_t BareNumber(const Amount& amount, SourceRange range) {
    std::vector<std::string> helps = {absl::StrCat("write `", Format(amount), " ", schema_.unit, "`")};
    if (schema_.type == ValueType::kQuota) helps.push_back(absl::StrCat("write `", Format(amount), " GPUs`"));
    return Fail(DiagnosticCode::kBareNumber, range, absl::StrCat("`", schema_.name, "` needs a unit"), "a plain number",
                std::move(helps));
  }

  std::optional<Value> ConvertQuantity(Value value) {
    const auto* quantity = std::get_if<Amount>(&value.content);
    if (quantity == nullptr) return Mismatch(value, Expected());
    if (!DimensionFits(schema_, quantity->dimension)) {
      if (quantity->dimension.is_number()) return BareNumber(*quantity, value.range);
      return Fail(DiagnosticCode::kAttributeDimension, value.range,
                  absl::StrCat("`", schema_.name, "` expects ", Expected(), ", found ", Describe(quantity->dimension)),
                  absl::StrCat("this is in ", quantity->unit));
    }
    if (!InBounds(*quantity, value.range)) return std::nullopt;
    return value;
  }

  bool InBounds(const Amount& amount, SourceRange range) {
    const bool whole =
        schema_.type == ValueType::kInteger || schema_.type == ValueType::kIntegerList || amount.dimension.is_count();
    if (whole && !amount.value.is_integer()) {
      Fail(DiagnosticCode::kFractionalCount, range, absl::StrCat(Format(amount), " is not a whole number"));
      return false;
    }
    if (amount.dimension.is_data() && !amount.value.is_integer()) {
      Fail(DiagnosticCode::kFractionalBytes, range, absl::StrCat(Format(amount), " is not a whole number of bytes"),
           absl::StrCat(amount.value.ToString(), " B"));
      return false;
    }
    if (schema_.bound != Bound::kAny && amount.value.is_negative()) {
      Fail(DiagnosticCode::kNegative, range, absl::StrCat("`", schema_.name, "` cannot be negative"));
      return false;
    }
    if (schema_.bound == Bound::kPositive && amount.value.is_zero()) {
      Fail(DiagnosticCode::kNegative, range, absl::StrCat("`", schema_.name, "` must be above zero"));
      return false;
    }
    if (schema_.type == ValueType::kShare && (amount.value.is_negative() || Rational(1) < amount.value)) {
      const auto percent = amount.value.Multiply(Rational(100));
      Fail(DiagnosticCode::kPercentRange, range,
           absl::StrCat("`", schema_.name, "` must lie between 0% and 100%, found ",
                        percent ? percent->ToString() : amount.value.ToString(), percent ? "%" : ""));
      return false;
    }
    return InRange(amount, whole || amount.dimension.is_data(), range);
  }

  bool InRange(const Amount& amount, bool whole, SourceRange range) {
    if (whole && !amount.value.ToInt64()) {
      Fail(DiagnosticCode::kOverflow, range, absl::StrCat("`", schema_.name, "` exceeds 2^63"));
      return false;
    }
    if (schema_.largest > 0 && Rational(schema_.largest) < amount.value) {
      Fail(DiagnosticCode::kOverflow, range, absl::StrCat("`", schema_.name, "` exceeds ", Largest(amount, whole)));
      return false;
    }
    return true;
  }

  std::string Largest(const Amount& amount, bool whole) const {
    const Rational largest(schema_.largest);
    if (amount.dimension.is_data()) return FormatIn(largest, "TiB");
    return whole || amount.dimension.is_number() ? largest.ToString() : FormatIn(largest, schema_.unit);
  }

  std::optional<Value> ConvertTexts(Value value) {
    ListValue texts;
    if (std::holds_alternative<TextValue>(value.content)) {
      texts.elements = {value};
    } else if (auto* list = std::get_if<ListValue>(&value.content)) {
      for (const Value& element : list->elements) {
        if (!std::holds_alternative<TextValue>(element.content)) return Mismatch(element, "texts");
      }
      texts.elements = std::move(list->elements);
    } else {
      return Mismatch(value, "a text or a list of texts");
    }
    if (texts.elements.empty()) return EmptyList(value.range);
    return Value{.content = std::move(texts), .range = value.range};
  }

  std::nullopt_t EmptyList(SourceRange range) {
    return Fail(DiagnosticCode::kTypeMismatch, range, absl::StrCat("`", schema_.name, "` needs at least one value"));
  }

  // One number, a list or a range become an ascending list without repetitions.
  std::optional<Value> ConvertIntegers(Value value) {
    ListValue numbers;
    if (std::holds_alternative<Amount>(value.content)) {
      numbers.elements = {value};
    } else if (auto* list = std::get_if<ListValue>(&value.content)) {
      numbers.elements = std::move(list->elements);
    } else if (const auto* range = std::get_if<RangeValue>(&value.content)) {
      const auto first = range->first.ToInt64();
      const auto difference = range->last.Subtract(range->first);
      const int64_t gap = difference ? difference->ToInt64().value_or(kLongestRange) : kLongestRange;
      if (!first || gap >= kLongestRange) {
        return Fail(DiagnosticCode::kTooLarge, value.range, "this range has too many values");
      }
      for (int64_t i = 0; i <= gap; ++i) {
        numbers.elements.push_back(
            {.content = MakeAmount(*Rational(*first).Add(Rational(i)), Dimension{}), .range = value.range});
      }
    } else {
      return Mismatch(value, "whole numbers");
    }
    if (numbers.elements.empty()) return EmptyList(value.range);
    for (const Value& element : numbers.elements) {
      const auto* quantity = std::get_if<Amount>(&element.content);
      if (quantity == nullptr || !quantity->dimension.is_number()) return Mismatch(element, "whole numbers");
      if (!InBounds(*quantity, element.range)) return std::nullopt;
    }
    const auto number = [](const Value& element) { return std::get<Amount>(element.content).value; };
    std::stable_sort(numbers.elements.begin(), numbers.elements.end(),
                     [&](const Value& a, const Value& b) { return number(a) < number(b); });
    const auto last = std::unique(numbers.elements.begin(), numbers.elements.end(),
                                  [&](const Value& a, const Value& b) { return number(a) == number(b); });
    numbers.elements.erase(last, numbers.elements.end());
    return Value{.content = std::move(numbers), .range = value.range};
  }

  // `none` in a list is a word where the enumeration has it; alone it leaves the attribute out.
  std::optional<Value> ConvertWord(Value value) {
    const std::vector<std::string> words = EnumWords(schema_);
    if (value.As<NoneValue>() != nullptr && std::find(words.begin(), words.end(), "none") != words.end()) {
      return Value{TextValue{"none"}, value.range};
    }
    const auto* word = value.As<TextValue>();
    if (word != nullptr && std::find(words.begin(), words.end(), word->text) != words.end()) return value;
    const std::string choice = absl::StrCat(words.size() == 1 ? "" : "one of ", absl::StrJoin(words, ", "));
    return Fail(DiagnosticCode::kEnumValue, value.range,
                word != nullptr ? absl::StrCat(schema_.name, " `", word->text, "` is not ", choice)
                                : absl::StrCat("`", schema_.name, "` expects ", choice),
                "", DidYouMean(word != nullptr ? Nearest(word->text, words) : ""));
  }

  // One word or several become a list without repetitions.
  std::optional<Value> ConvertWords(Value value) {
    ListValue words;
    if (const auto* list = value.As<ListValue>()) {
      words = *list;
    } else {
      words.elements = {value};
    }
    if (words.elements.empty()) return EmptyList(value.range);
    for (Value& word : words.elements) {
      std::optional<Value> converted = ConvertWord(word);
      if (!converted) return std::nullopt;
      word = *std::move(converted);
    }
    MakeSet(words);
    words.total = static_cast<int64_t>(words.elements.size());
    return Value{std::move(words), value.range};
  }

  std::optional<Value> ConvertReference(Value value) {
    const auto* block = std::get_if<BlockValue>(&value.content);
    if (block != nullptr && absl::string_view(block->block->kind->name) == schema_.unit) return value;
    Diagnostic diagnostic{
        .code = DiagnosticCode::kWrongReference,
        .message = absl::StrCat("`", schema_.name, "` expects a ", schema_.unit, ", found ", DescribeValue(value)),
        .primary = {value.range, ""},
        .secondary = {},
        .notes = {},
        .helps = {}};
    if (block != nullptr) diagnostic.secondary.push_back({block->block->header, "declared here"});
    sink_.Report(std::move(diagnostic));
    return std::nullopt;
  }

  const AttributeSchema& schema_;
  DiagnosticSink& sink_;
};

}  // namespace

bool DimensionFits(const AttributeSchema& schema, const Dimension& dimension) {
  const Dimension price = KnownUnit("USD/h").dimension;
  switch (schema.type) {
    case ValueType::kQuantity:
      return dimension == KnownUnit(schema.unit).dimension;
    case ValueType::kPrice:
      return dimension == price || dimension == price / KnownUnit("GPU").dimension ||
             dimension == price / KnownUnit("node").dimension;
    case ValueType::kQuota:
      return dimension == KnownUnit("nodes").dimension || dimension == KnownUnit("GPUs").dimension;
    default:
      return dimension.is_number();
  }
}

std::optional<Value> ConvertValue(const AttributeSchema& schema, Value value, DiagnosticSink& sink) {
  return Converter(schema, sink).Convert(std::move(value));
}

std::optional<Value> DefaultValue(const AttributeSchema& schema) {
  const absl::string_view text = schema.fallback;
  if (text.empty()) return std::nullopt;
  if (schema.type == ValueType::kEnum || schema.type == ValueType::kText) {
    return Value{.content = TextValue{schema.fallback}, .range = {}};
  }
  if (schema.type == ValueType::kEnumList) {
    return Value{.content = ListValue{.elements = {{TextValue{schema.fallback}, {}}}, .total = 1}, .range = {}};
  }
  if (schema.type == ValueType::kBoolean) return Value{.content = text == "true", .range = {}};
  if (!absl::ascii_isdigit(text[0]) || absl::StrContains(text, "*")) return std::nullopt;
  const size_t digits = text.find_first_not_of("0123456789.");
  const absl::string_view unit =
      digits == absl::string_view::npos ? "" : absl::StripAsciiWhitespace(text.substr(digits));
  const Unit known = KnownUnit(unit);
  Amount quantity{.value = *Rational::FromLiteral(text.substr(0, digits))->Multiply(known.factor),
                  .dimension = known.dimension,
                  .unit = std::string(unit),
                  .unit_factor = known.factor};
  Value value{.content = std::move(quantity), .range = {}};
  if (schema.type != ValueType::kIntegerList) return value;
  return Value{.content = ListValue{.elements = {value}, .total = 1}, .range = {}};
}

}  // namespace sail
