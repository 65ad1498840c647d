// The operators of the evaluator: exact arithmetic with dimensions.
#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/check.h"
#include "compiler/passes/evaluate.h"

namespace sail {
namespace {

// Products of more units than this have no use; the limit also bounds what repeated squaring in lets can build.
constexpr int kLargestExponent = 8;

absl::string_view Symbol(ast::BinaryOperator op) {
  switch (op) {
    case ast::BinaryOperator::kAdd:
      return "+";
    case ast::BinaryOperator::kSubtract:
      return "-";
    case ast::BinaryOperator::kMultiply:
      return "*";
    case ast::BinaryOperator::kDivide:
      return "/";
    case ast::BinaryOperator::kRange:
      return "..";
    case ast::BinaryOperator::kEqual:
      return "==";
    case ast::BinaryOperator::kNotEqual:
      return "!=";
    case ast::BinaryOperator::kLess:
      return "<";
    case ast::BinaryOperator::kLessEqual:
      return "<=";
    case ast::BinaryOperator::kGreater:
      return ">";
    case ast::BinaryOperator::kGreaterEqual:
      return ">=";
    case ast::BinaryOperator::kIn:
      return "in";
    case ast::BinaryOperator::kAnd:
      return "and";
    case ast::BinaryOperator::kOr:
      return "or";
  }
  SAIL_CHECK(false) << "operator " << static_cast<int>(op);
}

Value Of(Amount quantity, SourceRange range) { return Value{.content = std::move(quantity), .range = range}; }

template <class T>
bool Ordered(ast::BinaryOperator op, const T& a, const T& b) {
  using Op = ast::BinaryOperator;
  if (op == Op::kEqual || op == Op::kNotEqual) return (a == b) == (op == Op::kEqual);
  const bool swapped = op == Op::kGreater || op == Op::kLessEqual;
  const bool less = swapped ? b < a : a < b;
  return op == Op::kLess || op == Op::kGreater ? less : !less;
}

bool IsOversized(const Dimension& dimension) {
  return std::any_of(dimension.exponents.begin(), dimension.exponents.end(),
                     [](int exponent) { return std::abs(exponent) > kLargestExponent; });
}

}  // namespace

std::string ReciprocalHelp(const Amount& found, absl::string_view expected_unit) {
  const auto inverse = Rational(1).Divide(found.value);
  if (!inverse) return "zero has no reciprocal";
  const std::string shown = expected_unit.empty() ? Format(MakeAmount(*inverse, found.dimension.Inverse()))
                                                  : FormatIn(*inverse, expected_unit);
  return absl::StrCat("`", Format(found), "` is `", shown, "`");
}

std::optional<Value> Evaluator::EvaluateUnary(const ast::UnaryExpr& unary, SourceRange range, Scope& scope) {
  auto operand = Evaluate(unary.operand.front(), scope);
  if (!operand) return std::nullopt;
  if (unary.op == ast::UnaryOperator::kNot) {
    const bool* truth = std::get_if<bool>(&operand->content);
    if (truth == nullptr) {
      return Fail(DiagnosticCode::kTypeMismatch, operand->range,
                  absl::StrCat("`not` needs a truth value, found ", DescribeValue(*operand)));
    }
    return Value{.content = !*truth, .range = range};
  }
  auto* quantity = std::get_if<Amount>(&operand->content);
  if (quantity == nullptr) {
    return Fail(DiagnosticCode::kTypeMismatch, operand->range,
                absl::StrCat("`-` needs a number, found ", DescribeValue(*operand)));
  }
  const auto negated = Rational(0).Subtract(quantity->value);
  if (!negated) return Fail(DiagnosticCode::kOverflow, range, "this value is too large to represent");
  quantity->value = *negated;
  operand->range = range;
  return operand;
}

bool Evaluator::IsSpacedUnit(const ast::BinaryExpr& binary, Scope& scope) {
  const auto* name = std::get_if<ast::NameExpr>(&binary.operands[1].node);
  const auto* number = std::get_if<ast::NumberExpr>(&binary.operands[0].node);
  if (binary.op != ast::BinaryOperator::kDivide || name == nullptr || number == nullptr) return false;
  if (number->unit.empty() || !IsUnitWord(name->name.text) || scope.Find(name->name.text).binding != nullptr)
    return false;
  Fail(DiagnosticCode::kSpacedUnit, name->name.range, absl::StrCat("`", name->name.text, "` is not defined"),
       "read as a division by a name",
       {absl::StrCat("a unit has no blanks: write `", number->digits, " ", number->unit, "/", name->name.text, "`")});
  return true;
}

std::optional<Value> Evaluator::EvaluateBinary(const ast::BinaryExpr& binary, SourceRange range, Scope& scope) {
  using Op = ast::BinaryOperator;
  if (IsSpacedUnit(binary, scope)) return std::nullopt;
  if (binary.op == Op::kAnd || binary.op == Op::kOr) return EvaluateLogic(binary, range, scope);
  const auto left = Evaluate(binary.operands[0], scope);
  // In `3 USD / GPU / h` the first blank is reported; the rest follows from it.
  const auto* name = std::get_if<ast::NameExpr>(&binary.operands[1].node);
  if (!left && name != nullptr && IsUnitWord(name->name.text)) return std::nullopt;
  const auto right = Evaluate(binary.operands[1], scope);
  if (!left || !right) return std::nullopt;
  if (binary.op == Op::kIn) return Contains(binary, *left, *right, range);
  if (binary.op >= Op::kEqual && binary.op <= Op::kGreaterEqual) return Compare(binary, *left, *right, range);
  const auto* a = left->As<Amount>();
  const auto* b = right->As<Amount>();
  if (a == nullptr || b == nullptr) return OperandMismatch(binary, *left, *right, "needs two numbers");
  if (binary.op == Op::kRange) {
    if (!a->dimension.is_number() || !b->dimension.is_number() || !a->value.is_integer() || !b->value.is_integer()) {
      return OperandMismatch(binary, *left, *right, "needs two whole numbers");
    }
    return Value{RangeValue{a->value, b->value}, range};
  }
  return Arithmetic(binary, *a, *b, range);
}

// The right side is evaluated, and may fail, only when it decides.
std::optional<Value> Evaluator::EvaluateLogic(const ast::BinaryExpr& binary, SourceRange range, Scope& scope) {
  const bool is_and = binary.op == ast::BinaryOperator::kAnd;
  const auto left = EvaluateTruth(binary.operands[0], scope, is_and ? "`and`" : "`or`");
  if (!left) return std::nullopt;
  if (*left != is_and) return Value{*left, range};
  const auto right = EvaluateTruth(binary.operands[1], scope, is_and ? "`and`" : "`or`");
  if (!right) return std::nullopt;
  return Value{*right, range};
}

std::optional<Value> Evaluator::Contains(const ast::BinaryExpr& binary, const Value& element, const Value& collection,
                                         SourceRange range) {
  if (const auto* list = collection.As<ListValue>()) {
    const bool found = std::any_of(list->elements.begin(), list->elements.end(),
                                   [&](const Value& other) { return EqualValues(element, other); });
    return Value{found, range};
  }
  const auto* text = element.As<TextValue>();
  const auto* record = collection.As<RecordValue>();
  if (text != nullptr && record != nullptr) return Value{record->Find(text->text) != nullptr, range};
  const auto* amount = element.As<Amount>();
  const auto* span = collection.As<RangeValue>();
  if (amount != nullptr && span != nullptr && amount->dimension.is_number()) {
    const bool inside = amount->value.is_integer() && !(amount->value < span->first) && !(span->last < amount->value);
    return Value{inside, range};
  }
  return OperandMismatch(binary, element, collection, "needs a list, a range or the keys of a map");
}

std::nullopt_t Evaluator::OperandMismatch(const ast::BinaryExpr& binary, const Value& left, const Value& right,
                                          absl::string_view what) {
  std::vector<std::string> helps;
  if (binary.op == ast::BinaryOperator::kAdd && (left.As<TextValue>() != nullptr || right.As<TextValue>() != nullptr)) {
    helps.push_back("texts are joined inside a string: `\"${a}${b}\"`");
  }
  return Fail(
      DiagnosticCode::kTypeMismatch, binary.op_range,
      absl::StrCat("`", Symbol(binary.op), "` ", what, ", found ", DescribeValue(left), " and ", DescribeValue(right)),
      "", std::move(helps));
}

std::optional<Value> Evaluator::Arithmetic(const ast::BinaryExpr& binary, const Amount& left, const Amount& right,
                                           SourceRange range) {
  using Op = ast::BinaryOperator;
  const bool is_sum = binary.op == Op::kAdd || binary.op == Op::kSubtract;
  if (is_sum && left.dimension != right.dimension) {
    sink_.Report({.code = DiagnosticCode::kOperatorDimension,
                  .message = absl::StrCat(binary.op == Op::kAdd ? "cannot add " : "cannot subtract ",
                                          Describe(left.dimension), " and ", Describe(right.dimension)),
                  .primary = {binary.op_range, ""},
                  .secondary = {{binary.operands[0].range, Describe(left.dimension)},
                                {binary.operands[1].range, Describe(right.dimension)}},
                  .notes = {},
                  .helps = {}});
    return std::nullopt;
  }
  if (binary.op == Op::kDivide && right.value.is_zero()) {
    return Fail(DiagnosticCode::kDivideByZero, binary.operands[1].range, "division by zero", "this is zero");
  }
  const auto value = binary.op == Op::kAdd        ? left.value.Add(right.value)
                     : binary.op == Op::kSubtract ? left.value.Subtract(right.value)
                     : binary.op == Op::kMultiply ? left.value.Multiply(right.value)
                                                  : left.value.Divide(right.value);
  if (!value) return Fail(DiagnosticCode::kOverflow, range, "this value is too large to represent");
  if (is_sum) return Of({*value, left.dimension, left.unit, left.unit_factor}, range);
  const Dimension dimension =
      binary.op == Op::kMultiply ? left.dimension * right.dimension : left.dimension / right.dimension;
  if (IsOversized(dimension)) {
    return Fail(DiagnosticCode::kOperatorDimension, range, "this product of units has no meaning");
  }
  // Scaling by a plain number keeps the author's unit in messages.
  if (!dimension.is_number() && right.dimension.is_number()) {
    return Of({*value, dimension, left.unit, left.unit_factor}, range);
  }
  if (!dimension.is_number() && left.dimension.is_number() && binary.op == Op::kMultiply) {
    return Of({*value, dimension, right.unit, right.unit_factor}, range);
  }
  Amount number = MakeAmount(*value, dimension);
  // `a / b * 100%` is meant as a percentage.
  const Amount* percent = left.unit == "%" ? &left : right.unit == "%" ? &right : nullptr;
  if (binary.op == Op::kMultiply && dimension.is_number() && percent != nullptr && percent->value == Rational(1)) {
    number.unit = percent->unit;
    number.unit_factor = percent->unit_factor;
  }
  return Of(std::move(number), range);
}

std::optional<Value> Evaluator::Compare(const ast::BinaryExpr& binary, const Value& left, const Value& right,
                                        SourceRange range) {
  using Op = ast::BinaryOperator;
  const bool is_equality = binary.op == Op::kEqual || binary.op == Op::kNotEqual;
  const auto* a = std::get_if<Amount>(&left.content);
  const auto* b = std::get_if<Amount>(&right.content);
  if (a == nullptr || b == nullptr) {
    const auto* date_a = left.As<DateValue>();
    const auto* date_b = right.As<DateValue>();
    if (date_a != nullptr && date_b != nullptr) return Value{Ordered(binary.op, date_a->text, date_b->text), range};
    const bool same_kind = left.content.index() == right.content.index();
    const bool has_none = left.As<NoneValue>() != nullptr || right.As<NoneValue>() != nullptr;
    const bool is_secret = left.As<SecretValue>() != nullptr || right.As<SecretValue>() != nullptr;
    if (!is_equality || is_secret || !(same_kind || has_none)) {
      return OperandMismatch(binary, left, right, "cannot compare these");
    }
    return Value{EqualValues(left, right) == (binary.op == Op::kEqual), range};
  }
  if (a->dimension == b->dimension.Inverse() && !a->dimension.is_number()) {
    return Fail(DiagnosticCode::kReciprocal, right.range,
                absl::StrCat("the left side is ", Describe(a->dimension), " but this is its reciprocal, ",
                             Describe(b->dimension)),
                "", {ReciprocalHelp(*b, "")});
  }
  if (a->dimension != b->dimension) {
    return Fail(DiagnosticCode::kOperatorDimension, binary.op_range,
                absl::StrCat("cannot compare ", Describe(a->dimension), " with ", Describe(b->dimension)));
  }
  return Value{Ordered(binary.op, a->value, b->value), range};
}

}  // namespace sail
