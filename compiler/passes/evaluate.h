// Exact evaluation of expressions. Names are looked up in the scope of the expression; each `let` and each attribute
// that is referred to is evaluated once; a value that needs itself is SAIL0310.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/base/diagnostic.h"
#include "compiler/passes/modules.h"
#include "compiler/passes/value.h"

namespace sail {

class Evaluator {
 public:
  Evaluator(const ModuleSet& modules, DiagnosticSink& sink) : modules_(modules), sink_(sink) {}

  // The value, its range being that of `expr`; nullopt when an error was reported (now or by an earlier use).
  std::optional<Value> Evaluate(const ast::Expr& expr, const Scope& scope);

  // Evaluates a let and checks its declared type.
  std::optional<Value> EvaluateLet(const ast::Let& let, const Scope& scope);

 private:
  std::optional<Value> EvaluateNode(const ast::Expr& expr, const Scope& scope);
  std::optional<Value> EvaluateNumber(const ast::NumberExpr& number, SourceRange range);
  std::optional<Value> EvaluateName(const ast::NameExpr& name, const Scope& scope);
  std::optional<Value> EvaluateMember(const ast::MemberExpr& member, SourceRange range, const Scope& scope);
  std::optional<Value> EvaluateAttribute(const ast::Block& block, const ast::Identifier& name);
  std::optional<Value> EvaluateList(const ast::ListExpr& list, SourceRange range, const Scope& scope);
  std::optional<Value> EvaluateUnary(const ast::UnaryExpr& unary, SourceRange range, const Scope& scope);
  std::optional<Value> EvaluateBinary(const ast::BinaryExpr& binary, SourceRange range, const Scope& scope);
  std::optional<Value> EvaluateOnce(const ast::Expr& expr, const Scope& scope, const ast::Identifier& name);
  std::optional<Value> EvaluateBinding(const Binding& binding, const Scope& scope, const ast::Identifier& name);

  std::optional<Value> Arithmetic(const ast::BinaryExpr& binary, const Amount& left, const Amount& right,
                                  SourceRange range);
  std::optional<Value> Compare(const ast::BinaryExpr& binary, const Value& left, const Value& right, SourceRange range);
  bool IsSpacedUnit(const ast::BinaryExpr& binary, const Scope& scope);
  bool DeclaredTypeHolds(const ast::Let& let, const Value& value);
  std::nullopt_t Fail(DiagnosticCode code, SourceRange range, std::string message, std::string label = "",
                      std::vector<std::string> helps = {});
  // Reports SAIL0119 and stops all further evaluation.
  std::nullopt_t TooLarge(SourceRange range, absl::string_view message);
  std::nullopt_t OperandMismatch(const ast::BinaryExpr& binary, const Value& left, const Value& right,
                                 absl::string_view what);

  struct Visit {
    const ast::Expr* expr;
    ast::Identifier name;  // of the use that led here
  };

  const ModuleSet& modules_;
  DiagnosticSink& sink_;
  std::map<const ast::Expr*, std::optional<Value>> done_;
  std::vector<Visit> in_progress_;
  int depth_ = 0;
  int64_t elements_ = 0;
  bool too_large_ = false;
};

// Converts a diagnostic about a unit spelling to one about its place in the file.
Diagnostic UnitDiagnostic(const UnitError& error, const ast::NumberExpr& number);

// The help for comparing `metric` in `expected` with a value of the reciprocal dimension: "`5 s/iter` is `0.2
// iters/s`".
std::string ReciprocalHelp(const Amount& found, absl::string_view expected_unit);

}  // namespace sail
