#include "planner/front.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "compiler/base/status_macros.h"
#include "planner/canonical_order.h"
#include "planner/search.h"

namespace sail::planner {
namespace {

using Objective = std::vector<ir::ObjectiveTerm>;

const ir::ObjectiveTerm kCheap{.metric = ir::Metric::kCostPerIter, .maximize = false};

class FrontScan {
 public:
  FrontScan(const ir::Problem& problem, const sim::CostModel& costs, const PlannerOptions& options,
            const FrontProgress& progress)
      : problem_(problem), costs_(costs), options_(options), progress_(progress) {}

  absl::StatusOr<std::vector<ir::Plan>> Scan() {
    SAIL_ASSIGN_OR_RETURN(const std::optional<double> cheapest,
                          Find({kCheap, {.metric = ir::Metric::kThroughput}}, std::nullopt));
    if (!cheapest) return std::vector<ir::Plan>();
    SAIL_RETURN_IF_ERROR(ScanFor(ir::Metric::kThroughput, *cheapest));
    if (MayLoseNodes()) SAIL_RETURN_IF_ERROR(ScanFor(ir::Metric::kGoodput, *cheapest));
    return std::vector<ir::Plan>(plans_.begin(), plans_.end());
  }

 private:
  absl::Status ScanFor(ir::Metric metric, double cheapest) {
    const Objective objective = {{.metric = metric}, kCheap};
    SAIL_ASSIGN_OR_RETURN(const std::optional<double> dearest, Find(objective, std::nullopt));
    if (!dearest || cheapest <= 0 || *dearest <= cheapest) return absl::OkStatus();
    for (int step = 0; step < kFrontSteps; ++step) {
      const double limit = cheapest * std::pow(*dearest / cheapest, static_cast<double>(step) / kFrontSteps);
      SAIL_RETURN_IF_ERROR(Find(objective, limit).status());
    }
    return absl::OkStatus();
  }

  bool MayLoseNodes() const {
    return std::any_of(problem_.cluster.pools.begin(), problem_.cluster.pools.end(), [](const ir::Pool& pool) {
      return pool.market == ir::Market::kSpot && pool.mean_lifetime.has_value() && pool.quota > 0;
    });
  }

  // Collects the best plan of each kind; the money that the best one costs, nullopt if no plan keeps the limits.
  absl::StatusOr<std::optional<double>> Find(Objective objective, std::optional<double> most_money) {
    if (progress_) progress_(++searches_, 1 + (MayLoseNodes() ? 2 : 1) * (1 + kFrontSteps));
    SearchScope scope = ScopeOf(problem_);
    scope.least_nodes = options_.least_nodes;
    scope.objective = std::move(objective);
    if (most_money) {
      scope.constraints.push_back(
          {.name = "front", .metric = ir::Metric::kCostPerIter, .at_most = true, .limit = *most_money});
    }
    SAIL_ASSIGN_OR_RETURN(const SearchResult result, Search(problem_, costs_, scope, options_.work_budget));
    if (!result.best || result.best->violation > 0) return std::optional<double>();
    plans_.insert(result.best->plan);
    for (RunnerUp& other : result.good.Others(result.best->plan, scope.objective)) {
      plans_.insert(std::move(other.plan));
    }
    return std::optional<double>(result.best->report.cost_per_iteration.value());
  }

  const ir::Problem& problem_;
  const sim::CostModel& costs_;
  const PlannerOptions& options_;
  const FrontProgress& progress_;
  int searches_ = 0;  // begun
  std::set<ir::Plan> plans_;
};

bool IsBeaten(const ir::FrontPoint& a, const ir::FrontPoint& b) {
  const bool no_worse =
      b.iteration <= a.iteration && b.cost_per_iteration <= a.cost_per_iteration && b.goodput >= a.goodput;
  return no_worse &&
         (b.iteration < a.iteration || b.cost_per_iteration < a.cost_per_iteration || b.goodput > a.goodput);
}

}  // namespace

absl::StatusOr<std::vector<ir::Plan>> FindFrontCandidates(const ir::Problem& problem, const sim::CostModel& costs,
                                                          const PlannerOptions& options,
                                                          const FrontProgress& progress) {
  const CanonicalOrder canonical(problem, costs, options.least_nodes);
  PlannerOptions in_order = options;
  in_order.least_nodes = canonical.least_nodes();
  SAIL_ASSIGN_OR_RETURN(std::vector<ir::Plan> plans,
                        FrontScan(canonical.problem(), canonical.costs(), in_order, progress).Scan());
  for (ir::Plan& plan : plans) plan = canonical.Restore(std::move(plan));
  std::sort(plans.begin(), plans.end());
  return plans;
}

std::vector<ir::FrontPoint> NonDominated(std::vector<ir::FrontPoint> points) {
  const auto values = [](const ir::FrontPoint& point) {
    return std::make_tuple(point.iteration, point.cost_per_iteration, -point.goodput);
  };
  std::stable_sort(points.begin(), points.end(), [&](const ir::FrontPoint& a, const ir::FrontPoint& b) {
    return std::make_tuple(values(a), !a.chosen) < std::make_tuple(values(b), !b.chosen);
  });
  std::vector<ir::FrontPoint> front;
  for (const ir::FrontPoint& point : points) {
    const bool is_known = !front.empty() && values(front.back()) == values(point);
    const bool is_beaten =
        std::any_of(points.begin(), points.end(), [&](const ir::FrontPoint& other) { return IsBeaten(point, other); });
    if (point.chosen || (!is_known && !is_beaten)) front.push_back(point);
  }
  return front;
}

}  // namespace sail::planner
