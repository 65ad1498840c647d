// Exact evaluation of expressions. Names are looked up in the scope of the expression; each let, param, block and
// attribute is evaluated once, when it is first needed; one that needs itself is SAIL0310.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/diagnostic.h"
#include "compiler/base/file_system.h"
#include "compiler/passes/checked_block.h"
#include "compiler/passes/modules.h"
#include "compiler/passes/scope.h"
#include "compiler/passes/value.h"

namespace sail {

// Expands blocks on demand: what the evaluator needs of the expander.
class BlockSource {
 public:
  virtual ~BlockSource() = default;
  // The block that `binding`, found in `scope`, stands for; null when an error was reported.
  virtual CheckedBlock* BlockOf(Binding& binding, Scope& scope, const ast::Identifier& use) = 0;
  // Makes the blocks of loops at the top level (Module::generated).
  virtual void ExpandLoops(Module& module) = 0;
};

// A value for a param from outside the file: `-D name=value`, or a line of --params.
using Definition = ast::Assignment;

// Texts that templates and `join` make are no longer than this.
inline constexpr size_t kLongestText = 1 << 20;

// One use of a name, for editors: what stands there and where it was declared.
struct Use {
  SourceRange range;
  SourceRange declaration;
};

class Evaluator {
 public:
  Evaluator(ModuleSet& modules, const SourceManager& sources, const FileSystem& files,
            const std::vector<Definition>& definitions, DiagnosticSink& sink)
      : modules_(modules), sources_(sources), files_(files), definitions_(definitions), sink_(sink) {}
  void set_blocks(BlockSource* blocks) { blocks_ = blocks; }

  // The value, its range being that of `expr`; nullopt when an error was reported (now or by an earlier use).
  std::optional<Value> Evaluate(const ast::Expr& expr, Scope& scope);
  // As Evaluate, where a name may be one of `words`, which are no names (spot, on_demand). The value is then a text,
  // or a list of texts. The words come first: they are never names.
  std::optional<Value> EvaluateWords(const ast::Expr& expr, Scope& scope, const std::vector<std::string>& words);
  // `na.pool."v100-eu"` as an expression.
  std::optional<Value> EvaluatePath(const ast::Path& path, Scope& scope);
  // What a let or param is worth; checks its declared type and, for a param, its `where`.
  std::optional<Value> ValueOf(Binding& binding, Scope& owner, const ast::Identifier& use);
  // What an attribute was given, before conversion.
  std::optional<Value> RawValue(CheckedAttribute& attribute, const ast::Identifier& use);

  // Charges `count` values against the bound of one compilation; false, and reported at `range`, when it is exceeded.
  bool Charge(int64_t count, SourceRange range);
  // What is being evaluated: reports a cycle (SAIL0310) or a chain that is too long (SAIL0119).
  bool Enter(const void* what, const ast::Identifier& use);
  void Leave();

  const std::vector<Use>& uses() const { return uses_; }
  void RecordUse(SourceRange range, SourceRange declaration) { uses_.push_back({range, declaration}); }
  std::deque<Scope>& scopes() { return scopes_; }
  // A scope that lives as long as the evaluator.
  Scope& NewScope(Scope* parent);

  // Rounds of a loop over a list, set, range (elements) or map (keys, or keys and values). Calls `round` with the
  // values of the one or two variables; stops when it returns false. Returns false when something was reported.
  template <class Round>
  bool ForEach(const Value& collection, bool two_variables, Round round);

 private:
  std::optional<Value> EvaluateNode(const ast::Expr& expr, Scope& scope);
  std::optional<Value> EvaluateNumber(const ast::NumberExpr& number, SourceRange range);
  std::optional<Value> EvaluateName(const ast::Identifier& name, Scope& scope);
  std::optional<Value> EvaluateMember(const ast::MemberExpr& member, SourceRange range, Scope& scope);
  std::optional<Value> MemberOf(const Value& base, const ast::Identifier& member);
  std::optional<Value> MemberOfModule(Module& module, const ast::Identifier& member);
  std::optional<Value> MemberOfBlock(CheckedBlock& block, const ast::Identifier& member);
  std::optional<Value> MemberOfKind(const KindValue& kind, const ast::Identifier& member);
  std::optional<Value> EvaluateIndex(const ast::IndexExpr& index, SourceRange range, Scope& scope);
  std::optional<Value> EvaluateTemplate(const ast::TemplateExpr& text, SourceRange range, Scope& scope);
  std::optional<Value> EvaluateList(const ast::ListExpr& list, SourceRange range, Scope& scope);
  std::optional<Value> EvaluateRecord(const ast::RecordExpr& record, SourceRange range, Scope& scope);
  std::optional<Value> EvaluateConditional(const ast::ConditionalExpr& conditional, Scope& scope);
  std::optional<Value> EvaluateComprehension(const ast::ComprehensionExpr& loop, SourceRange range, Scope& scope);
  std::optional<Value> EvaluateCall(const ast::CallExpr& call, SourceRange range, Scope& scope);
  std::optional<Value> EvaluateUnary(const ast::UnaryExpr& unary, SourceRange range, Scope& scope);
  std::optional<Value> EvaluateBinary(const ast::BinaryExpr& binary, SourceRange range, Scope& scope);
  std::optional<Value> EvaluateLogic(const ast::BinaryExpr& binary, SourceRange range, Scope& scope);
  std::optional<Value> Contains(const ast::BinaryExpr& binary, const Value& element, const Value& collection,
                                SourceRange range);
  std::optional<bool> EvaluateTruth(const ast::Expr& expr, Scope& scope, absl::string_view what);

  std::optional<Value> ValueOfParam(const ast::Param& param, Scope& owner);
  bool WhereHolds(const ast::Param& param, const Value& value, SourceRange given, Scope& owner);
  // Checks `value` against a declared type and adopts its unit; false when something was reported.
  bool Conform(const ast::TypeRef& type, const ast::Identifier& name, Value& value);
  bool ConformAmount(const ast::TypeRef& type, const ast::Identifier& name, Value& value);
  std::optional<Value> EvaluateAs(const std::optional<ast::TypeRef>& type, const ast::Expr& expr, Scope& scope);

  std::optional<Value> Arithmetic(const ast::BinaryExpr& binary, const Amount& left, const Amount& right,
                                  SourceRange range);
  std::optional<Value> Compare(const ast::BinaryExpr& binary, const Value& left, const Value& right, SourceRange range);
  bool IsSpacedUnit(const ast::BinaryExpr& binary, Scope& scope);
  std::nullopt_t Fail(DiagnosticCode code, SourceRange range, std::string message, std::string label = "",
                      std::vector<std::string> helps = {});
  std::nullopt_t NoMember(const ast::Identifier& member, std::string message, const std::vector<std::string>& names,
                          DiagnosticCode code = DiagnosticCode::kUndefinedName);
  // Reports SAIL0119 and stops all further evaluation.
  std::nullopt_t TooLarge(SourceRange range, absl::string_view message);
  std::nullopt_t OperandMismatch(const ast::BinaryExpr& binary, const Value& left, const Value& right,
                                 absl::string_view what);

  friend class Builtins;

  struct Visit {
    const void* what;
    ast::Identifier use;  // that led here
  };

  ModuleSet& modules_;
  const SourceManager& sources_;
  const FileSystem& files_;
  const std::vector<Definition>& definitions_;
  DiagnosticSink& sink_;
  BlockSource* blocks_ = nullptr;
  std::deque<Scope> scopes_;
  std::vector<Visit> active_;
  std::vector<Use> uses_;
  int depth_ = 0;
  int64_t charged_ = 0;
  bool too_large_ = false;
  int nearest_left_ = 20;  // undefined names that are compared with all others, which takes time
};

// Definitions that name no param of the main file are reported (SAIL0304).
void CheckDefinitions(const Module& main, const std::vector<Definition>& definitions, DiagnosticSink& sink);

// The named built-in functions, sorted; `sailc schema` and editors list them.
std::vector<std::pair<std::string, std::string>> BuiltinFunctions();  // name and one line

// Converts a diagnostic about a unit spelling to one about its place in the file.
Diagnostic UnitDiagnostic(const UnitError& error, const ast::NumberExpr& number);

// The help for comparing `metric` in `expected` with a value of the reciprocal dimension: "`5 s/iter` is `0.2
// iters/s`".
std::string ReciprocalHelp(const Amount& found, absl::string_view expected_unit);

template <class Round>
bool Evaluator::ForEach(const Value& collection, bool two_variables, Round round) {
  const auto wrong = [&](absl::string_view wanted) {
    Fail(DiagnosticCode::kTypeMismatch, collection.range,
         absl::StrCat("`for` runs over ", wanted, ", found ", DescribeValue(collection)));
    return false;
  };
  if (const auto* record = collection.As<RecordValue>()) {
    for (const auto& [key, value] : record->fields) {
      Value text{.content = TextValue{key}, .range = collection.range};
      if (!Charge(1, collection.range) || !round(text, two_variables ? &value : nullptr)) return false;
    }
    return true;
  }
  if (const auto* range = collection.As<RangeValue>()) {
    if (two_variables) return wrong("a map or a list of pairs when it has two variables");
    const auto first = range->first.ToInt64(), last = range->last.ToInt64();
    if (!first || !last) return TooLarge(collection.range, "this range has too many values"), false;
    for (int64_t n = *first; n <= *last; ++n) {
      Value number{.content = MakeAmount(Rational(n), Dimension{}), .range = collection.range};
      if (!Charge(1, collection.range) || !round(number, static_cast<const Value*>(nullptr))) return false;
      if (n == *last) break;  // there may be no number after it
    }
    return true;
  }
  const auto* list = collection.As<ListValue>();
  if (list == nullptr) return wrong("a list, a set, a range or a map");
  for (const Value& element : list->elements) {
    if (!Charge(1, collection.range)) return false;
    if (!two_variables) {
      if (!round(element, static_cast<const Value*>(nullptr))) return false;
      continue;
    }
    const auto* pair = element.As<ListValue>();
    if (pair == nullptr || pair->elements.size() != 2)
      return wrong("a map or a list of pairs when it has two variables");
    if (!round(pair->elements[0], &pair->elements[1])) return false;
  }
  return true;
}

}  // namespace sail
