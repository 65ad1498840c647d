#include "compiler/driver/report_tables.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/number_text.h"
#include "compiler/driver/quantity_text.h"
#include "compiler/ir/names.h"

namespace sail::driver {
namespace {

std::string LinkText(const ir::Cluster& cluster, const ir::LinkTraffic& link) {
  const std::string& from = cluster.zones[link.from.index()].name;
  if (link.from == link.to) return absl::StrCat("within ", from);
  return absl::StrCat(from, " -> ", cluster.zones[link.to.index()].name);
}

// The term of that name, or null.
const ir::MemoryTerm* FindTerm(const ir::StageReport& stage, absl::string_view what) {
  for (const ir::MemoryTerm& term : stage.memory) {
    if (term.what == what) return &term;
  }
  return nullptr;
}

// All terms of the stages, each once, in the order of the stage that has most of them.
std::vector<const ir::MemoryTerm*> TermsOf(const std::vector<const ir::StageReport*>& stages) {
  std::vector<const ir::MemoryTerm*> terms;
  const auto add = [&](const ir::StageReport& stage) {
    for (const ir::MemoryTerm& term : stage.memory) {
      const auto same = [&](const ir::MemoryTerm* known) { return known->what == term.what; };
      if (std::none_of(terms.begin(), terms.end(), same)) terms.push_back(&term);
    }
  };
  const auto fewer = [](const ir::StageReport* a, const ir::StageReport* b) {
    return a->memory.size() < b->memory.size();
  };
  add(**std::max_element(stages.begin(), stages.end(), fewer));
  for (const ir::StageReport* stage : stages) add(*stage);
  return terms;
}

// "measured", or "derived, measured" where the stages differ.
std::string SourcesText(const std::vector<const ir::StageReport*>& stages, absl::string_view what) {
  std::set<std::string> sources;
  for (const ir::StageReport* stage : stages) {
    if (const ir::MemoryTerm* term = FindTerm(*stage, what)) sources.emplace(ir::ToString(term->provenance));
  }
  return absl::StrJoin(sources, ", ");
}

}  // namespace

Table StageTable(const ir::Problem& problem, const ir::Plan& plan, const ir::Report& report, const Alike& group) {
  const std::vector<int> offsets = StageOffsets(plan);
  const ir::Pipeline& shape = plan.pipelines[group[0]];
  const bool recomputes = std::any_of(shape.stages.begin(), shape.stages.end(),
                                      [](const ir::Stage& stage) { return stage.recompute != ir::Recompute::kNone; });
  std::vector<std::string> header = {"stage", "layers", "pool",   "gpu type", "nodes",
                                     "gpus",  "tensor", "memory", "busy"};
  if (recomputes) header.push_back("recompute");
  Table table(recomputes ? "<<<<>>>>><" : "<<<<>>>>>", header);
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
    std::vector<std::string> row = {
        absl::StrCat(s),
        absl::StrCat(stage.first_layer, "-", stage.last_layer),
        problem.cluster.pool(pool).name,
        problem.cluster.gpu(pool).name,
        RangesText(nodes),
        RangesText(gpus),
        absl::StrCat(stage.group.degree()),
        absl::StrCat(BytesText(forecast.memory_total), " of ", BytesText(forecast.memory_limit)),
        PercentText(forecast.busy / report.iteration)};
    if (recomputes) row.emplace_back(ir::NameOf(ir::kRecomputes, stage.recompute));
    table.Add(std::move(row));
  }
  return table;
}

Table PartsTable(const ir::Report& report) {
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
  return table;
}

Table BusyTable(const ir::Plan& plan, const ir::Report& report) {
  const std::vector<int> offsets = StageOffsets(plan);
  Table table("<<>>>", {"pipelines", "stage", "busy", "idle", "busy share"});
  for (const Alike& group : GroupAlike(plan)) {
    for (int s = 0; s < static_cast<int>(plan.pipelines[group[0]].stages.size()); ++s) {
      const ir::StageReport& stage = report.stages[offsets[group[0]] + s];
      table.Add({s > 0 ? "" : NumbersText(group), absl::StrCat(s), SecondsText(stage.busy), SecondsText(stage.idle),
                 PercentText(stage.busy / report.iteration)});
    }
  }
  return table;
}

Table MemoryTable(const ir::Plan& plan, const ir::Report& report, const Alike& group, int first, int last) {
  std::vector<const ir::StageReport*> stages;
  std::vector<std::string> header{"term", "source"};
  for (int s = first; s <= last; ++s) {
    stages.push_back(&report.stages[StageOffsets(plan)[group[0]] + s]);
    header.push_back(absl::StrCat("stage ", s));
  }
  Table table(absl::StrCat("<<", std::string(stages.size(), '>')), header);
  for (const ir::MemoryTerm* term : TermsOf(stages)) {
    std::vector<std::string> row{term->what, SourcesText(stages, term->what)};
    for (const ir::StageReport* stage : stages) {
      const ir::MemoryTerm* held = FindTerm(*stage, term->what);
      row.push_back(held == nullptr ? "-" : BytesText(held->bytes));
    }
    table.Add(std::move(row));
  }
  std::vector<std::string> total{"total", ""}, limit{"limit", ""}, left{"left", ""};
  for (const ir::StageReport* stage : stages) {
    total.push_back(BytesText(stage->memory_total));
    limit.push_back(BytesText(stage->memory_limit));
    left.push_back(BytesText(stage->memory_limit - stage->memory_total));
  }
  table.Add(std::move(total));
  table.Add(std::move(limit));
  table.Add(std::move(left));
  return table;
}

Table MoneyTable(const ir::Problem& problem, const ir::Report& report) {
  Table table("<>>><", {"money of an iteration", "USD/iter", "sum so far", "share", "for"});
  const Usd total = report.cost_per_iteration;
  Usd sum(0);
  const auto add = [&](std::string what, Usd money, std::string reason) {
    sum += money;
    table.Add({std::move(what), FourDigits(money.value()), FourDigits(sum.value()),
               total > Usd(0) ? PercentText(money / total) : "-", std::move(reason)});
  };
  for (const ir::PoolCost& pool : report.pools) {
    add(absl::StrCat("pool ", problem.cluster.pool(pool.pool).name), pool.per_iteration,
        absl::StrCat(pool.nodes, pool.nodes == 1 ? " node" : " nodes"));
  }
  for (const ir::LinkTraffic& link : report.traffic) {
    if (link.egress == Usd(0)) continue;
    add(absl::StrCat("egress ", LinkText(problem.cluster, link)), link.egress, BytesText(link.bytes));
  }
  table.Add({"total", FourDigits(total.value()), "", "", ""});
  return table;
}

Table TrafficTable(const ir::Problem& problem, const ir::Report& report) {
  Table table("<>>>>>", {"link", "bytes/iter", "egress", "price", "bandwidth", "latency"});
  for (const ir::LinkTraffic& traffic : report.traffic) {
    const ir::Link& link = problem.cluster.links[traffic.from.index()][traffic.to.index()];
    table.Add({LinkText(problem.cluster, traffic), BytesText(traffic.bytes), UsdText(traffic.egress),
               absl::StrCat(FourDigits(link.egress.value() * 1e9), " USD/GB"),
               absl::StrCat(FourDigits(link.bandwidth.value() * 8e-9), " Gbps"), SecondsText(link.latency)});
  }
  return table;
}

Table LimitsTable(const ir::Problem& problem, const ir::Report& report) {
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
  return table;
}

}  // namespace sail::driver
