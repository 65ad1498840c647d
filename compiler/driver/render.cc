#include "compiler/driver/render.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "compiler/base/number_text.h"
#include "compiler/driver/quantity_text.h"
#include "compiler/driver/table.h"
#include "compiler/ir/names.h"

namespace sail::driver {
namespace {

constexpr size_t kMaxRanges = 4;  // shown; more are cut in the middle

// "0-3,7" of ascending numbers; "0,5,...,90" when there are many ranges.
std::string RangesText(const std::set<int>& numbers) {
  std::vector<std::string> parts;
  for (auto it = numbers.begin(); it != numbers.end();) {
    const int first = *it;
    int last = first;
    while (++it != numbers.end() && *it == last + 1) ++last;
    parts.push_back(first == last ? absl::StrCat(first) : absl::StrCat(first, "-", last));
  }
  if (parts.size() > kMaxRanges) return absl::StrCat(parts[0], ",", parts[1], ",...,", parts.back());
  return absl::StrJoin(parts, ",");
}

std::string PercentText(double share) { return absl::StrFormat("%.1f %%", 100 * share); }

// Pipelines that do the same on different nodes: indices into plan.pipelines.
using Alike = std::vector<int>;

bool SameShape(const ir::Pipeline& a, const ir::Pipeline& b) {
  if (a.micro_batch != b.micro_batch || a.micro_batches != b.micro_batches || a.stages.size() != b.stages.size()) {
    return false;
  }
  for (size_t s = 0; s < a.stages.size(); ++s) {
    const ir::Stage& x = a.stages[s];
    const ir::Stage& y = b.stages[s];
    if (x.first_layer != y.first_layer || x.last_layer != y.last_layer || x.recompute != y.recompute ||
        x.group.pool != y.group.pool || x.group.degree() != y.group.degree()) {
      return false;
    }
  }
  return true;
}

std::vector<Alike> GroupAlike(const ir::Plan& plan) {
  std::vector<Alike> groups;
  for (int p = 0; p < static_cast<int>(plan.pipelines.size()); ++p) {
    const auto same = [&](const Alike& group) { return SameShape(plan.pipelines[group[0]], plan.pipelines[p]); };
    const auto it = std::find_if(groups.begin(), groups.end(), same);
    if (it == groups.end()) {
      groups.push_back({p});
    } else {
      it->push_back(p);
    }
  }
  return groups;
}

std::string PipelinesText(const Alike& group) {
  const std::string numbers = RangesText(std::set<int>(group.begin(), group.end()));
  return group.size() == 1 ? absl::StrCat("pipeline ", numbers)
                           : absl::StrCat("pipelines ", numbers, " (", group.size(), " alike)");
}

// The first stage report of each pipeline, so that stages of pipeline p are at offset[p] + stage.
std::vector<int> StageOffsets(const ir::Plan& plan) {
  std::vector<int> offsets;
  int next = 0;
  for (const ir::Pipeline& pipeline : plan.pipelines) {
    offsets.push_back(next);
    next += static_cast<int>(pipeline.stages.size());
  }
  return offsets;
}

std::string StageTable(const ir::Problem& problem, const ir::Plan& plan, const ir::Report& report, const Alike& group) {
  const std::vector<int> offsets = StageOffsets(plan);
  Table table("<<<<>>>>>", {"stage", "layers", "pool", "gpu type", "nodes", "gpus", "tensor", "memory", "busy"});
  const ir::Pipeline& shape = plan.pipelines[group[0]];
  for (int s = 0; s < static_cast<int>(shape.stages.size()); ++s) {
    const ir::Stage& stage = shape.stages[s];
    std::set<int> nodes, gpus;
    for (const int p : group) {
      const ir::TensorGroup& place = plan.pipelines[p].stages[s].group;
      nodes.insert(place.node);
      gpus.insert(place.gpus.begin(), place.gpus.end());
    }
    const ir::StageReport& forecast = report.stages[offsets[group[0]] + s];
    const ir::PoolId pool = stage.group.pool;
    table.Add({absl::StrCat(s), absl::StrCat(stage.first_layer, "-", stage.last_layer), problem.cluster.pool(pool).name,
               problem.cluster.gpu(pool).name, RangesText(nodes), RangesText(gpus), absl::StrCat(stage.group.degree()),
               absl::StrCat(BytesText(forecast.memory_total), " of ", BytesText(forecast.memory_limit)),
               PercentText(forecast.busy / report.iteration)});
  }
  return table.Render("    ");
}

std::string PipelinesSection(const ir::Problem& problem, const ir::Plan& plan, const ir::Report& report) {
  std::string text;
  for (const Alike& group : GroupAlike(plan)) {
    const ir::Pipeline& shape = plan.pipelines[group[0]];
    const int64_t samples = shape.samples() * static_cast<int64_t>(group.size());
    absl::StrAppend(&text, "  ", PipelinesText(group), ": ", shape.micro_batches,
                    shape.micro_batches == 1 ? " micro-batch of " : " micro-batches of ", shape.micro_batch,
                    group.size() == 1 ? "" : " each", ", ", samples, " of ",
                    CountText(problem.job.global_batch, "sample"), "\n", StageTable(problem, plan, report, group));
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

std::string LimitsSection(const ir::Problem& problem, const ir::Report& report) {
  if (report.constraints.empty()) return "";
  Table table("<<<>", {"limit", "predicted", "allowed", "slack"});
  for (const ir::ConstraintReport& entry : report.constraints) {
    for (const ir::Constraint& constraint : problem.job.constraints) {
      if (constraint.name != entry.name) continue;
      table.Add({constraint.name,
                 absl::StrCat(ir::ToString(constraint.metric), " ", MetricText(constraint.metric, entry.value)),
                 absl::StrCat(constraint.at_most ? "<= " : ">= ", MetricText(constraint.metric, entry.limit)),
                 !entry.holds       ? "broken"
                 : entry.slack > 10 ? "> 1000 %"
                                    : PercentText(entry.slack)});
    }
  }
  return absl::StrCat("\n", table.Render("  "));
}

std::string PartsSection(const ir::Report& report) {
  Table table("<>>", {"part of an iteration", "time", "share"});
  const auto add = [&](absl::string_view name, Seconds time) {
    table.Add({std::string(name), SecondsText(time), PercentText(time / report.iteration)});
  };
  add("fill", report.parts.fill);
  add("steady", report.parts.steady);
  add("drain", report.parts.drain);
  add("gradient synchronisation", report.parts.gradient_sync);
  add("optimizer", report.parts.optimizer);
  add("iteration", report.iteration);
  return table.Render("  ");
}

std::string BusySection(const ir::Plan& plan, const ir::Report& report) {
  const std::vector<int> offsets = StageOffsets(plan);
  Table table("<<>>>", {"pipelines", "stage", "busy", "idle", "busy share"});
  for (const Alike& group : GroupAlike(plan)) {
    for (int s = 0; s < static_cast<int>(plan.pipelines[group[0]].stages.size()); ++s) {
      const ir::StageReport& stage = report.stages[offsets[group[0]] + s];
      table.Add({s > 0 ? "" : RangesText(std::set<int>(group.begin(), group.end())), absl::StrCat(s),
                 SecondsText(stage.busy), SecondsText(stage.idle), PercentText(stage.busy / report.iteration)});
    }
  }
  return table.Render("  ");
}

std::string MemorySection(const ir::Plan& plan, const ir::Report& report) {
  const std::vector<int> offsets = StageOffsets(plan);
  Table table("<<<><", {"pipelines", "stage", "memory of a GPU", "bytes", "source"});
  for (const Alike& group : GroupAlike(plan)) {
    for (int s = 0; s < static_cast<int>(plan.pipelines[group[0]].stages.size()); ++s) {
      const ir::StageReport& stage = report.stages[offsets[group[0]] + s];
      std::string pipelines = s > 0 ? "" : RangesText(std::set<int>(group.begin(), group.end()));
      std::string number = absl::StrCat(s);
      for (const ir::MemoryTerm& term : stage.memory) {
        table.Add({std::move(pipelines), std::move(number), term.what, BytesText(term.bytes),
                   std::string(ir::ToString(term.provenance))});
        pipelines.clear();
        number.clear();
      }
      table.Add(
          {"", "", "total", BytesText(stage.memory_total), absl::StrCat("limit ", BytesText(stage.memory_limit))});
    }
  }
  return table.Render("  ");
}

std::string MoneySection(const ir::Problem& problem, const ir::Report& report) {
  Table table("<><", {"money of an iteration", "USD/iter", "for"});
  for (const ir::PoolCost& pool : report.pools) {
    table.Add({absl::StrCat("pool ", problem.cluster.pool(pool.pool).name), UsdText(pool.per_iteration),
               CountText(pool.nodes, "node")});
  }
  for (const ir::LinkTraffic& link : report.traffic) {
    table.Add({absl::StrCat(problem.cluster.zones[link.from.index()].name, " -> ",
                            problem.cluster.zones[link.to.index()].name),
               UsdText(link.egress), absl::StrCat(BytesText(link.bytes), " between nodes")});
  }
  table.Add({"total", UsdText(report.cost_per_iteration), ""});
  return table.Render("  ");
}

std::string Title(const ir::Problem& problem, absl::string_view what) {
  return absl::StrCat(what, " of job ", problem.job.name, ": model ", problem.model.name, " (",
                      absl::StrFormat("%.4g", static_cast<double>(ir::TotalParameters(problem.model)) / 1e6),
                      " M parameters, ", problem.model.layer_count(), " layers) on ", problem.cluster.name, "\n\n");
}

}  // namespace

std::string RenderPlan(const ir::Problem& problem, const ir::Plan& plan, const ir::Report& report) {
  return absl::StrCat(Title(problem, "plan"), PipelinesSection(problem, plan, report), "\n",
                      ForecastSection(problem, report), LimitsSection(problem, report));
}

std::string RenderReport(const ir::Problem& problem, const ir::Plan& plan, const ir::Report& report) {
  return absl::StrCat(Title(problem, "forecast"), PipelinesSection(problem, plan, report), "\n",
                      ForecastSection(problem, report), "\n", PartsSection(report), "\n", BusySection(plan, report),
                      "\n", MemorySection(plan, report), "\n", MoneySection(problem, report),
                      LimitsSection(problem, report));
}

}  // namespace sail::driver
