// The tree of one .sail file, as written: names unresolved, units unchecked. Immutable after parsing; what later phases
// learn goes into their own tables. Every node carries the range it was read from.
#pragma once

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
struct StringExpr { std::string value; };      // escapes resolved
struct BoolExpr { bool value = false; };
struct NoneExpr {};
struct NameExpr { Identifier name; };
struct MemberExpr { std::vector<Expr> base; Identifier member; };  // base has one element
struct ListExpr { std::vector<Expr> elements; };
enum class UnaryOperator { kNegate, kNot };
struct UnaryExpr { UnaryOperator op; std::vector<Expr> operand; };  // one element
enum class BinaryOperator { kAdd, kSubtract, kMultiply, kDivide, kRange, kEqual, kNotEqual, kLess, kLessEqual,
                            kGreater, kGreaterEqual, kAnd, kOr };
struct BinaryExpr {
  BinaryOperator op;
  SourceRange op_range;
  std::vector<Expr> operands;  // left, right
};

struct Expr {
  std::variant<NumberExpr, StringExpr, BoolExpr, NoneExpr, NameExpr, MemberExpr, ListExpr, UnaryExpr, BinaryExpr> node;
  SourceRange range;
};

struct Assignment {
  Path target;  // `price.spot = …` has two parts
  Expr value;
  SourceRange range;
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
  std::optional<Path> type;  // `let t: iters/s`: one part holding the text "iters/s"
  Expr value;
  SourceRange range;
};

struct Block {
  Identifier kind;                  // "pool"
  std::optional<Identifier> label;  // fast, "v100-eu"
  bool label_is_string = false;
  std::vector<Body> body;           // one element
  SourceRange header;               // kind and label
  SourceRange range;                // whole block
};

using Statement = std::variant<Assignment, Objective, Let, Link, Block>;
struct Body {
  std::vector<Statement> statements;
  SourceRange range;  // braces included
};

struct Import {
  std::string path;  // "std/gcp"
  SourceRange path_range;
  Identifier alias;
  SourceRange range;
};
using Item = std::variant<Import, Let, Link, Block>;

struct Spec {
  SourceId file = SourceId(-1);
  int edition = 1;
  std::vector<Item> items;
};

}  // namespace sail::ast
