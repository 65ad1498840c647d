#include "compiler/driver/front.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/number_text.h"
#include "compiler/base/status_macros.h"
#include "compiler/driver/answer.h"
#include "compiler/driver/quantity_text.h"
#include "simulator/sail_cost_model.h"
#include "simulator/simulate.h"

namespace sail::driver {
namespace {

ir::FrontPoint PointOf(const ir::Report& report, bool chosen) {
  return {.iteration = report.iteration,
          .cost_per_iteration = report.cost_per_iteration,
          .goodput = ir::Value(report, ir::Metric::kGoodput),
          .nodes = report.nodes,
          .gpus = report.gpus,
          .chosen = chosen};
}

}  // namespace

absl::StatusOr<std::vector<ir::FrontPoint>> FindFront(const ir::Problem& problem, const ir::Plan& chosen,
                                                      const ir::Report& report,
                                                      const planner::FrontProgress& progress) {
  SAIL_ASSIGN_OR_RETURN(const std::vector<ir::Plan> plans,
                        planner::FindFrontCandidates(problem, *sim::MakeSailCostModel(problem), {}, progress));
  std::vector<ir::FrontPoint> points = {PointOf(report, /*chosen=*/true)};
  for (const ir::Plan& plan : plans) {
    if (plan == chosen) continue;
    SAIL_ASSIGN_OR_RETURN(const ir::Report other, sim::Simulate(problem, plan));
    if (Holds(other)) points.push_back(PointOf(other, /*chosen=*/false));
  }
  return planner::NonDominated(std::move(points));
}

Table FrontTable(const std::vector<ir::FrontPoint>& front) {
  const bool may_lose_nodes = std::any_of(front.begin(), front.end(), [](const ir::FrontPoint& point) {
    return point.goodput < (1 - 1e-9) / point.iteration.value();
  });
  std::vector<std::string> header = {"time of an iteration", "throughput", "cost", "nodes", "GPUs", ""};
  if (may_lose_nodes) header.insert(header.begin() + 2, "goodput");
  Table table(may_lose_nodes ? "<>>>>><" : "<>>>><", header);
  for (const ir::FrontPoint& point : front) {
    std::vector<std::string> row = {SecondsText(point.iteration),
                                    MetricText(ir::Metric::kThroughput, 1 / point.iteration.value()),
                                    MetricText(ir::Metric::kCostPerIter, point.cost_per_iteration.value()),
                                    absl::StrCat(point.nodes),
                                    absl::StrCat(point.gpus),
                                    point.chosen ? "chosen" : ""};
    if (may_lose_nodes) row.insert(row.begin() + 2, MetricText(ir::Metric::kGoodput, point.goodput));
    table.Add(std::move(row));
  }
  return table;
}

}  // namespace sail::driver
