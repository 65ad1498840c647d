#include "compiler/driver/render.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "compiler/base/number_text.h"
#include "compiler/driver/alike_pipelines.h"
#include "compiler/driver/quantity_text.h"
#include "compiler/driver/report_tables.h"
#include "compiler/ir/names.h"

namespace sail::driver {
namespace {

std::string PipelinesSection(const ir::Problem& problem, const ir::Plan& plan, const ir::Report& report) {
  std::string text;
  for (const Alike& group : GroupAlike(plan)) {
    const ir::Pipeline& shape = plan.pipelines[group[0]];
    const int64_t samples = shape.samples() * static_cast<int64_t>(group.size());
    absl::StrAppend(&text, "  ", PipelinesText(group), ": ", shape.micro_batches,
                    shape.micro_batches == 1 ? " micro-batch of " : " micro-batches of ", shape.micro_batch,
                    group.size() == 1 ? "" : " each", ", ", samples, " of ",
                    CountText(problem.job.global_batch, "sample"), "\n",
                    StageTable(problem, plan, report, group).Render("    "));
  }
  return text;
}

std::string PoolsText(const ir::Problem& problem, const ir::Report& report) {
  std::vector<std::string> parts;
  for (const ir::PoolCost& pool : report.pools) {
    parts.push_back(absl::StrCat(problem.cluster.pool(pool.pool).name, " ", pool.nodes, " of ",
                                 problem.cluster.pool(pool.pool).quota));
  }
  return absl::StrJoin(parts, ", ");
}

std::string OptimizerSection(const ir::Plan& plan) {
  if (plan.optimizer_sharding == ir::OptimizerSharding::kNone) return "";
  return absl::StrCat("  optimizer   state shared by the pipelines (",
                      ir::NameOf(ir::kOptimizerShardings, plan.optimizer_sharding), ")\n");
}

std::string ForecastSection(const ir::Problem& problem, const ir::Report& report) {
  const Seconds training = report.iteration * static_cast<double>(problem.job.steps);
  const Usd money = report.cost_per_iteration * static_cast<double>(problem.job.steps);
  return absl::StrCat("  iteration   ", SecondsText(report.iteration), " (", ir::ToString(report.timing), " times), ",
                      MetricText(ir::Metric::kSampleRate, report.samples_per_second), ", ",
                      MetricText(ir::Metric::kTokenRate, report.tokens_per_second), "\n", "  cost        ",
                      MetricText(ir::Metric::kCostPerIter, report.cost_per_iteration.value()), ", ",
                      MetricText(ir::Metric::kCostRate, ir::Value(report, ir::Metric::kCostRate)), " for nodes\n",
                      "  training    ", CountText(problem.job.steps, "iteration"), ": ", SecondsText(training), ", ",
                      UsdText(money), "\n", "  nodes       ", PoolsText(problem, report), " (",
                      CountText(report.gpus, "GPU"), ")\n");
}

std::string SpotSection(const ir::Report& report) {
  if (!report.spot) return "";
  const ir::SpotForecast& spot = *report.spot;
  const std::string often = absl::StrCat("  preemptions one in ", SecondsText(spot.mean_time_between_failures), ": ");
  if (!MakesProgress(spot)) return absl::StrCat(often, kNoProgress, "\n");
  return absl::StrCat(often, PercentText(spot.goodput), " of the time makes progress with a checkpoint (",
                      SecondsText(spot.checkpoint), ") every ", SecondsText(spot.checkpoint_interval), "; expected ",
                      MetricText(ir::Metric::kCostPerIter, spot.cost_per_iteration.value()), "\n");
}

std::string LimitsSection(const ir::Problem& problem, const ir::Report& report) {
  if (report.constraints.empty()) return "";
  return absl::StrCat("\n", LimitsTable(problem, report).Render("  "));
}

std::string TrafficSection(const ir::Problem& problem, const ir::Report& report) {
  if (report.traffic.empty()) return "";
  return absl::StrCat("\n", TrafficTable(problem, report).Render("  "));
}

// A table for every few stages, so that lines stay short.
std::string MemorySection(const ir::Plan& plan, const ir::Report& report) {
  constexpr int kStagesBeside = 6;
  std::string text;
  for (const Alike& group : GroupAlike(plan)) {
    const int depth = static_cast<int>(plan.pipelines[group[0]].stages.size());
    absl::StrAppend(&text, "  memory of each GPU of ", PipelinesText(group), "\n");
    for (int first = 0; first < depth; first += kStagesBeside) {
      text += MemoryTable(plan, report, group, first, std::min(depth, first + kStagesBeside) - 1).Render("    ");
    }
  }
  return text;
}

std::string Title(const ir::Problem& problem, absl::string_view what) {
  return absl::StrCat(what, " of job ", problem.job.name, ": model ", problem.model.name, " (",
                      absl::StrFormat("%.4g", static_cast<double>(ir::TotalParameters(problem.model)) / 1e6),
                      " M parameters, ", problem.model.layer_count(), " layers) on ", problem.cluster.name, "\n\n");
}

}  // namespace

std::string RenderPlan(const ir::Problem& problem, const ir::Plan& plan, const ir::Report& report,
                       absl::string_view bound) {
  return absl::StrCat(Title(problem, "plan"), PipelinesSection(problem, plan, report), "\n", OptimizerSection(plan),
                      ForecastSection(problem, report), bound, SpotSection(report), LimitsSection(problem, report));
}

std::string RenderBound(const ir::Problem& problem, const std::optional<planner::Certificate>& certificate) {
  const ir::ObjectiveTerm& term = problem.job.objective.front();
  if (!certificate) return absl::StrCat("  bound       no bound is known for ", ir::ToString(term.metric), "\n");
  return absl::StrCat("  bound       no plan has ", term.maximize ? "more" : "less", " than ",
                      MetricText(term.metric, certificate->bound), ": within ", PercentText(certificate->gap),
                      " of the best possible under this cost model\n");
}

std::string RenderReport(const ir::Problem& problem, const ir::Plan& plan, const ir::Report& report) {
  return absl::StrCat(Title(problem, "forecast"), PipelinesSection(problem, plan, report), "\n", OptimizerSection(plan),
                      ForecastSection(problem, report), SpotSection(report), "\n", PartsTable(report).Render("  "),
                      "\n", BusyTable(plan, report).Render("  "), "\n", MemorySection(plan, report), "\n",
                      MoneyTable(problem, report).Render("  "), TrafficSection(problem, report),
                      LimitsSection(problem, report));
}

}  // namespace sail::driver
