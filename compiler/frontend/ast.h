// The tree of one .sail file, as written: names unresolved, units unchecked. Immutable after parsing; what later phases
// learn goes into their own tables. Every node carries the range it was read from.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/base/source.h"

namespace sail::ast {

struct Identifier {
  std::string text;  // identifier, or the contents of a string label
  SourceRange range;
};
// na.pool."v100-eu"
struct Path {
  std::vector<Identifier> parts;
  SourceRange range;
};

struct Expr;

// 16, 0.02 USD/GB, 92%, $3.67/h. `unit` is the spelling after the number ("USD/GB", "%", "USD/h" for $…/h), or empty.
struct NumberExpr {
  std::string digits;  // "50_257"
  std::string unit;
  SourceRange digits_range;
  SourceRange unit_range;  // of the unit word(s); invalid when there is no unit
};
struct StringExpr {
  std::string value;
};  // escapes resolved; text blocks too, without their common indentation
// "a100-${z}": texts[0], values[0], texts[1], … — one text more than values.
struct TemplateExpr {
  std::vector<std::string> texts;
  std::vector<Expr> values;
};
struct DateExpr {
  std::string text;
};  // "2026-11-30", a day of the calendar
struct BoolExpr {
  bool value = false;
};
struct NoneExpr {};
struct NameExpr {
  Identifier name;
};
struct MemberExpr {
  std::vector<Expr> base;
  Identifier member;
};  // base has one element
struct IndexExpr {
  std::vector<Expr> operands;
};  // base, index
struct Argument;
struct CallExpr {
  std::vector<Expr> callee;
  std::vector<Argument> arguments;
};  // callee has one element
struct ListExpr {
  std::vector<Expr> elements;
};
struct Field;
struct RecordExpr {
  std::vector<Field> fields;
};  // { "us-central1-a" = 24 nodes }
struct ConditionalExpr {
  std::vector<Expr> operands;
};  // condition, then, else
// [element for first, second in collection if condition]
struct ComprehensionExpr {
  Identifier first;
  std::optional<Identifier> second;
  std::vector<Expr> operands;  // element, collection and, when there is one, condition
};
enum class UnaryOperator { kNegate, kNot };
struct UnaryExpr {
  UnaryOperator op;
  std::vector<Expr> operand;
};  // one element
enum class BinaryOperator {
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kRange,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kIn,
  kAnd,
  kOr
};
struct BinaryExpr {
  BinaryOperator op;
  SourceRange op_range;
  std::vector<Expr> operands;  // left, right
};

struct Expr {
  std::variant<NumberExpr, StringExpr, TemplateExpr, DateExpr, BoolExpr, NoneExpr, NameExpr, MemberExpr, IndexExpr,
               CallExpr, ListExpr, RecordExpr, ConditionalExpr, ComprehensionExpr, UnaryExpr, BinaryExpr>
      node;
  SourceRange range;
};
struct Argument {
  std::optional<Identifier> name;  // f(x, hidden = 4096)
  Expr value;
};
struct Field {
  Identifier key;
  Expr value;
};

// Whether `holds` for `expr` or a part of it.
template <class Predicate>
bool AnyPart(const Expr& expr, const Predicate& holds) {
  if (holds(expr)) return true;
  const auto any = [&](const std::vector<Expr>& parts) {
    return std::any_of(parts.begin(), parts.end(), [&](const Expr& part) { return AnyPart(part, holds); });
  };
  if (const auto* text = std::get_if<TemplateExpr>(&expr.node)) return any(text->values);
  if (const auto* member = std::get_if<MemberExpr>(&expr.node)) return any(member->base);
  if (const auto* index = std::get_if<IndexExpr>(&expr.node)) return any(index->operands);
  if (const auto* list = std::get_if<ListExpr>(&expr.node)) return any(list->elements);
  if (const auto* choice = std::get_if<ConditionalExpr>(&expr.node)) return any(choice->operands);
  if (const auto* loop = std::get_if<ComprehensionExpr>(&expr.node)) return any(loop->operands);
  if (const auto* unary = std::get_if<UnaryExpr>(&expr.node)) return any(unary->operand);
  if (const auto* binary = std::get_if<BinaryExpr>(&expr.node)) return any(binary->operands);
  const auto any_value = [&](const auto& parts) {
    return std::any_of(parts.begin(), parts.end(), [&](const auto& part) { return AnyPart(part.value, holds); });
  };
  if (const auto* call = std::get_if<CallExpr>(&expr.node)) return any_value(call->arguments);
  if (const auto* record = std::get_if<RecordExpr>(&expr.node)) return any_value(record->fields);
  return false;
}

// List<String>, Map<nodes>, Ref<pool>, iters/s, Duration?
struct TypeRef {
  std::string name;  // "List", "iters/s"
  std::vector<TypeRef> arguments;
  bool is_optional = false;
  SourceRange range;
};

struct Assignment {
  std::optional<SourceRange> override_word;
  Path target;  // `price.spot = …` has two parts
  Expr value;
  SourceRange range;  // from `override` on
};

struct ObjectiveTerm {
  bool maximize = false;
  Expr metric;
  SourceRange range;  // from the keyword
};
struct NamedConstraint {
  std::optional<Identifier> name;  // absent: SAIL0507, reported by the lowering
  Expr condition;
};
struct Objective {
  std::vector<ObjectiveTerm> terms;
  std::vector<NamedConstraint> constraints;
  SourceRange range;  // of the first keyword
};

enum class LinkScope { kNone, kWithin, kAcross };
struct LinkEnd {
  std::optional<Path> zone;  // absent: `*`
  bool is_string = false;    // "us-central1-a"; otherwise the name of a zone, or of a value that holds one
  SourceRange range;
};
struct Body;
struct Link {
  LinkEnd from, to;
  bool both_ways = true;  // `<->`; false: `->`
  LinkScope scope = LinkScope::kNone;
  Identifier scope_level;  // "zone" or "region" when scope is set
  std::vector<Body> body;  // one element
  SourceRange range;       // header, from `link` to before `{`
};

struct Let {
  Identifier name;
  std::optional<TypeRef> type;
  Expr value;
  std::string doc;  // the `##` lines above it, without the marks
  SourceRange range;
};

struct Param {
  Identifier name;
  TypeRef type;
  std::optional<Expr> value;  // the default
  std::optional<Expr> where;
  std::string doc;
  SourceRange range;
};

struct Block {
  Identifier kind;                  // "pool"
  std::optional<Identifier> label;  // fast, "v100-eu"; as written when it is a template
  bool label_is_string = false;
  std::vector<Expr> label_template;  // "a100-${z}": one TemplateExpr, else empty
  std::optional<Identifier> alias;   // `as eu`
  std::optional<Path> base;          // `extends gcp.us_central1`
  std::vector<Body> body;            // one element
  std::string doc;
  SourceRange header;  // all before the body
  SourceRange range;   // whole block
};

// for z, n in team_quota if n > 0 nodes { … }
struct For {
  Identifier first;
  std::optional<Identifier> second;
  Expr collection;
  std::optional<Expr> condition;
  std::vector<Body> body;  // one element
  SourceRange header;
  SourceRange range;
};

// remove pool t4_default; remove price
struct Remove {
  Identifier kind;
  std::optional<Identifier> label;
  SourceRange range;
};

struct Assert {
  bool is_warning = false;  // `warn`
  Expr condition;
  std::optional<Expr> message;  // a string or a template
  SourceRange range;
};

using Statement = std::variant<Assignment, Objective, Let, Link, Block, For, Remove, Assert>;
struct Body {
  std::vector<Statement> statements;
  SourceRange range;  // braces included
};

struct Import {
  std::string path;  // "std/gcp@2026.11", "./hardware.sail"
  SourceRange path_range;
  std::optional<Identifier> sha256;  // of the file's bytes, in hexadecimal
  Identifier alias;
  SourceRange range;
};
using Item = std::variant<Import, Param, Let, Assert, For, Link, Block>;

struct Spec {
  SourceId file = SourceId(-1);
  int edition = 1;
  std::vector<Item> items;
};

}  // namespace sail::ast
