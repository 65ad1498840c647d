// Declared types, and the params that take their values from outside.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/passes/evaluate.h"
#include "compiler/passes/schema.h"

namespace sail {
namespace {

// Types that stand for a dimension; every other one is a unit.
constexpr std::pair<const char*, const char*> kQuantityTypes[] = {
    {"Int", ""},       {"Float", ""},        {"Percent", ""}, {"Duration", "s"},
    {"DataSize", "B"}, {"Bandwidth", "B/s"}, {"Money", "USD"}};

std::string Spell(const ast::TypeRef& type) {
  const auto argument = [](std::string* out, const ast::TypeRef& inner) { *out += Spell(inner); };
  const std::string arguments =
      type.arguments.empty() ? "" : absl::StrCat("<", absl::StrJoin(type.arguments, ", ", argument), ">");
  return absl::StrCat(type.name, arguments, type.is_optional ? "?" : "");
}

bool IsCollection(const ast::TypeRef& type) { return type.name == "List" || type.name == "Set" || type.name == "Map"; }

}  // namespace

std::optional<Value> Evaluator::EvaluateAs(const std::optional<ast::TypeRef>& type, const ast::Expr& expr,
                                           Scope& scope) {
  const ast::TypeRef* scalar = type ? &*type : nullptr;
  if (scalar != nullptr && IsCollection(*scalar) && scalar->arguments.size() == 1) scalar = &scalar->arguments.front();
  const std::vector<std::string> words = scalar != nullptr ? EnumTypeWords(scalar->name) : std::vector<std::string>();
  return words.empty() ? Evaluate(expr, scope) : EvaluateWords(expr, scope, words);
}

bool Evaluator::Conform(const ast::TypeRef& type, const ast::Identifier& name, Value& value) {
  if (type.is_optional && value.As<NoneValue>() != nullptr) return true;
  const auto mismatch = [&](absl::string_view expected, std::vector<std::string> helps = {}) {
    Fail(DiagnosticCode::kTypeMismatch, value.range,
         absl::StrCat("`", name.text, "` is declared as ", expected, ", found ", DescribeValue(value)), "",
         std::move(helps));
    return false;
  };
  const bool takes_argument = IsCollection(type) || type.name == "Ref";
  if (type.arguments.size() != (takes_argument ? 1 : 0)) {
    Fail(DiagnosticCode::kTypeMismatch, type.range,
         absl::StrCat("`", type.name, "` takes ", takes_argument ? "one type in `< >`" : "no types in `< >`"));
    return false;
  }
  if (type.name == "String" || type.name == "Path") return value.As<TextValue>() != nullptr || mismatch("a text");
  if (type.name == "Bool") return value.As<bool>() != nullptr || mismatch("a truth value");
  if (type.name == "Date") return value.As<DateValue>() != nullptr || mismatch("a date", {"write `2026-11-30`"});
  if (type.name == "Secret") {
    return value.As<SecretValue>() != nullptr || mismatch("a secret", {"write `secret(\"NAME\")`"});
  }
  if (type.name == "Ref") {
    const auto* block = value.As<BlockValue>();
    const std::string& kind = type.arguments.front().name;
    return (block != nullptr && kind == block->block->kind->name) || mismatch(absl::StrCat("a reference to a ", kind));
  }
  if (type.name == "List" || type.name == "Set") {
    auto* list = std::get_if<ListValue>(&value.content);
    if (list == nullptr) return mismatch(absl::StrCat("`", Spell(type), "`"), {"wrap the value in `[ ]`"});
    for (Value& element : list->elements) {
      if (!Conform(type.arguments.front(), name, element)) return false;
    }
    if (type.name == "Set") MakeSet(*list);
    return true;
  }
  if (type.name == "Map") {
    auto* record = std::get_if<RecordValue>(&value.content);
    if (record == nullptr) return mismatch(absl::StrCat("`", Spell(type), "`"), {"write `{ \"key\" = value }`"});
    for (auto& [key, element] : record->fields) {
      if (!Conform(type.arguments.front(), name, element)) return false;
    }
    return true;
  }
  if (const std::vector<std::string> words = EnumTypeWords(type.name); !words.empty()) {
    const auto* text = value.As<TextValue>();
    const bool known = text != nullptr && std::find(words.begin(), words.end(), text->text) != words.end();
    if (known) return true;
    Fail(DiagnosticCode::kEnumValue, value.range,
         absl::StrCat("`", name.text, "` expects one of ", absl::StrJoin(words, ", "),
                      text != nullptr ? absl::StrCat(", found `", text->text, "`") : ""));
    return false;
  }
  return ConformAmount(type, name, value);
}

bool Evaluator::ConformAmount(const ast::TypeRef& type, const ast::Identifier& name, Value& value) {
  std::string spelling = type.name;
  bool is_unit = true;
  for (const auto& [word, unit] : kQuantityTypes) {
    if (type.name != word) continue;
    spelling = unit;
    is_unit = false;
  }
  const auto parsed = ParseUnit(spelling, "1");
  if (const auto* error = std::get_if<UnitError>(&parsed)) {
    return Fail(error->code, type.range, error->message, "not a type or a unit", error->helps), false;
  }
  const Unit& unit = std::get<Unit>(parsed);
  auto* amount = std::get_if<Amount>(&value.content);
  const auto mismatch = [&](absl::string_view expected) {
    Fail(DiagnosticCode::kTypeMismatch, value.range,
         absl::StrCat("`", name.text, "` is declared as ", expected, ", found ", DescribeValue(value)));
    return false;
  };
  if (amount == nullptr) return mismatch(Describe(unit.dimension));
  if (amount->dimension == unit.dimension.Inverse() && !unit.dimension.is_number()) {
    Fail(DiagnosticCode::kReciprocal, value.range,
         absl::StrCat("`", name.text, "` is in ", type.name, " but this is in ", amount->unit), "",
         {ReciprocalHelp(*amount, spelling)});
    return false;
  }
  if (amount->dimension != unit.dimension) {
    Fail(DiagnosticCode::kAttributeDimension, value.range,
         absl::StrCat("`", name.text, "` expects ", Describe(unit.dimension), ", found ", Describe(amount->dimension)));
    return false;
  }
  if (type.name == "Percent" && amount->unit != "%" && Rational(1) < amount->value) {
    const std::string number = amount->value.ToString();
    Fail(DiagnosticCode::kBareNumber, value.range, absl::StrCat("`", name.text, "` is a Percent and needs a `%`"),
         "a plain number",
         {absl::StrCat("write `", number, "%`, or `", FormatIn(amount->value, "%"), "` for ", number,
                       " times as much")});
    return false;
  }
  if (type.name == "Int" && !amount->value.is_integer()) return mismatch("a whole number");
  if (is_unit) {
    amount->unit = spelling;
    amount->unit_factor = unit.factor;
  }
  return true;
}

std::optional<Value> Evaluator::ValueOfParam(const ast::Param& param, Scope& owner) {
  const ast::Expr* given = param.value ? &*param.value : nullptr;
  Scope* scope = &owner;
  if (owner.module == &modules_.main()) {
    for (const Definition& definition : definitions_) {
      if (definition.target.parts.size() != 1 || definition.target.parts.front().text != param.name.text) continue;
      given = &definition.value;
      scope = &NewScope(nullptr);  // a value from outside uses no names of the file
      scope->module = owner.module;
    }
  }
  if (given == nullptr) {
    return Fail(DiagnosticCode::kMissingAttribute, param.range,
                absl::StrCat("param `", param.name.text, "` has no value"), "",
                {absl::StrCat("pass `-D ", param.name.text, "=…`, or write a default: `= …`")});
  }
  auto value = EvaluateAs(param.type, *given, *scope);
  if (!value || !Conform(param.type, param.name, *value)) return std::nullopt;
  return value;
}

bool Evaluator::WhereHolds(const ast::Param& param, const Value& value, SourceRange given, Scope& owner) {
  if (!param.where) return true;
  const auto holds = EvaluateTruth(*param.where, owner, "`where`");
  if (!holds || *holds) return holds.value_or(false);
  const SourceRange& where = param.where->range;
  sink_.Report(
      DiagnosticCode::kWhereViolated, given,
      absl::StrCat("`", param.name.text, "` must satisfy `", sources_.TextOf(where), "`, got ", FormatValue(value)), {},
      {{where, "demanded here"}});
  return false;
}

void CheckDefinitions(const Module& main, const std::vector<Definition>& definitions, DiagnosticSink& sink) {
  std::vector<std::string> params;
  for (const ast::Item& item : main.spec.items) {
    if (const auto* param = std::get_if<ast::Param>(&item)) params.push_back(param->name.text);
  }
  for (const Definition& definition : definitions) {
    std::string name;
    for (const ast::Identifier& part : definition.target.parts)
      absl::StrAppend(&name, name.empty() ? "" : ".", part.text);
    if (std::find(params.begin(), params.end(), name) != params.end()) continue;
    sink.Report(DiagnosticCode::kUndefinedName, definition.target.range,
                absl::StrCat("`", main.name, "` has no param `", name, "`"),
                DidYouMean(Nearest(name, params),
                           params.empty() ? "it declares no params" : "it has " + absl::StrJoin(params, ", ")));
  }
}

}  // namespace sail
