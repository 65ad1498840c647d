#include "planner/bound.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/base/tolerance.h"
#include "planner/box_programme.h"
#include "planner/pricing.h"

namespace sail::planner {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kRounding = 1 - 1e-9;  // what sums in another order may cost a bound
constexpr double kReached = 1 - 1e-7;   // of the batch: columns as good as those cannot be found missing
constexpr double kGoodGap = 0.01;       // not improved further
// Relative, of what is proven of a box: first, and with what work is left.
constexpr double kPrecisions[] = {0.02, 0.01};
constexpr double kWideCell = 1.4;        // of T, largest over smallest: cut before anything is asked
constexpr double kLeastCell = 1.01;      // of T, largest over smallest
constexpr double kStepDown = 0.98;       // to the next try where pricing has no answer
constexpr double kGoals[] = {0.7, 1.0};  // shares of the best goal, one after the other
constexpr int kMaxRounds = 60;           // of column generation

// What boxes of one backend, optimizer sharding and most shards share.
struct Tables {
  Tables(const ir::Problem& problem, const sim::CostModel& costs, const Ground& ground, MemoryRule memory,
         OptimizerState optimizer)
      : floor(problem, costs, ground.classes, memory, optimizer),
        pricing(problem, floor, costs.form() == sim::PipelineForm::kClassic) {}
  StageFloor floor;
  Pricing pricing;
  std::map<int, StageFloor::Syncs> syncs;  // by the least number of pipelines
};

// Limits that are linear in GPUs, as shares of their nodes: never more than the plan's value.
bool IsLinear(const ir::Constraint& constraint) {
  return constraint.at_most && (constraint.metric == ir::Metric::kCostRate || constraint.metric == ir::Metric::kNodes ||
                                constraint.metric == ir::Metric::kGpus);
}

Ground MakeGround(const ir::Problem& problem, const SearchScope& scope, ir::Backend backend, bool counts_money) {
  const ir::Cluster& cluster = problem.cluster;
  const int smallest = problem.job.tensor_degrees.front();
  Ground ground;
  for (int p = 0; p < static_cast<int>(scope.quotas.size()); ++p) {
    const auto id = ir::PoolId(p);
    const int usable = cluster.machine(id).gpus_per_node / smallest * smallest;
    if (scope.quotas[p] <= 0 || usable == 0 || cluster.gpu(id).backend != backend) continue;
    const ir::Pool& pool = cluster.pool(id);
    const auto same = std::find_if(ground.classes.begin(), ground.classes.end(), [&](const PoolClass& c) {
      const ir::Pool& other = cluster.pool(c.pools.front());
      return pool.machine == other.machine && (!counts_money || pool.price == other.price);
    });
    PoolClass& target = same != ground.classes.end() ? *same : ground.classes.emplace_back();
    target.pools.push_back(id);
    target.gpus += static_cast<double>(scope.quotas[p]) * usable;
    target.nodes = 1.0 / usable;
    target.price = pool.price.value() / usable;
  }
  for (const PoolClass& c : ground.classes) ground.capacity.push_back(c.gpus);
  for (const ir::Constraint& constraint : scope.constraints) {
    if (!IsLinear(constraint)) continue;
    std::vector<double>& weights = ground.weights.emplace_back();
    for (const PoolClass& c : ground.classes) {
      weights.push_back(constraint.metric == ir::Metric::kGpus       ? 1
                        : constraint.metric == ir::Metric::kCostRate ? c.price
                                                                     : c.nodes);
    }
    ground.capacity.push_back(std::max(0.0, constraint.limit) * (1 + kLimitRelativeTolerance));
  }
  return ground;
}

class Bounder {
 public:
  Bounder(const ir::Problem& problem, const sim::CostModel& costs, const SearchScope& scope, bool counts_money,
          int64_t work)
      : problem_(problem),
        costs_(costs),
        scope_(scope),
        is_classic_(costs.form() == sim::PipelineForm::kClassic),
        batch_(static_cast<double>(problem.job.global_batch)),
        estimator_(costs.MakeEstimator()),
        work_(work) {
    for (const ir::Backend backend : {ir::Backend::kCuda, ir::Backend::kCpu}) {
      Ground ground = MakeGround(problem, scope, backend, counts_money);
      if (ground.classes.empty()) continue;
      grounds_.push_back(std::move(ground));
      for (const ir::OptimizerSharding sharding : problem.job.optimizer_shardings) AddBoxes(sharding);
    }
  }

  // The largest certified T, about `found` at most, of plans that cost at most `money` an iteration.
  double LeastTime(double found, double money) {
    is_leaning_ = money < kInfinity;
    return Improve(found, [money](const Box& box, double seconds) {
      return Question{.seconds = seconds, .money = box.proven > 0 ? money / box.proven : kInfinity};
    });
  }

  // The least money per iteration of plans that take `most` at most, looking no further than `found`, which a plan of
  // `found_time` costs.
  double LeastCost(double found, double found_time, double most) {
    for (Box& box : boxes_) {
      Raise(box, std::min(found_time, most), [](const Box&, double seconds) { return Question{.seconds = seconds}; });
      if (box.proven <= 0) return 0;
      // Beyond, a single node costs more.
      const double node = LeastNode(grounds_[box.ground]);
      box.first = box.proven;
      box.last = std::min(most, node > 0 ? found / node : kInfinity) * (2 - kRounding);
      box.proven = 0;
      box.is_settled = false;
      if (box.last == kInfinity) return 0;
    }
    std::erase_if(boxes_, [](const Box& box) { return box.first > box.last; });
    return Improve(
        found, [](const Box& box, double money) { return Question{.seconds = box.last, .money = money / box.first}; });
  }

 private:
  // What is proven of all boxes, first in coarse steps, then what is left of each in fine ones.
  template <class Ask>
  double Improve(double found, const Ask& ask) {
    if (boxes_.empty()) return found;
    for (const double precision : kPrecisions) {
      precision_ = precision;
      for (Box& box : boxes_) box.is_settled = false;
      for (const double share : kGoals) Approach(found * share * (share < 1 ? 1 : 1 - kGoodGap), ask);
    }
    return std::min(Least().proven, found);
  }

  // Raises what is proven of the boxes, the least first, until it is `goal` or cannot be more.
  template <class Ask>
  void Approach(double goal, const Ask& ask) {
    while (!is_exhausted() && Least().proven < goal) {
      Box& box = Least();
      if (box.last < kInfinity && box.last > box.first * kWideCell) {
        SplitTimes(box);
      } else if (!box.is_settled) {
        Raise(box, goal, ask);
      } else if (is_leaning_ && box.proven > box.settled * (1 + precision_)) {
        box.settled = box.proven;
        box.is_settled = false;
      } else if (!Split(box)) {
        return;
      }
    }
  }

  Box& Least() {
    return *std::min_element(boxes_.begin(), boxes_.end(),
                             [](const Box& a, const Box& b) { return a.proven < b.proven; });
  }

  // Until `goal` is proven of the box or nothing more can be.
  template <class Ask>
  void Raise(Box& box, double goal, const Ask& ask) {
    double above = goal;
    if (box.columns.empty()) box.columns = columns_[{box.ground, box.sharding}];
    for (int round = 0; round < kMaxRounds; ++round) {
      BoxProgramme programme = MakeProgramme(box);
      // The least at which the columns reach the batch, from above.
      if (programme.Solve(ask(box, above)) >= batch_ * kReached) {
        double below = box.proven;
        while (above - below > precision_ / 4 * goal) {
          const double middle = (above + below) / 2;
          (programme.Solve(ask(box, middle)) >= batch_ * kReached ? above : below) = middle;
        }
      }
      const double next = above == goal ? goal : above - precision_ * goal;
      if (next <= box.proven) break;
      programme.Solve(ask(box, next));
      const Pricing::Answer answer = programme.Prove(ask(box, next));
      columns_[{box.ground, box.sharding}] = box.columns;
      if (answer == Pricing::Answer::kNone) {
        box.proven = next;
        box.is_settled = next < goal;
        return;
      }
      if (is_exhausted()) break;
      if (answer == Pricing::Answer::kUnknown) above = next * kStepDown;
    }
    box.is_settled = true;
  }

  static double LeastNode(const Ground& ground) {
    double least = kInfinity;
    for (const PoolClass& c : ground.classes) least = std::min(least, c.price / c.nodes);
    return least;
  }

  void AddBoxes(ir::OptimizerSharding sharding) {
    const Ground& ground = grounds_.back();
    double gpus = 0;
    for (const PoolClass& c : ground.classes) gpus += c.gpus;
    const double samples = batch_ / problem_.job.micro_batches.front();
    const auto most = static_cast<int>(std::min(gpus / problem_.job.tensor_degrees.front(), samples));
    const int layers = problem_.model.layer_count();
    const int deepest = TablesOf(grounds_.size() - 1, sharding, 1).floor.max_depth();
    if (deepest == 0) return;
    Box box{.ground = grounds_.size() - 1, .sharding = sharding, .prices = {}, .columns = {}};
    box.least_layers = (layers + deepest - 1) / deepest;
    box.most_layers = layers;
    for (const PoolClass& c : ground.classes) box.prices.push_back(1 / c.gpus);
    box.prices.resize(ground.capacity.size() + kMoreRows, 0.0);
    double& pipeline_price = box.prices[ground.capacity.size()];
    for (const auto& [first, last] :
         {std::pair(1, std::min(1, most)), std::pair(2, most)}) {  // one synchronises nothing
      if (first > last) continue;
      box.least = first;
      box.most = last;
      pipeline_price = static_cast<double>(ground.classes.size()) / last;  // half of everything
      boxes_.push_back(box);
    }
  }

  Tables& TablesOf(size_t ground, ir::OptimizerSharding sharding, int most) {
    const int shards = sharding == ir::OptimizerSharding::kZero1 ? most : 1;
    std::unique_ptr<Tables>& tables = tables_[{ground, sharding, shards}];
    if (tables == nullptr) {
      tables = std::make_unique<Tables>(problem_, costs_, grounds_[ground], scope_.memory,
                                        OptimizerState{.sharding = sharding, .shards = shards});
    }
    return *tables;
  }

  BoxProgramme MakeProgramme(Box& box) {
    Tables& tables = TablesOf(box.ground, box.sharding, box.most);
    auto [syncs, is_new] = tables.syncs.try_emplace(box.least);
    if (is_new) syncs->second = tables.floor.LeastSyncs(*estimator_, box.least);
    PricingCase of{.seconds = 0, .syncs = &syncs->second, .most_layers = box.most_layers};
    if (is_classic_) {
      const sim::StageShape largest{.first_layer = 0,
                                    .last_layer = box.least_layers - 1,
                                    .pool = grounds_[box.ground].classes.front().pools.front(),
                                    .tensor = problem_.job.tensor_degrees.front(),
                                    .micro_batch = problem_.job.micro_batches.front()};
      of.least_sync = estimator_->SyncAtLeast(largest, box.least);
    }
    return BoxProgramme(grounds_[box.ground], batch_, tables.pricing, of, box);
  }

  bool is_exhausted() const {
    int64_t work = 0;
    for (const auto& [key, tables] : tables_) work += tables->pricing.work();
    return work >= work_;
  }

  void SplitTimes(Box& box) {
    box.is_settled = false;
    Box other = box;
    box.last = other.first = std::sqrt(box.first * box.last);
    boxes_.push_back(std::move(other));
  }

  // Cuts the box in two, the second at the end; false if it is as small as it gets.
  bool Split(Box& box) {
    const double pipelines = static_cast<double>(box.most) / box.least;
    const double layers = is_classic_ ? static_cast<double>(box.most_layers) / box.least_layers : 1;
    const double times = box.last == kInfinity || box.last < box.first * kLeastCell ? 1 : box.last / box.first;
    const double widest = std::max({pipelines, layers, times});
    if (widest == 1) return false;
    if (times == widest) {
      SplitTimes(box);
      return true;
    }
    Box other = box;
    if (layers == widest) {
      const auto middle = static_cast<int>(std::sqrt(static_cast<double>(box.least_layers) * box.most_layers));
      box.most_layers = std::min(middle, box.most_layers - 1);
      other.least_layers = box.most_layers + 1;
    } else {
      const auto middle = static_cast<int>(std::sqrt(static_cast<double>(box.least) * box.most));
      box.most = std::min(middle, box.most - 1);
      other.least = box.most + 1;
    }
    box.is_settled = other.is_settled = false;
    boxes_.push_back(std::move(other));
    return true;
  }

  const ir::Problem& problem_;
  const sim::CostModel& costs_;
  const SearchScope& scope_;
  const bool is_classic_;
  const double batch_;
  const std::unique_ptr<sim::OutlineEstimator> estimator_;
  const int64_t work_;
  std::deque<Ground> grounds_;  // tables keep references
  std::map<std::tuple<size_t, ir::OptimizerSharding, int>, std::unique_ptr<Tables>> tables_;
  std::vector<Box> boxes_;
  double precision_ = kPrecisions[0];
  bool is_leaning_ = false;  // what can be proven of a box grows with what is proven
  std::map<std::pair<size_t, ir::OptimizerSharding>, std::vector<Column>> columns_;  // of the box before
};

// The least limit of the constraints on a metric, +inf if there is none.
double LeastLimit(const SearchScope& scope, ir::Metric metric, bool at_most) {
  double limit = kInfinity;
  for (const ir::Constraint& constraint : scope.constraints) {
    if (constraint.at_most != at_most || constraint.metric != metric) continue;
    limit = std::min(limit, at_most ? constraint.limit : 1 / std::max(0.0, constraint.limit));
  }
  return limit * (1 + kLimitRelativeTolerance);
}

// What T and money per iteration are at most, given the limits on times, rates and money.
double MostTime(const ir::Problem& problem, const SearchScope& scope) {
  using ir::Metric;
  const auto steps = static_cast<double>(std::max<int64_t>(1, problem.job.steps));
  const auto batch = static_cast<double>(problem.job.global_batch);
  return std::min({LeastLimit(scope, Metric::kIterTime, true), LeastLimit(scope, Metric::kJobTime, true) / steps,
                   LeastLimit(scope, Metric::kThroughput, false), LeastLimit(scope, Metric::kGoodput, false),
                   LeastLimit(scope, Metric::kSampleRate, false) * batch,
                   LeastLimit(scope, Metric::kTokenRate, false) * batch * static_cast<double>(problem.model.seq_len)});
}

double MostMoney(const ir::Problem& problem, const SearchScope& scope) {
  using ir::Metric;
  const auto steps = static_cast<double>(std::max<int64_t>(1, problem.job.steps));
  const auto tokens = static_cast<double>(problem.job.global_batch * problem.model.seq_len);
  return std::min({LeastLimit(scope, Metric::kCostPerIter, true), LeastLimit(scope, Metric::kTotalCost, true) / steps,
                   LeastLimit(scope, Metric::kTokensPerUsd, false) * tokens});
}

// What a term measures.
enum class Kind { kTime, kRate, kGoodput, kCost, kPerCost, kOther };
Kind KindOf(const ir::ObjectiveTerm& term) {
  switch (term.metric) {
    case ir::Metric::kIterTime:
    case ir::Metric::kJobTime:
      return term.maximize ? Kind::kOther : Kind::kTime;
    case ir::Metric::kThroughput:
    case ir::Metric::kSampleRate:
    case ir::Metric::kTokenRate:
      return term.maximize ? Kind::kRate : Kind::kOther;
    case ir::Metric::kGoodput:
      return term.maximize ? Kind::kGoodput : Kind::kOther;
    case ir::Metric::kCostPerIter:
    case ir::Metric::kTotalCost:
      return term.maximize ? Kind::kOther : Kind::kCost;
    case ir::Metric::kTokensPerUsd:
      return term.maximize ? Kind::kPerCost : Kind::kOther;
    case ir::Metric::kCostRate:
    case ir::Metric::kEgressPerIter:
    case ir::Metric::kEgressCost:
    case ir::Metric::kPeakMemory:
    case ir::Metric::kNodes:
    case ir::Metric::kGpus:
      return Kind::kOther;
  }
  SAIL_CHECK(false) << "metric " << static_cast<int>(term.metric);
}

}  // namespace

double GapTo(double bound, const ir::ObjectiveTerm& term, double value) {
  if (value == bound) return 0;
  return std::max(0.0, 1 - (term.maximize ? value / bound : bound / value));
}

std::optional<Certificate> Bound(const ir::Problem& problem, const sim::CostModel& costs, const SearchScope& scope,
                                 const ir::Report& found, int64_t work) {
  const ir::ObjectiveTerm& term = scope.objective.front();
  const double value = ir::Value(found, term.metric);
  if (value == 0 && !term.maximize) return Certificate{.bound = 0, .gap = 0};
  const Kind kind = KindOf(term);
  if (kind == Kind::kOther || !(value > 0) || !std::isfinite(value)) return std::nullopt;
  const bool is_money = kind == Kind::kCost || kind == Kind::kPerCost;
  const double most_money = MostMoney(problem, scope);
  const bool has_money_rate =
      std::any_of(scope.constraints.begin(), scope.constraints.end(), [](const ir::Constraint& constraint) {
        return IsLinear(constraint) && constraint.metric == ir::Metric::kCostRate;
      });
  Bounder bounder(problem, costs, scope, is_money || most_money < kInfinity || has_money_rate, work);
  const double found_here = is_money ? found.cost_per_iteration.value() : found.iteration.value();
  const double least = is_money ? bounder.LeastCost(found_here, found.iteration.value(), MostTime(problem, scope))
                                : std::min(found_here, bounder.LeastTime(found_here, most_money));
  if (!(least > 0)) return std::nullopt;
  const bool is_inverse = kind == Kind::kRate || kind == Kind::kPerCost;
  const double bound = kind == Kind::kGoodput ? 1 / least
                       : is_inverse           ? value * found_here / least
                                              : value * least / found_here;
  return Certificate{.bound = bound, .gap = GapTo(bound, term, value)};
}

}  // namespace sail::planner
