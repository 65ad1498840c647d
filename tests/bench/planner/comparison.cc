#include "tests/bench/planner/comparison.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "compiler/base/status_macros.h"
#include "compiler/ir/verify_plan.h"
#include "planner/planner.h"
#include "simulator/published_model.h"
#include "simulator/sail_cost_model.h"

namespace sail::bench {
namespace {

constexpr double kReproduced = 0.005;  // largest relative difference from the published simulator's figures

// "32 x [12xA100_40:4 14xV100_16:4] micro 1, 31..32 micro-batches": layers x gpu : degree of each stage.
std::string Describe(const ir::Problem& problem, const ir::Plan& plan) {
  struct Group {
    int count = 0;
    int fewest = 0;
    int most = 0;
  };
  std::map<std::string, Group> groups;
  for (const ir::Pipeline& pipeline : plan.pipelines) {
    std::vector<std::string> stages;
    for (const ir::Stage& stage : pipeline.stages) {
      stages.push_back(absl::StrCat(stage.layer_count(), "x", problem.cluster.pool(stage.group.pool).name, ":",
                                    stage.group.degree()));
    }
    Group& group = groups[absl::StrCat("[", absl::StrJoin(stages, " "), "] micro ", pipeline.micro_batch)];
    group.fewest = group.count == 0 ? pipeline.micro_batches : std::min(group.fewest, pipeline.micro_batches);
    group.most = std::max(group.most, pipeline.micro_batches);
    ++group.count;
  }
  std::string text;
  for (const auto& [shape, group] : groups) {
    absl::StrAppend(&text, text.empty() ? "" : "; ", group.count, " x ", shape, " x ", group.fewest);
    if (group.most != group.fewest) absl::StrAppend(&text, "..", group.most);
  }
  return text;
}

// The first stage that does not fit, or the first limit that does not hold.
std::string Misfit(const ir::Report& report) {
  for (const ir::StageReport& stage : report.stages) {
    if (stage.memory_total <= stage.memory_limit) continue;
    return absl::StrFormat("stage %d needs %.1f of %.1f GB", stage.stage, stage.memory_total.value() / 1e9,
                           stage.memory_limit.value() / 1e9);
  }
  for (const ir::ConstraintReport& row : report.constraints) {
    if (!row.holds) return absl::StrCat("limit ", row.name, " does not hold");
  }
  return "";
}

absl::StatusOr<Judgement> JudgePublished(const PublishedPlan& published, const ir::Problem& problem,
                                         const sim::CostModel& costs) {
  SAIL_ASSIGN_OR_RETURN(const ir::Report report, costs.Evaluate(published.plan));
  Judgement judgement{.throughput = 1 / report.iteration.value(),
                      .usd = PublishedUsd(problem, published.plan, report),
                      .fault = BeyondQuotas(problem, published.plan)};
  if (judgement.fault.empty()) judgement.fault = Misfit(report);
  return judgement;
}

// The published format lists replicas in the order of their rings. A plan of ours has no such order, so it is handed
// over in the better of both directions.
absl::StatusOr<ir::Report> ReportInBestDirection(const sim::CostModel& costs, ir::Plan plan, ir::Report report) {
  std::reverse(plan.pipelines.begin(), plan.pipelines.end());
  SAIL_ASSIGN_OR_RETURN(ir::Report reversed, costs.Evaluate(plan));
  return reversed.iteration < report.iteration ? reversed : report;
}

absl::StatusOr<Search> Find(const ir::Problem& problem, const sim::CostModel& costs, bool has_rings_in_order) {
  Search search;
  const auto start = std::chrono::steady_clock::now();
  SAIL_ASSIGN_OR_RETURN(const planner::PlanOutcome outcome, planner::FindPlan(problem, costs, {}));
  search.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const auto* feasible = std::get_if<planner::Feasible>(&outcome);
  if (feasible == nullptr) {
    search.found.fault = "no plan was found";
    return search;
  }
  const absl::Status verified = ir::VerifyPlan(problem, feasible->plan, feasible->report);
  ir::Report report = feasible->report;
  if (has_rings_in_order) {
    SAIL_ASSIGN_OR_RETURN(report, ReportInBestDirection(costs, feasible->plan, std::move(report)));
  }
  search.found = {.throughput = 1 / report.iteration.value(),
                  .usd = PublishedUsd(problem, feasible->plan, report),
                  .fault = verified.ok() ? BeyondQuotas(problem, feasible->plan) : std::string(verified.message())};
  search.plan = Describe(problem, feasible->plan);
  if (feasible->certificate) search.gap = feasible->certificate->gap;
  return search;
}

absl::StatusOr<Comparison> CompareUnder(const PublishedPlan& published, const ir::Problem& problem,
                                        const sim::CostModel& costs, bool has_rings_in_order) {
  Comparison result;
  SAIL_ASSIGN_OR_RETURN(result.published, JudgePublished(published, problem, costs));
  SAIL_ASSIGN_OR_RETURN(result.ours, Find(problem, costs, has_rings_in_order));
  return result;
}

// Searches for the least cost per iteration with the throughput, and any other limit, of the published plan.
absl::StatusOr<AsFast> FindAsFast(const Scenario& scenario, const PlannerData& data, ir::Problem problem,
                                  double throughput) {
  problem.job.objective = {{.metric = ir::Metric::kCostPerIter, .maximize = false}};
  problem.job.constraints.push_back({.name = "as fast",
                                     .metric = ir::Metric::kThroughput,
                                     .at_most = false,
                                     .limit = throughput * (1 - kReproduced)});
  SAIL_ASSIGN_OR_RETURN(const auto costs, sim::MakePublishedCostModel(problem, data.sailor.models.at(scenario.model),
                                                                      data.sailor.network));
  SAIL_ASSIGN_OR_RETURN(const Search search, Find(problem, *costs, /*has_rings_in_order=*/true));
  return AsFast{.usd = search.found.usd, .fault = search.found.fault};
}

absl::Status CheckReproduced(const Scenario& scenario, const Judgement& judgement) {
  const double throughput = judgement.throughput / scenario.published.throughput - 1;
  const double usd = judgement.usd / scenario.published.usd - 1;
  if (std::abs(throughput) <= kReproduced && std::abs(usd) <= kReproduced) return absl::OkStatus();
  return absl::InternalError(
      absl::StrFormat("the published plan is not reproduced: %.5f iters/s (%+.2f %%), %.4f USD/iter (%+.2f %%)",
                      judgement.throughput, 100 * throughput, judgement.usd, 100 * usd));
}

std::string FaultOf(const Result& result) {
  for (const Comparison* comparison : {&result.published_model, &result.own_model}) {
    const std::string& fault = comparison->ours.found.fault;
    if (!fault.empty()) return absl::StrCat("our plan is invalid: ", fault);
  }
  const Comparison& published = result.published_model;
  const double ratio = Ratio(result.scenario, published.ours.found, published.published);
  if (published.published.fault.empty() && ratio < 1) {
    return absl::StrFormat("our plan is worse than the published one: x%.4f", ratio);
  }
  return "";
}

}  // namespace

double ValueOf(const Scenario& scenario, const Judgement& judgement) {
  return scenario.minimizes_cost() ? judgement.usd : judgement.throughput;
}

double Ratio(const Scenario& scenario, const Judgement& judgement, const Judgement& other) {
  const double ratio = ValueOf(scenario, judgement) / ValueOf(scenario, other);
  return scenario.minimizes_cost() ? 1 / ratio : ratio;
}

absl::StatusOr<Result> Compare(const Scenario& scenario, const PlannerData& data, const Calibration& calibration) {
  Result result{.scenario = scenario, .published_model = {}, .own_model = {}, .fault_of_ours = ""};
  SAIL_ASSIGN_OR_RETURN(const ir::Problem problem, ProblemOf(scenario, data, calibration));
  SAIL_ASSIGN_OR_RETURN(const PublishedPlan published, ImportPublished(scenario, problem));
  SAIL_RETURN_IF_ERROR(ir::VerifyPlanStructure(published.problem, published.plan));
  ir::Problem whole_gpus = problem;
  whole_gpus.job.memory_limit = 1;  // the published model fills GPUs to the brim
  SAIL_ASSIGN_OR_RETURN(
      const auto published_costs,
      sim::MakePublishedCostModel(whole_gpus, data.sailor.models.at(scenario.model), data.sailor.network));
  SAIL_ASSIGN_OR_RETURN(result.published_model, CompareUnder(published, whole_gpus, *published_costs, true));
  SAIL_RETURN_IF_ERROR(CheckReproduced(scenario, result.published_model.published));
  if (!scenario.minimizes_cost()) {
    SAIL_ASSIGN_OR_RETURN(result.as_fast,
                          FindAsFast(scenario, data, whole_gpus, result.published_model.published.throughput));
  }
  const auto own_costs = sim::MakeSailCostModel(problem);
  SAIL_ASSIGN_OR_RETURN(result.own_model, CompareUnder(published, problem, *own_costs, false));
  result.fault_of_ours = FaultOf(result);
  return result;
}

}  // namespace sail::bench
