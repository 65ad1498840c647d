#include "compiler/driver/next_plan.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/number_text.h"
#include "compiler/base/status_macros.h"
#include "compiler/driver/answer.h"
#include "compiler/driver/quantity_text.h"
#include "compiler/driver/table.h"
#include "simulator/sail_cost_model.h"
#include "simulator/simulate.h"

namespace sail::driver {
namespace {

constexpr size_t kMostNodes = 16;  // rows of the table of nodes that fetch

std::string BytesOf(double bytes) { return BytesText(Bytes(std::llround(bytes))); }

std::string NameOf(const ir::Cluster& cluster, const planner::NodeName& node) {
  return absl::StrCat(cluster.pool(node.pool).name, "-", node.node);
}

class NextRenderer {
 public:
  NextRenderer(const ReadPlanFile& previous, const planner::Change& change, const NextAnswer& answer)
      : previous_(previous),
        change_(change),
        answer_(answer),
        next_(answer.replanned.next),
        cluster_(change.problem.cluster) {}

  std::string Render() const {
    const planner::Movement& movement = next_.movement;
    std::string text = absl::StrCat("next plan of job ", change_.problem.job.name, "\n\n", Pools().Render("  "), "\n");
    absl::StrAppend(&text, "  stays       ", movement.stages_kept, " of ", CountText(movement.stages, "stage"), ", ",
                    movement.processes_kept, " of ", movement.processes_kept + movement.processes_started,
                    " processes\n");
    absl::StrAppend(&text, "  moves       ", Moves(), "\n", Renamed());
    if (!movement.links.empty()) absl::StrAppend(&text, "\n", Links().Render("  "));
    if (!movement.nodes.empty()) absl::StrAppend(&text, "\n", Nodes().Render("  "), MoreNodes());
    return absl::StrCat(text, "\n", Comparison().Render("  "));
  }

 private:
  Table Pools() const {
    Table table("<>>", {"pool", "nodes before", "now"});
    const std::vector<ir::Pool>& before = previous_.file.problem.cluster.pools;
    for (size_t p = 0; p < before.size(); ++p) {
      table.Add({before[p].name, absl::StrCat(before[p].quota), absl::StrCat(cluster_.pools[p].quota)});
    }
    return table;
  }

  std::string Moves() const {
    const planner::Movement& movement = next_.movement;
    if (movement.bytes + movement.checkpoint_bytes == 0) return "nothing";
    std::string text = absl::StrCat(BytesOf(movement.bytes), " between nodes");
    if (movement.checkpoint_bytes > 0) {
      absl::StrAppend(&text, " and ", BytesOf(movement.checkpoint_bytes),
                      " from the last checkpoint, which no node holds: training resumes there");
    }
    return absl::StrCat(text, "; takes ", SecondsText(movement.seconds));
  }

  // Nodes that are called otherwise now.
  std::string Renamed() const {
    std::vector<std::string> names;
    for (size_t p = 0; p < change_.was.size(); ++p) {
      const ir::PoolId pool(static_cast<int>(p));
      for (int node = 0; node < static_cast<int>(change_.was[p].size()); ++node) {
        const int was = change_.was[p][node];
        if (was == planner::kNoNode || was == node) continue;
        names.push_back(absl::StrCat(NameOf(cluster_, {pool, was}), " is now ", NameOf(cluster_, {pool, node})));
      }
    }
    return names.empty() ? "" : absl::StrCat("  renamed     ", absl::StrJoin(names, ", "), "\n");
  }

  Table Links() const {
    Table table("<<>>>", {"from", "to", "bytes", "time", "egress"});
    for (const planner::LinkMove& link : next_.movement.links) {
      table.Add({cluster_.zones[link.from.index()].name, cluster_.zones[link.to.index()].name, BytesOf(link.bytes),
                 SecondsText(link.seconds), UsdText(link.egress)});
    }
    return table;
  }

  Table Nodes() const {
    Table table("<>>", {"node that fetches", "from nodes", "from the checkpoint"});
    const std::vector<planner::NodeMove>& nodes = next_.movement.nodes;
    for (size_t i = 0; i < std::min(kMostNodes, nodes.size()); ++i) {
      table.Add({NameOf(cluster_, nodes[i].node), BytesOf(nodes[i].bytes),
                 nodes[i].checkpoint_bytes > 0 ? BytesOf(nodes[i].checkpoint_bytes) : ""});
    }
    return table;
  }

  std::string MoreNodes() const {
    const size_t nodes = next_.movement.nodes.size();
    return nodes <= kMostNodes
               ? ""
               : absl::StrCat("  and ", CountText(static_cast<int64_t>(nodes - kMostNodes), "node"), " more\n");
  }

  // The metrics of the objective and the limits, time and money in any case; then what moving adds.
  Table Comparison() const {
    const ir::Job& job = change_.problem.job;
    std::set<ir::Metric> metrics = {ir::Metric::kIterTime, ir::Metric::kCostPerIter, ir::Metric::kNodes,
                                    ir::Metric::kGpus};
    for (const ir::ObjectiveTerm& term : job.objective) metrics.insert(term.metric);
    for (const ir::Constraint& constraint : job.constraints) metrics.insert(constraint.metric);
    const bool has_scratch = answer_.scratch_timeline.has_value();
    std::vector<std::string> header = {"", "plan before", "next plan", "change"};
    if (has_scratch) header.push_back("from scratch");
    Table table(has_scratch ? "<>>>>" : "<>>>", header);
    const auto add = [&](std::vector<std::string> row, const std::string& scratch) {
      if (has_scratch) row.push_back(scratch);
      table.Add(std::move(row));
    };
    for (const ir::Metric metric : metrics) {
      const double before = ir::Value(previous_.report, metric), after = ir::Value(answer_.timeline, metric);
      add({std::string(ir::ToString(metric)), MetricText(metric, before), MetricText(metric, after),
           ChangeText(before, after)},
          has_scratch ? MetricText(metric, ir::Value(*answer_.scratch_timeline, metric)) : "");
    }
    const std::optional<planner::NextPlan>& scratch = answer_.replanned.from_scratch;
    const auto moved = [](const planner::NextPlan& plan) {
      return BytesOf(plan.movement.bytes + plan.movement.checkpoint_bytes);
    };
    add({"to move", "", moved(next_), ""}, scratch ? moved(*scratch) : "");
    add({"moving takes", "", SecondsText(next_.movement.seconds), ""},
        scratch ? SecondsText(scratch->movement.seconds) : "");
    add({absl::StrCat("iter_time, moving spread over ", SecondsText(next_.horizon)), "",
         SecondsText(WithMovement(next_, answer_.timeline)), ""},
        scratch && has_scratch ? SecondsText(WithMovement(*scratch, *answer_.scratch_timeline)) : "");
    return table;
  }

  static Seconds WithMovement(const planner::NextPlan& plan, const ir::Report& timeline) {
    return planner::Amortised(timeline, plan.movement, plan.horizon).iteration;
  }

  const ReadPlanFile& previous_;
  const planner::Change& change_;
  const NextAnswer& answer_;
  const planner::NextPlan& next_;
  const ir::Cluster& cluster_;
};

Json MovementJson(const planner::Movement& movement, const ir::Cluster& cluster) {
  Json links = Json::array(), nodes = Json::array();
  for (const planner::LinkMove& link : movement.links) {
    links.push_back({{"from", link.from.index()},
                     {"to", link.to.index()},
                     {"bytes", link.bytes},
                     {"time_s", link.seconds.value()},
                     {"egress_usd", link.egress.value()}});
  }
  for (const planner::NodeMove& node : movement.nodes) {
    nodes.push_back({{"pool", cluster.pool(node.node.pool).name},
                     {"node", node.node.node},
                     {"bytes", node.bytes},
                     {"checkpoint_bytes", node.checkpoint_bytes}});
  }
  return {{"bytes", movement.bytes},
          {"checkpoint_bytes", movement.checkpoint_bytes},
          {"time_s", movement.seconds.value()},
          {"egress_usd", movement.egress.value()},
          {"links", links},
          {"nodes", nodes},
          {"stages", movement.stages},
          {"stages_kept", movement.stages_kept},
          {"processes_kept", movement.processes_kept},
          {"processes_started", movement.processes_started},
          {"processes_ended", movement.processes_ended}};
}

Json ForecastJson(const ir::Report& report) {
  return {{"iteration_s", report.iteration.value()},
          {"cost_per_iteration_usd", report.cost_per_iteration.value()},
          {"nodes", report.nodes},
          {"gpus", report.gpus}};
}

Json NextJson(const planner::NextPlan& next, const ir::Report& timeline, const ir::Cluster& cluster) {
  Json json = ForecastJson(timeline);
  json["movement"] = MovementJson(next.movement, cluster);
  json["horizon_s"] = next.horizon.value();
  json["iteration_with_movement_s"] = planner::Amortised(timeline, next.movement, next.horizon).iteration.value();
  return json;
}

}  // namespace

absl::StatusOr<NextOutcome> FindNext(const planner::Change& change, planner::ReplanOptions options) {
  const ir::Problem& problem = change.problem;
  options.search = planner::PlannerOptions();
  SAIL_ASSIGN_OR_RETURN(planner::ReplanOutcome outcome,
                        planner::Replan(change, *sim::MakeSailCostModel(problem), options));
  absl::StatusOr<NextOutcome> next(absl::in_place, NextAnswer());
  NextAnswer& answer = std::get<NextAnswer>(*next);
  for (const bool is_last : {false, true}) {
    auto* found = std::get_if<planner::Replanned>(&outcome);
    if (found == nullptr) return NextOutcome(std::get<planner::Infeasible>(std::move(outcome)));
    answer.replanned = std::move(*found);
    SAIL_ASSIGN_OR_RETURN(answer.timeline, sim::Simulate(problem, answer.replanned.next.plan));
    if (is_last || Holds(answer.timeline)) break;
    options.search->work_budget = std::min(options.search->work_budget, kTimelineWork);
    SAIL_ASSIGN_OR_RETURN(outcome, planner::Replan(change, *sim::MakeTimelineCostModel(problem), options));
  }
  const std::optional<planner::NextPlan>& scratch = answer.replanned.from_scratch;
  if (scratch) {
    SAIL_ASSIGN_OR_RETURN(answer.scratch_timeline, sim::Simulate(problem, scratch->plan));
  }
  return next;
}

ir::PlanOrigin OriginOf(const planner::Change& change, const std::string& previous_hash) {
  return {.plan_hash = previous_hash, .semantics = planner::kReplanSemantics, .was = change.was};
}

std::string RenderNext(const ReadPlanFile& previous, const planner::Change& change, const NextAnswer& answer) {
  return NextRenderer(previous, change, answer).Render();
}

Json ToJson(const ReadPlanFile& previous, const planner::Change& change, const NextAnswer& answer) {
  const planner::NextPlan& next = answer.replanned.next;
  const ir::Cluster& cluster = change.problem.cluster;
  Json nodes = Json::object();
  for (size_t p = 0; p < change.was.size(); ++p) nodes[cluster.pools[p].name] = change.was[p];
  Json json = {{"from", previous.file.plan_hash},         {"plan_hash", ir::PlanHash(change.problem, next.plan)},
               {"semantics", planner::kReplanSemantics},  {"nodes", nodes},
               {"before", ForecastJson(previous.report)}, {"next", NextJson(next, answer.timeline, cluster)}};
  if (answer.scratch_timeline) {
    json["from_scratch"] = NextJson(*answer.replanned.from_scratch, *answer.scratch_timeline, cluster);
  }
  return json;
}

}  // namespace sail::driver
