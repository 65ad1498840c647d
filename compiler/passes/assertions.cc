#include "compiler/passes/assertions.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace sail {
namespace {

constexpr char kPlan[] = "plan";

bool MentionsPlan(const ast::Expr& expr, Scope& scope) {
  return ast::AnyPart(expr, [&](const ast::Expr& part) {
    const auto* name = std::get_if<ast::NameExpr>(&part.node);
    return name != nullptr && name->name.text == kPlan && scope.Find(kPlan).binding == nullptr;
  });
}

class AssertionChecker {
 public:
  AssertionChecker(Evaluator& evaluator, const SourceManager& sources, DiagnosticSink& sink)
      : evaluator_(evaluator), sources_(sources), sink_(sink) {}

  void Check(const ast::Assert& assertion, Scope& scope) {
    const auto value = evaluator_.Evaluate(assertion.condition, scope);
    if (!value) return;
    const bool* holds = value->As<bool>();
    if (holds == nullptr) {
      sink_.Report(DiagnosticCode::kTypeMismatch, assertion.condition.range,
                   absl::StrCat("an assertion needs a truth value, found ", DescribeValue(*value)));
      return;
    }
    if (*holds) return;
    Diagnostic diagnostic{.code = assertion.is_warning ? DiagnosticCode::kWarned : DiagnosticCode::kAssertFailed,
                          .message = Message(assertion, scope),
                          .primary = {assertion.condition.range, "this is false"},
                          .secondary = {},
                          .notes = {},
                          .helps = {}};
    Explain(assertion.condition, scope, diagnostic.notes);
    sink_.Report(std::move(diagnostic));
  }

 private:
  std::string Message(const ast::Assert& assertion, Scope& scope) {
    if (assertion.message) {
      const auto value = evaluator_.Evaluate(*assertion.message, scope);
      if (const auto* text = value ? value->As<TextValue>() : nullptr) return text->text;
    }
    return absl::StrCat("`", sources_.TextOf(assertion.condition.range), "` does not hold");
  }

  // The values of the sides of every comparison that took part, except literals.
  void Explain(const ast::Expr& expr, Scope& scope, std::vector<std::string>& notes) {
    const auto* binary = std::get_if<ast::BinaryExpr>(&expr.node);
    const auto* unary = std::get_if<ast::UnaryExpr>(&expr.node);
    if (unary != nullptr) return Explain(unary->operand.front(), scope, notes);
    if (binary == nullptr) return Show(expr, scope, notes);
    const bool is_and = binary->op == ast::BinaryOperator::kAnd;
    if (!is_and && binary->op != ast::BinaryOperator::kOr) {
      for (const ast::Expr& operand : binary->operands) Show(operand, scope, notes);
      return;
    }
    Explain(binary->operands[0], scope, notes);
    const auto left = evaluator_.Evaluate(binary->operands[0], scope);
    const bool* truth = left ? left->As<bool>() : nullptr;
    // The right side was looked at only if the left one did not decide.
    if (truth != nullptr && *truth == is_and) Explain(binary->operands[1], scope, notes);
  }

  void Show(const ast::Expr& expr, Scope& scope, std::vector<std::string>& notes) {
    const bool is_literal = std::holds_alternative<ast::NumberExpr>(expr.node) ||
                            std::holds_alternative<ast::StringExpr>(expr.node) ||
                            std::holds_alternative<ast::BoolExpr>(expr.node);
    if (is_literal) return;
    const auto value = evaluator_.Evaluate(expr, scope);
    if (value) notes.push_back(absl::StrCat("`", sources_.TextOf(expr.range), "` is ", FormatValue(*value)));
  }

  Evaluator& evaluator_;
  const SourceManager& sources_;
  DiagnosticSink& sink_;
};

void CheckBlock(const CheckedBlock& block, AssertionChecker& checker, DiagnosticSink& sink) {
  for (const auto& [assertion, scope] : block.asserts) {
    if (!MentionsPlan(assertion->condition, *scope)) {
      checker.Check(*assertion, *scope);
    } else if (absl::string_view(block.kind->name) != "job") {
      sink.Report(DiagnosticCode::kMisplacedStatement, assertion->range,
                  "an assertion about the plan stands in a `job` block or at the top level");
    }
  }
  for (const auto& child : block.children) CheckBlock(*child, checker, sink);
}

}  // namespace

void CheckAssertions(Analysis& analysis, const SourceManager& sources, DiagnosticSink& sink) {
  AssertionChecker checker(*analysis.evaluator, sources, sink);
  for (const auto& [assertion, scope] : analysis.blocks.asserts) {
    if (!MentionsPlan(assertion->condition, *scope)) checker.Check(*assertion, *scope);
  }
  for (const auto& block : analysis.blocks.top) CheckBlock(*block, checker, sink);
}

void CheckPlanAssertions(Analysis& analysis, const CheckedBlock& job, const Value& plan, const SourceManager& sources,
                         DiagnosticSink& sink) {
  AssertionChecker checker(*analysis.evaluator, sources, sink);
  const auto check = [&](const ast::Assert& assertion, Scope& scope) {
    if (!MentionsPlan(assertion.condition, scope)) return;
    Scope& inner = analysis.evaluator->NewScope(&scope);
    Binding binding;
    binding.state = Binding::State::kDone;
    binding.value = plan;
    binding.range = assertion.range;
    inner.names.emplace(kPlan, std::move(binding));
    checker.Check(assertion, inner);
  };
  for (const auto& [assertion, scope] : analysis.blocks.asserts) check(*assertion, *scope);
  for (const auto& [assertion, scope] : job.asserts) check(*assertion, *scope);
}

}  // namespace sail
