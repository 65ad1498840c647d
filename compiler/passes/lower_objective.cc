// Objective and constraints. The search can be guided by `metric <= value` and `metric >= value`, nothing else.
#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/ir/names.h"
#include "compiler/passes/lower_job.h"
#include "compiler/passes/metrics.h"

namespace sail {
namespace {

using Op = ast::BinaryOperator;

std::vector<std::string> MetricNames() {
  std::vector<std::string> names;
  for (const auto& [metric, name] : ir::kMetrics) names.push_back(std::string(name));
  return names;
}

// A metric of the whole job is that of an iteration times the iterations. `total_cost` is of all steps of the job,
// `total_cost(n)` of n iterations: where n is another number, a limit on it becomes one on the metric of an iteration.
struct JobMetric {
  ir::Metric metric;
  ir::Metric of_iteration;
};
constexpr JobMetric kJobMetrics[] = {{ir::Metric::kTotalCost, ir::Metric::kCostPerIter},
                                     {ir::Metric::kJobTime, ir::Metric::kIterTime}};

const JobMetric* JobMetricOf(const ast::Expr& expr) {
  const auto* call = std::get_if<ast::CallExpr>(&expr.node);
  const auto* name = call != nullptr ? std::get_if<ast::NameExpr>(&call->callee.front().node) : nullptr;
  if (name == nullptr || call->arguments.size() != 1) return nullptr;
  for (const JobMetric& metric : kJobMetrics) {
    if (name->name.text == ir::ToString(metric.metric)) return &metric;
  }
  return nullptr;
}

std::optional<ir::Metric> MetricOf(const ast::Expr& expr) {
  if (const JobMetric* metric = JobMetricOf(expr)) return metric->metric;
  const auto* name = std::get_if<ast::NameExpr>(&expr.node);
  return name != nullptr ? ir::ValueOf(ir::kMetrics, name->name.text) : std::nullopt;
}

bool IsGpuMemory(const ast::Expr& expr) {
  const auto* member = std::get_if<ast::MemberExpr>(&expr.node);
  if (member == nullptr || member->member.text != "memory") return false;
  const auto* name = std::get_if<ast::NameExpr>(&member->base.front().node);
  return name != nullptr && name->name.text == "gpu";
}

class ObjectiveLowering {
 public:
  ObjectiveLowering(const CheckedBlock& block, Evaluator& evaluator, ir::Job& job,
                    std::map<std::string, SourceRange>& ranges, DiagnosticSink& sink)
      : scope_(*block.scope),
        objective_(*block.objective),
        evaluator_(evaluator),
        job_(job),
        ranges_(ranges),
        sink_(sink) {}

  bool Lower() {
    const int errors = sink_.reports();
    bool complete = true;
    for (const ast::ObjectiveTerm& term : objective_.terms) {
      const auto metric = MetricOf(term.metric);
      if (metric) job_.objective.push_back({.metric = *metric, .maximize = term.maximize});
      if (!metric) ReportNoMetric(term.metric);
      if (metric && JobMetricOf(term.metric) != nullptr) complete &= Iterations(term.metric).has_value();
    }
    for (const ast::NamedConstraint& constraint : objective_.constraints) complete &= LowerConstraint(constraint);
    std::sort(job_.constraints.begin(), job_.constraints.end(),
              [](const ir::Constraint& a, const ir::Constraint& b) { return a.name < b.name; });
    return complete && sink_.reports() == errors;
  }

 private:
  bool Report(DiagnosticCode code, SourceRange range, std::string message, std::vector<std::string> helps = {}) {
    sink_.Report(code, range, std::move(message), std::move(helps));
    return false;
  }

  void ReportNoMetric(const ast::Expr& expr) {
    const auto* name = std::get_if<ast::NameExpr>(&expr.node);
    if (name == nullptr) {
      ReportShape(expr.range, "an objective is a metric", "one of: " + absl::StrJoin(MetricNames(), ", "));
      return;
    }
    Report(DiagnosticCode::kUnknownMetric, expr.range, absl::StrCat("`", name->name.text, "` is not a metric"),
           DidYouMean(Nearest(name->name.text, MetricNames()), "one of: " + absl::StrJoin(MetricNames(), ", ")));
  }

  bool ReportShape(SourceRange range, std::string message, std::string help) {
    return Report(DiagnosticCode::kConstraintShape, range, std::move(message), {std::move(help)});
  }

  bool LowerConstraint(const ast::NamedConstraint& constraint) {
    const SourceRange range = constraint.condition.range;
    if (!constraint.name) {
      return Report(DiagnosticCode::kNamelessConstraint, range, "constraints need a name",
                    {"write `NAME: …`; the name appears in reports and diffs"});
    }
    const std::string& name = constraint.name->text;
    if (!ranges_.emplace(name, range).second) {
      return Report(DiagnosticCode::kDuplicateLabel, constraint.name->range,
                    absl::StrCat("constraint `", name, "` is declared twice"), {"rename one of them"});
    }
    const auto* comparison = std::get_if<ast::BinaryExpr>(&constraint.condition.node);
    const bool is_limit =
        comparison != nullptr && (comparison->op == Op::kLessEqual || comparison->op == Op::kGreaterEqual);
    if (!is_limit) {
      return ReportShape(comparison != nullptr ? comparison->op_range : range, "this cannot guide the search",
                         "write `metric <= value` or `metric >= value`");
    }
    const auto left = MetricOf(comparison->operands[0]);
    const auto right = MetricOf(comparison->operands[1]);
    if (left && right) {
      return ReportShape(range, "a limit compares a metric with a value, not two metrics",
                         "write `metric <= value` or `metric >= value`");
    }
    if (!left && !right) return ReportUnknownSides(*comparison);
    const bool at_most = (comparison->op == Op::kLessEqual) == left.has_value();
    return LowerLimit(name, left ? *left : *right, at_most, *comparison, left ? 1 : 0);
  }

  // Neither side is a metric: a misspelt one, or no limit at all.
  bool ReportUnknownSides(const ast::BinaryExpr& comparison) {
    for (const ast::Expr& side : comparison.operands) {
      const auto* name = std::get_if<ast::NameExpr>(&side.node);
      if (name == nullptr || scope_.Find(name->name.text).binding != nullptr) continue;
      ReportNoMetric(side);
      return false;
    }
    return ReportShape(comparison.op_range, "this compares no metric",
                       "one side must be one of: " + absl::StrJoin(MetricNames(), ", "));
  }

  bool LowerLimit(const std::string& name, ir::Metric metric, bool at_most, const ast::BinaryExpr& comparison,
                  int value_side) {
    const ast::Expr& value = comparison.operands[value_side];
    auto limit = metric == ir::Metric::kPeakMemory ? MemoryLimit(value, at_most, comparison)
                                                   : PlainLimit(metric, value, comparison);
    if (!limit) return false;
    const ast::Expr& metric_side = comparison.operands[1 - value_side];
    if (const JobMetric* of_job = JobMetricOf(metric_side)) {
      const auto iterations = Iterations(metric_side);
      if (!iterations) return false;
      if (*iterations != Rational(job_.steps)) {
        metric = of_job->of_iteration;
        limit = limit->Divide(*iterations);
        if (!limit) {
          return Report(DiagnosticCode::kOverflow, value.range, "this limit is too fine to represent exactly");
        }
      }
    }
    if (metric == ir::Metric::kPeakMemory && at_most) {
      // The first limit replaces the default, further ones can only tighten it.
      job_.memory_limit = has_memory_limit_ ? std::min(job_.memory_limit, limit->ToDouble()) : limit->ToDouble();
      has_memory_limit_ = true;
    }
    if (at_most && limit->is_zero()) {
      sink_.Report(DiagnosticCode::kZeroLimit, value.range,
                   absl::StrCat("a limit of 0 ", MetricUnit(metric), " leaves no plan"),
                   {"leave the limit out if there is none"});
    }
    job_.constraints.push_back({.name = name, .metric = metric, .at_most = at_most, .limit = limit->ToDouble()});
    return true;
  }

  // How many iterations `total_cost(n)` speaks of.
  std::optional<Rational> Iterations(const ast::Expr& call) {
    const ast::Expr& argument = std::get<ast::CallExpr>(call.node).arguments.front().value;
    const auto value = evaluator_.Evaluate(argument, scope_);
    if (!value) return std::nullopt;
    const auto* amount = value->As<Amount>();
    const bool fits = amount != nullptr && amount->dimension == KnownUnit("iters").dimension;
    if (fits && !amount->value.is_negative() && !amount->value.is_zero()) return amount->value;
    Report(DiagnosticCode::kTypeMismatch, argument.range,
           absl::StrCat("a number of iterations above zero is expected, found ",
                        fits ? FormatValue(*value) : DescribeValue(*value)));
    return std::nullopt;
  }

  std::optional<Rational> PlainLimit(ir::Metric metric, const ast::Expr& expr, const ast::BinaryExpr& comparison) {
    const auto value = evaluator_.Evaluate(expr, scope_);
    if (!value) return std::nullopt;
    const auto* amount = std::get_if<Amount>(&value->content);
    const absl::string_view unit = MetricUnit(metric);
    const Dimension expected = KnownUnit(unit).dimension;
    const absl::string_view name = ir::ToString(metric);
    if (amount != nullptr && amount->dimension == expected) return amount->value;
    if (amount == nullptr) {
      Report(DiagnosticCode::kTypeMismatch, expr.range,
             absl::StrCat("`", name, "` is compared with ", DescribeValue(*value), ", not with a value in ", unit));
    } else if (amount->dimension.is_number()) {
      Report(DiagnosticCode::kBareNumber, expr.range, absl::StrCat("the limit of `", name, "` needs a unit"),
             {absl::StrCat("write `", Format(*amount), " ", unit, "`")});
    } else if (amount->dimension == expected.Inverse()) {
      Report(DiagnosticCode::kReciprocal, expr.range,
             absl::StrCat("`", name, "` is in ", unit, " but this is in ", amount->unit),
             {ReciprocalHelp(*amount, unit)});
    } else {
      Report(DiagnosticCode::kOperatorDimension, comparison.op_range,
             absl::StrCat("`", name, "` is in ", unit, " but the limit is ", Describe(amount->dimension)));
    }
    return std::nullopt;
  }

  // `peak_memory <= SHARE * gpu.memory`: a share, because gpus of one plan differ.
  std::optional<Rational> MemoryLimit(const ast::Expr& expr, bool at_most, const ast::BinaryExpr& comparison) {
    const auto* product = std::get_if<ast::BinaryExpr>(&expr.node);
    const ast::Expr* share = nullptr;
    if (product != nullptr && product->op == Op::kMultiply) {
      if (IsGpuMemory(product->operands[1])) share = &product->operands[0];
      if (IsGpuMemory(product->operands[0])) share = &product->operands[1];
    }
    if (!at_most || (share == nullptr && !IsGpuMemory(expr))) {
      ReportShape(comparison.op_range, "this limit of `peak_memory` cannot guide the search",
                  "write `peak_memory <= 92% * gpu.memory`");
      return std::nullopt;
    }
    if (share == nullptr) return Rational(1);
    auto value = evaluator_.Evaluate(*share, scope_);
    if (!value) return std::nullopt;
    static const AttributeSchema kShareOfMemory = {"job",
                                                   "peak_memory",
                                                   ValueType::kShare,
                                                   "%",
                                                   Presence::kRequired,
                                                   "",
                                                   Bound::kPositive,
                                                   0,
                                                   "share of the usable memory"};
    const auto checked = ConvertValue(kShareOfMemory, *std::move(value), sink_);
    if (!checked) return std::nullopt;
    return std::get<Amount>(checked->content).value;
  }

  Scope& scope_;
  const ast::Objective& objective_;
  Evaluator& evaluator_;
  ir::Job& job_;
  bool has_memory_limit_ = false;
  std::map<std::string, SourceRange>& ranges_;
  DiagnosticSink& sink_;
};

}  // namespace

bool LowerObjective(const CheckedBlock& block, Evaluator& evaluator, ir::Job& job,
                    std::map<std::string, SourceRange>& ranges, DiagnosticSink& sink) {
  return ObjectiveLowering(block, evaluator, job, ranges, sink).Lower();
}

}  // namespace sail
