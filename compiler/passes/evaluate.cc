#include "compiler/passes/evaluate.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/passes/schema.h"

namespace sail {
namespace {

// Bounds of one compilation: nested evaluations, and the values that lists, loops, copies and blocks make together.
constexpr int kDeepestEvaluation = 1000;
constexpr int64_t kMostValues = 1'000'000;

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
  sink_.Report(code, range, std::move(message), std::move(helps), {}, std::move(label));
  return std::nullopt;
}

std::nullopt_t Evaluator::TooLarge(SourceRange range, absl::string_view message) {
  if (!too_large_) Fail(DiagnosticCode::kTooLarge, range, std::string(message));
  too_large_ = true;
  return std::nullopt;
}

bool Evaluator::Charge(int64_t count, SourceRange range) {
  charged_ += count;
  if (charged_ <= kMostValues && !too_large_) return true;
  TooLarge(range, "evaluation produced more than 1 000 000 values");
  return false;
}

Scope& Evaluator::NewScope(Scope* parent) {
  Scope& scope = scopes_.emplace_back();
  scope.parent = parent;
  scope.module = parent != nullptr ? parent->module : nullptr;
  return scope;
}

bool Evaluator::Enter(const void* what, const ast::Identifier& use) {
  const auto first =
      std::find_if(active_.begin(), active_.end(), [&](const Visit& visit) { return visit.what == what; });
  if (first == active_.end()) {
    if (active_.size() >= kDeepestEvaluation) {
      TooLarge(use.range, "this value needs more than 1 000 steps in a row");
      return false;
    }
    active_.push_back({what, use});
    return true;
  }
  std::vector<std::string> names;
  std::vector<Label> secondary;
  for (auto it = first; it != active_.end(); ++it) {
    names.push_back(it->use.text);
    if (it != first) secondary.push_back({it->use.range, "used here"});
  }
  names.push_back(use.text);
  sink_.Report(DiagnosticCode::kValueCycle, use.range,
               absl::StrCat("`", first->use.text, "` depends on itself: ", absl::StrJoin(names, " -> ")), {},
               std::move(secondary), "the circle closes here");
  return false;
}

void Evaluator::Leave() { active_.pop_back(); }

std::optional<Value> Evaluator::Evaluate(const ast::Expr& expr, Scope& scope) {
  if (too_large_) return std::nullopt;
  if (depth_ == kDeepestEvaluation) return TooLarge(expr.range, "this value needs more than 1 000 steps in a row");
  ++depth_;
  auto value = EvaluateNode(expr, scope);
  --depth_;
  return value;
}

std::optional<Value> Evaluator::EvaluateNode(const ast::Expr& expr, Scope& scope) {
  const SourceRange range = expr.range;
  if (const auto* number = std::get_if<ast::NumberExpr>(&expr.node)) return EvaluateNumber(*number, range);
  if (const auto* text = std::get_if<ast::StringExpr>(&expr.node)) return Value{TextValue{text->value}, range};
  if (const auto* text = std::get_if<ast::TemplateExpr>(&expr.node)) return EvaluateTemplate(*text, range, scope);
  if (const auto* date = std::get_if<ast::DateExpr>(&expr.node)) return Value{DateValue{date->text}, range};
  if (const auto* truth = std::get_if<ast::BoolExpr>(&expr.node)) return Value{truth->value, range};
  if (std::holds_alternative<ast::NoneExpr>(expr.node)) return Value{NoneValue{}, range};
  if (const auto* name = std::get_if<ast::NameExpr>(&expr.node)) return EvaluateName(name->name, scope);
  if (const auto* member = std::get_if<ast::MemberExpr>(&expr.node)) return EvaluateMember(*member, range, scope);
  if (const auto* index = std::get_if<ast::IndexExpr>(&expr.node)) return EvaluateIndex(*index, range, scope);
  if (const auto* call = std::get_if<ast::CallExpr>(&expr.node)) return EvaluateCall(*call, range, scope);
  if (const auto* list = std::get_if<ast::ListExpr>(&expr.node)) return EvaluateList(*list, range, scope);
  if (const auto* record = std::get_if<ast::RecordExpr>(&expr.node)) return EvaluateRecord(*record, range, scope);
  if (const auto* choice = std::get_if<ast::ConditionalExpr>(&expr.node)) return EvaluateConditional(*choice, scope);
  if (const auto* loop = std::get_if<ast::ComprehensionExpr>(&expr.node)) {
    return EvaluateComprehension(*loop, range, scope);
  }
  if (const auto* unary = std::get_if<ast::UnaryExpr>(&expr.node)) return EvaluateUnary(*unary, range, scope);
  return EvaluateBinary(std::get<ast::BinaryExpr>(expr.node), range, scope);
}

std::optional<Value> Evaluator::EvaluateNumber(const ast::NumberExpr& number, SourceRange range) {
  const auto digits = Rational::FromLiteral(number.digits);
  if (!digits) {
    return Fail(DiagnosticCode::kOverflow, number.digits_range,
                "this number is too large, or too fine, to represent exactly");
  }
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

std::optional<Value> Evaluator::EvaluateName(const ast::Identifier& name, Scope& scope) {
  Scope::Found found = scope.Find(name.text);
  if (found.binding != nullptr) return ValueOf(*found.binding, *found.owner, name);
  // A block that a loop of this file makes?
  Module& module = *scope.module;
  blocks_->ExpandLoops(module);
  if (const auto made = module.generated.find(name.text); made != module.generated.end()) {
    RecordUse(name.range, made->second->label_range);
    return Value{BlockValue{made->second}, name.range};
  }
  const std::string nearest = nearest_left_-- > 0 ? Nearest(name.text, scope.VisibleNames()) : "";
  if (nearest.empty())
    return Fail(DiagnosticCode::kUndefinedName, name.range, absl::StrCat("`", name.text, "` is not defined"));
  sink_.Report(DiagnosticCode::kUndefinedName, name.range, absl::StrCat("`", name.text, "` is not defined"),
               DidYouMean(nearest), {{scope.Find(nearest).binding->range, "declared here"}});
  return std::nullopt;
}

std::optional<Value> Evaluator::ValueOf(Binding& binding, Scope& owner, const ast::Identifier& use) {
  binding.is_used = true;
  RecordUse(use.range, binding.range);
  if (binding.block != nullptr) {
    CheckedBlock* block = blocks_->BlockOf(binding, owner, use);
    if (block == nullptr) return std::nullopt;
    return Value{BlockValue{block}, use.range};
  }
  if (binding.module != nullptr) return Value{ModuleValue{binding.module}, use.range};
  if (binding.state != Binding::State::kDone) {
    if (!Enter(&binding, use)) return std::nullopt;
    if (binding.let != nullptr) {
      binding.value = EvaluateAs(binding.let->type, binding.let->value, owner);
      const bool conforms =
          !binding.value || !binding.let->type || Conform(*binding.let->type, binding.let->name, *binding.value);
      if (!conforms) binding.value.reset();
      binding.state = Binding::State::kDone;
    } else {
      binding.value = ValueOfParam(*binding.param, owner);
      binding.state = Binding::State::kDone;  // `where` names the param itself
      if (binding.value && !WhereHolds(*binding.param, *binding.value, binding.value->range, owner)) {
        binding.value.reset();
      }
    }
    Leave();
  }
  if (!binding.value) return std::nullopt;
  if (SizeOf(*binding.value) > 1 && !Charge(SizeOf(*binding.value), use.range)) return std::nullopt;
  Value value = *binding.value;
  value.range = use.range;
  return value;
}

std::optional<Value> Evaluator::RawValue(CheckedAttribute& attribute, const ast::Identifier& use) {
  if (attribute.state == Binding::State::kDone) {
    const int64_t size = attribute.raw ? SizeOf(*attribute.raw) : 1;
    return size == 1 || Charge(size, use.range) ? attribute.raw : std::nullopt;
  }
  if (!Enter(&attribute, use)) return std::nullopt;
  const std::vector<std::string> words =
      attribute.schema != nullptr ? EnumWords(*attribute.schema) : std::vector<std::string>();
  attribute.raw = words.empty() ? Evaluate(*attribute.expr, *attribute.scope)
                                : EvaluateWords(*attribute.expr, *attribute.scope, words);
  attribute.state = Binding::State::kDone;
  Leave();
  return attribute.raw;
}

std::optional<Value> Evaluator::EvaluateWords(const ast::Expr& expr, Scope& scope,
                                              const std::vector<std::string>& words) {
  if (const auto* name = std::get_if<ast::NameExpr>(&expr.node)) {
    const bool is_word = std::find(words.begin(), words.end(), name->name.text) != words.end();
    // A misspelt word is no undefined name: conversion says which words there are.
    if (is_word || scope.Find(name->name.text).binding == nullptr) return Value{TextValue{name->name.text}, expr.range};
  }
  if (const auto* choice = std::get_if<ast::ConditionalExpr>(&expr.node)) {
    const auto condition = EvaluateTruth(choice->operands[0], scope, "`if`");
    if (!condition) return std::nullopt;
    return EvaluateWords(choice->operands[*condition ? 1 : 2], scope, words);
  }
  const auto* list = std::get_if<ast::ListExpr>(&expr.node);
  if (list == nullptr) return Evaluate(expr, scope);
  ListValue values;
  bool complete = true;
  for (const ast::Expr& element : list->elements) {
    auto value = EvaluateWords(element, scope, words);
    complete = complete && value;
    if (value) values.elements.push_back(*std::move(value));
  }
  values.total = static_cast<int64_t>(values.elements.size());
  if (!complete || !Charge(values.total, expr.range)) return std::nullopt;
  return Value{std::move(values), expr.range};
}

std::optional<bool> Evaluator::EvaluateTruth(const ast::Expr& expr, Scope& scope, absl::string_view what) {
  const auto value = Evaluate(expr, scope);
  if (!value) return std::nullopt;
  if (const bool* truth = value->As<bool>()) return *truth;
  return Fail(DiagnosticCode::kTypeMismatch, expr.range,
              absl::StrCat(what, " needs a truth value, found ", DescribeValue(*value)));
}

std::optional<Value> Evaluator::EvaluateConditional(const ast::ConditionalExpr& conditional, Scope& scope) {
  const auto condition = EvaluateTruth(conditional.operands[0], scope, "`if`");
  if (!condition) return std::nullopt;
  return Evaluate(conditional.operands[*condition ? 1 : 2], scope);
}

std::optional<Value> Evaluator::EvaluateTemplate(const ast::TemplateExpr& text, SourceRange range, Scope& scope) {
  std::string result = text.texts[0];
  for (size_t i = 0; i < text.values.size(); ++i) {
    const auto value = Evaluate(text.values[i], scope);
    if (!value) return std::nullopt;
    if (value->As<SecretValue>() != nullptr) {
      return Fail(DiagnosticCode::kSecretInString, text.values[i].range, "a secret cannot be part of a string", "",
                  {"pass the secret by itself in `env`; the program reads it at run time"});
    }
    const auto* part = value->As<TextValue>();
    const bool is_scalar = part || value->As<Amount>() || value->As<bool>() || value->As<DateValue>();
    if (!is_scalar) {
      return Fail(DiagnosticCode::kTypeMismatch, text.values[i].range,
                  absl::StrCat(DescribeValue(*value), " cannot be part of a string"));
    }
    absl::StrAppend(&result, part != nullptr ? part->text : FormatValue(*value), text.texts[i + 1]);
    if (result.size() > kLongestText) return TooLarge(range, "this text is longer than 1 MiB");
  }
  return Value{TextValue{std::move(result)}, range};
}

std::optional<Value> Evaluator::EvaluateList(const ast::ListExpr& list, SourceRange range, Scope& scope) {
  ListValue values;
  bool complete = true;
  for (const ast::Expr& element : list.elements) {
    auto value = Evaluate(element, scope);
    complete = complete && value;
    if (!value) continue;
    Append(values, *std::move(value));
  }
  if (!complete) return std::nullopt;
  return Value{std::move(values), range};
}

std::optional<Value> Evaluator::EvaluateRecord(const ast::RecordExpr& record, SourceRange range, Scope& scope) {
  RecordValue values;
  std::map<std::string, SourceRange> keys;
  bool complete = true;
  for (const ast::Field& field : record.fields) {
    const auto [first, is_new] = keys.emplace(field.key.text, field.key.range);
    if (!is_new) {
      sink_.Report(DiagnosticCode::kDuplicateAttribute, field.key.range,
                   absl::StrCat("key \"", field.key.text, "\" is given twice"), {"keep one"},
                   {{first->second, "first given here"}});
      complete = false;
      continue;
    }
    auto value = Evaluate(field.value, scope);
    complete = complete && value;
    if (!value) continue;
    Append(values, field.key.text, *std::move(value));
  }
  if (!complete) return std::nullopt;
  return Value{std::move(values), range};
}

std::optional<Value> Evaluator::EvaluateComprehension(const ast::ComprehensionExpr& loop, SourceRange range,
                                                      Scope& scope) {
  const auto collection = Evaluate(loop.operands[1], scope);
  if (!collection) return std::nullopt;
  ListValue values;
  // One scope serves all rounds: nothing that is evaluated inside outlives its round.
  Scope& inner = NewScope(&scope);
  Binding variable;
  variable.state = Binding::State::kDone;
  if (!BindName(inner, loop.first, variable, sink_)) return std::nullopt;
  if (loop.second && !BindName(inner, *loop.second, variable, sink_)) return std::nullopt;
  const bool complete = ForEach(*collection, loop.second.has_value(), [&](const Value& first, const Value* second) {
    inner.names.at(loop.first.text).value = first;
    if (second != nullptr) inner.names.at(loop.second->text).value = *second;
    if (loop.operands.size() > 2) {
      const auto keep = EvaluateTruth(loop.operands[2], inner, "the condition of a comprehension");
      if (!keep) return false;
      if (!*keep) return true;
    }
    auto value = Evaluate(loop.operands[0], inner);
    if (!value || !Charge(SizeOf(*value), range)) return false;
    Append(values, *std::move(value));
    return true;
  });
  if (!complete) return std::nullopt;
  return Value{std::move(values), range};
}

}  // namespace sail
