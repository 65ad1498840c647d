#include "compiler/passes/evaluate.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/passes/schema.h"

namespace sail {
namespace {

// Bounds of one compilation: the recursion below, and the list elements that all uses of lists copy together.
constexpr int kDeepestEvaluation = 1000;
constexpr int64_t kMostElements = 1'000'000;

}  // namespace

Diagnostic UnitDiagnostic(const UnitError& error, const ast::NumberExpr& number) {
  SourceRange range = number.unit_range;
  // A unit is written without blanks, so the word can be pointed at; `$3.67/h` is the exception.
  if (range.end - range.begin == static_cast<int>(number.unit.size())) {
    range.begin += error.offset;
    range.end = range.begin + error.length;
  }
  return {.code = error.code,
          .message = error.message,
          .primary = {range, ""},
          .secondary = {},
          .notes = {},
          .helps = error.helps};
}

std::nullopt_t Evaluator::Fail(DiagnosticCode code, SourceRange range, std::string message, std::string label,
                               std::vector<std::string> helps) {
  sink_.Report({.code = code,
                .message = std::move(message),
                .primary = {range, std::move(label)},
                .secondary = {},
                .notes = {},
                .helps = std::move(helps)});
  return std::nullopt;
}

std::optional<Value> Evaluator::Evaluate(const ast::Expr& expr, const Scope& scope) {
  if (too_large_) return std::nullopt;
  if (depth_ == kDeepestEvaluation) return TooLarge(expr.range, "this value needs more than 1 000 steps in a row");
  ++depth_;
  auto value = EvaluateNode(expr, scope);
  --depth_;
  return value;
}

std::nullopt_t Evaluator::TooLarge(SourceRange range, absl::string_view message) {
  too_large_ = true;
  return Fail(DiagnosticCode::kTooLarge, range, std::string(message));
}

std::optional<Value> Evaluator::EvaluateNode(const ast::Expr& expr, const Scope& scope) {
  if (const auto* number = std::get_if<ast::NumberExpr>(&expr.node)) return EvaluateNumber(*number, expr.range);
  if (const auto* text = std::get_if<ast::StringExpr>(&expr.node)) {
    return Value{.content = TextValue{text->value}, .range = expr.range};
  }
  if (const auto* truth = std::get_if<ast::BoolExpr>(&expr.node)) {
    return Value{.content = truth->value, .range = expr.range};
  }
  if (std::holds_alternative<ast::NoneExpr>(expr.node)) return Value{.content = NoneValue{}, .range = expr.range};
  if (const auto* name = std::get_if<ast::NameExpr>(&expr.node)) return EvaluateName(*name, scope);
  if (const auto* member = std::get_if<ast::MemberExpr>(&expr.node)) return EvaluateMember(*member, expr.range, scope);
  if (const auto* list = std::get_if<ast::ListExpr>(&expr.node)) return EvaluateList(*list, expr.range, scope);
  if (const auto* unary = std::get_if<ast::UnaryExpr>(&expr.node)) return EvaluateUnary(*unary, expr.range, scope);
  return EvaluateBinary(std::get<ast::BinaryExpr>(expr.node), expr.range, scope);
}

std::optional<Value> Evaluator::EvaluateNumber(const ast::NumberExpr& number, SourceRange range) {
  const auto digits = Rational::FromLiteral(number.digits);
  if (!digits) return Fail(DiagnosticCode::kOverflow, number.digits_range, "this number is too large to represent");
  const auto parsed = ParseUnit(number.unit, number.digits);
  if (const auto* error = std::get_if<UnitError>(&parsed)) {
    sink_.Report(UnitDiagnostic(*error, number));
    return std::nullopt;
  }
  const Unit& unit = std::get<Unit>(parsed);
  const auto value = digits->Multiply(unit.factor);
  if (!value) return Fail(DiagnosticCode::kOverflow, range, "this value is too large to represent");
  Amount amount{.value = *value, .dimension = unit.dimension, .unit = number.unit, .unit_factor = unit.factor};
  return Value{.content = std::move(amount), .range = range};
}

std::optional<Value> Evaluator::EvaluateName(const ast::NameExpr& name, const Scope& scope) {
  const Binding* binding = scope.Find(name.name.text);
  if (binding != nullptr) return EvaluateBinding(*binding, scope, name.name);
  const std::string nearest = Nearest(name.name.text, scope.VisibleNames());
  Diagnostic diagnostic{.code = DiagnosticCode::kUndefinedName,
                        .message = absl::StrCat("`", name.name.text, "` is not defined"),
                        .primary = {name.name.range, ""},
                        .secondary = {},
                        .notes = {},
                        .helps = {}};
  if (!nearest.empty()) {
    diagnostic.secondary.push_back({scope.Find(nearest)->range, "declared here"});
    diagnostic.helps.push_back(absl::StrCat("did you mean `", nearest, "`?"));
  }
  sink_.Report(std::move(diagnostic));
  return std::nullopt;
}

std::optional<Value> Evaluator::EvaluateBinding(const Binding& binding, const Scope& scope,
                                                const ast::Identifier& name) {
  if (binding.block != nullptr) return Value{.content = BlockValue{binding.block}, .range = name.range};
  if (binding.module != nullptr) return Value{.content = ModuleValue{binding.module}, .range = name.range};
  if (binding.let == nullptr) return std::nullopt;  // an import that was not found
  // The let is evaluated in the scope that declares it.
  const Scope* owner = &scope;
  while (owner->names.find(binding.let->name.text) == owner->names.end()) owner = owner->parent;
  auto value = EvaluateOnce(binding.let->value, *owner, name);
  if (!value) return std::nullopt;
  value->range = name.range;
  if (const auto* list = std::get_if<ListValue>(&value->content)) elements_ += list->total;
  if (elements_ > kMostElements) return TooLarge(name.range, "evaluation produced more than 1 000 000 values");
  return value;
}

std::optional<Value> Evaluator::EvaluateOnce(const ast::Expr& expr, const Scope& scope, const ast::Identifier& name) {
  if (const auto found = done_.find(&expr); found != done_.end()) return found->second;
  const auto first =
      std::find_if(in_progress_.begin(), in_progress_.end(), [&](const Visit& visit) { return visit.expr == &expr; });
  if (first != in_progress_.end()) {
    std::vector<std::string> names;
    std::vector<Label> secondary;
    for (auto it = first; it != in_progress_.end(); ++it) {
      names.push_back(it->name.text);
      if (it != first) secondary.push_back({it->name.range, "used here"});
    }
    names.push_back(name.text);
    sink_.Report({.code = DiagnosticCode::kValueCycle,
                  .message = absl::StrCat("`", first->name.text, "` depends on itself: ", absl::StrJoin(names, " -> ")),
                  .primary = {name.range, "the circle closes here"},
                  .secondary = std::move(secondary),
                  .notes = {},
                  .helps = {}});
    return std::nullopt;
  }
  in_progress_.push_back({&expr, name});
  auto value = Evaluate(expr, scope);
  in_progress_.pop_back();
  done_[&expr] = value;
  return value;
}

std::optional<Value> Evaluator::EvaluateLet(const ast::Let& let, const Scope& scope) {
  const bool known = done_.contains(&let.value);
  auto value = EvaluateOnce(let.value, scope, let.name);
  if (value && !known && let.type && !DeclaredTypeHolds(let, *value)) done_[&let.value] = value = std::nullopt;
  return value;
}

bool Evaluator::DeclaredTypeHolds(const ast::Let& let, const Value& value) {
  static constexpr std::pair<const char*, const char*> kQuantityTypes[] = {
      {"Int", ""},       {"Float", ""},        {"Percent", ""}, {"Duration", "s"},
      {"DataSize", "B"}, {"Bandwidth", "B/s"}, {"Money", "USD"}};
  const std::string& type = let.type->parts.front().text;
  const auto mismatch = [&](absl::string_view expected) {
    Fail(DiagnosticCode::kTypeMismatch, let.value.range,
         absl::StrCat("`", let.name.text, "` is declared as ", expected, ", found ", DescribeValue(value)));
    return false;
  };
  if (type == "String" || type == "Path") return std::holds_alternative<TextValue>(value.content) || mismatch("a text");
  if (type == "Bool") return std::holds_alternative<bool>(value.content) || mismatch("a truth value");
  if (absl::StartsWith(type, "List<")) return std::holds_alternative<ListValue>(value.content) || mismatch("a list");
  std::string unit = type;
  for (const auto& [name, spelling] : kQuantityTypes) {
    if (type == name) unit = spelling;
  }
  const auto parsed = ParseUnit(unit, "1");
  if (const auto* error = std::get_if<UnitError>(&parsed)) {
    Fail(error->code, let.type->range, error->message, "not a type or a unit", error->helps);
    return false;
  }
  const Dimension expected = std::get<Unit>(parsed).dimension;
  const auto* quantity = std::get_if<Amount>(&value.content);
  if (quantity == nullptr) return mismatch(Describe(expected));
  if (type == "Int" && quantity->dimension == expected && !quantity->value.is_integer())
    return mismatch("a whole number");
  if (quantity->dimension == expected) return true;
  Fail(DiagnosticCode::kAttributeDimension, let.value.range,
       absl::StrCat("`", let.name.text, "` expects ", Describe(expected), ", found ", Describe(quantity->dimension)));
  return false;
}

std::optional<Value> Evaluator::EvaluateMember(const ast::MemberExpr& member, SourceRange range, const Scope& scope) {
  const auto base = Evaluate(member.base.front(), scope);
  if (!base) return std::nullopt;
  std::optional<Value> value;
  if (const auto* module = std::get_if<ModuleValue>(&base->content)) {
    const auto found = module->module->top.names.find(member.member.text);
    // What an imported file imports is its own affair.
    if (found == module->module->top.names.end() || (found->second.let == nullptr && found->second.block == nullptr)) {
      std::vector<std::string> names;
      for (const auto& [name, binding] : module->module->top.names) {
        if (binding.let != nullptr || binding.block != nullptr) names.push_back(name);
      }
      const std::string nearest = Nearest(member.member.text, names);
      return Fail(DiagnosticCode::kUndefinedName, member.member.range,
                  absl::StrCat("`", module->module->name, "` has no `", member.member.text, "`"), "",
                  {nearest.empty() ? absl::StrCat("it has ", absl::StrJoin(names, ", "))
                                   : absl::StrCat("did you mean `", nearest, "`?")});
    }
    value = EvaluateBinding(found->second, module->module->top, member.member);
  } else if (const auto* block = std::get_if<BlockValue>(&base->content)) {
    value = EvaluateAttribute(*block->block, member.member);
  } else {
    return Fail(DiagnosticCode::kTypeMismatch, member.member.range,
                absl::StrCat(DescribeValue(*base), " has no members"));
  }
  if (value) value->range = range;
  return value;
}

std::optional<Value> Evaluator::EvaluateAttribute(const ast::Block& block, const ast::Identifier& name) {
  const ast::Body& body = block.body.front();
  for (const ast::Statement& statement : body.statements) {
    const auto* assignment = std::get_if<ast::Assignment>(&statement);
    if (assignment == nullptr || assignment->target.parts.size() != 1) continue;
    if (assignment->target.parts.front().text != name.text) continue;
    return EvaluateOnce(assignment->value, modules_.ScopeOf(body), name);
  }
  const std::string nearest = Nearest(name.text, AttributeNames(block.kind.text));
  return Fail(DiagnosticCode::kUndefinedName, name.range,
              absl::StrCat(block.kind.text, " `", block.label ? block.label->text : "", "` sets no `", name.text, "`"),
              "",
              nearest.empty() || nearest == name.text
                  ? std::vector<std::string>{}
                  : std::vector<std::string>{absl::StrCat("did you mean `", nearest, "`?")});
}

std::optional<Value> Evaluator::EvaluateList(const ast::ListExpr& list, SourceRange range, const Scope& scope) {
  ListValue values;
  bool complete = true;
  for (const ast::Expr& element : list.elements) {
    auto value = Evaluate(element, scope);
    complete = complete && value.has_value();
    if (!value) continue;
    const auto* inner = std::get_if<ListValue>(&value->content);
    values.total += 1 + (inner != nullptr ? inner->total : 0);
    values.elements.push_back(*std::move(value));
  }
  if (!complete) return std::nullopt;
  return Value{.content = std::move(values), .range = range};
}

}  // namespace sail
