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
#include "planner/packing_lp.h"
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
constexpr double kLack = 2;              // of a pipeline's part of the batch: what one less than there have to be costs
constexpr double kGoals[] = {0.7, 1.0};  // shares of the best goal, one after the other
constexpr double kMostRatio = 1000;      // of samples over prices
constexpr int kMaxRounds = 60;           // of column generation

// What boxes of one backend share.
struct Ground {
  std::vector<PoolClass> classes;
  std::vector<std::vector<double>> weights;  // by linear limit and class: of a GPU
  std::vector<double> capacity;              // classes, limits
};

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

struct Column {
  Chain chain;
  std::vector<double> use;  // by row: classes, limits, MoreRow
};

struct Box {
  size_t ground = 0;
  ir::OptimizerSharding sharding = ir::OptimizerSharding::kNone;
  int least = 1, most = 1;                // pipelines
  int least_layers = 1, most_layers = 1;  // of the largest stage
  double first = 0, last = kInfinity;     // T
  double proven = 0;                      // of the time or money that is bounded: no plan in it needs less
  bool is_settled = false;                // `proven` will not become more
  double settled = 0;                     // what was proven when that was doubted last
  std::vector<double> prices;             // by row
  std::vector<Column> columns;
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

// What is asked of a box: whether plans end within `seconds` and pay at most `money` a second.
struct Question {
  double seconds = 0;
  double money = kInfinity;
};

// Rows beside those of the ground. That a plan has no fewer pipelines than its box says is not a packing row, so one
// more variable counts them up to the fewest; each that it lacks of those costs kLack of a pipeline's part of the
// batch.
enum MoreRow : size_t {
  kPipelines,  // Σ x <= most
  kMoney,      // per second
  kCounted,    // counted − Σ x <= 0
  kFewest,     // counted <= fewest
  kMoreRows
};

// The linear programme of a box.
class Master {
 public:
  Master(const Ground& ground, double batch, Pricing& pricing, PricingCase of, Box& box)
      : ground_(ground), batch_(batch), pricing_(pricing), case_(of), box_(box), capacity_(ground.capacity) {
    capacity_.insert(capacity_.end(), {static_cast<double>(box.most), 0, 0, static_cast<double>(box.least)});
    for (const PoolClass& c : ground.classes) all_money_ += c.gpus * c.price;
  }

  // The samples of the columns so far, and their prices for the next FindBetter().
  double Solve(const Question& question) {
    Set(question);
    PackingLp lp{.capacity = capacity_, .use = {}, .value = {}};
    for (const Column& column : box_.columns) {
      const double samples = pricing_.Samples(column.chain);
      if (samples <= 0) continue;
      lp.value.push_back(samples);
      lp.use.insert(lp.use.end(), column.use.begin(), column.use.end());
    }
    if (lp.value.empty()) return 0;
    const double lack = box_.least > 1 ? kLack * batch_ / box_.least : 0;
    if (lack > 0) {
      lp.value.push_back(lack);
      lp.use.insert(lp.use.end(), capacity_.size(), 0.0);
      lp.use.end()[kCounted - kMoreRows] = lp.use.end()[kFewest - kMoreRows] = 1;
    }
    PackingSolution solution = planner::Solve(lp);
    box_.prices = std::move(solution.prices);
    for (double& price : box_.prices) price = std::max(price, 0.0);
    return solution.value - lack * box_.least;
  }

  // Whether it is proven that no plan answers the question, with the prices that are there; else, if there is one, a
  // column is added that they do not pay for.
  Pricing::Answer Prove(const Question& question) {
    Set(question);
    // Where nothing is worth anything, any ratio proves it.
    const double ratio = batch_ * kRounding / std::max(Worth(), batch_ / kMostRatio);
    std::vector<Chain> chains;
    const Pricing::Answer answer = pricing_.FindBetter(GpuPrices(), Price(kPipelines) - Price(kCounted), ratio, chains);
    if (answer != Pricing::Answer::kFound) return answer;
    const size_t before = box_.columns.size();
    for (Chain& chain : chains) {
      // By rounding a column may seem worth more than it costs.
      const bool is_known = std::any_of(box_.columns.begin(), box_.columns.end(),
                                        [&](const Column& column) { return column.chain == chain; });
      if (!is_known) AddColumn(std::move(chain));
    }
    return box_.columns.size() > before ? answer : Pricing::Answer::kUnknown;
  }

 private:
  void Set(const Question& question) {
    case_.seconds = question.seconds;
    pricing_.Set(case_);
    capacity_[ground_.capacity.size() + kMoney] =
        std::min(question.money, 2 * all_money_ + 1);  // beyond, the row never binds
  }

  double Price(MoreRow row) const { return box_.prices[ground_.capacity.size() + row]; }

  // Of all that there is, at the prices.
  double Worth() const {
    double worth = -Price(kCounted) * box_.least;
    for (size_t r = 0; r < ground_.capacity.size() + kCounted; ++r) worth += box_.prices[r] * capacity_[r];
    return worth;
  }

  std::vector<double> GpuPrices() const {
    const size_t classes = ground_.classes.size();
    std::vector<double> prices(classes);
    for (size_t c = 0; c < classes; ++c) {
      prices[c] = box_.prices[c] + Price(kMoney) * ground_.classes[c].price;
      for (size_t i = 0; i < ground_.weights.size(); ++i) prices[c] += box_.prices[classes + i] * ground_.weights[i][c];
    }
    return prices;
  }

  void AddColumn(Chain chain) {
    Column column{.chain = std::move(chain), .use = std::vector<double>(ground_.classes.size(), 0.0)};
    for (const Chain::Stage& stage : column.chain.stages) {
      const StageFloor::Kind& kind = pricing_.kind(stage.kind);
      column.use[kind.of_class] += kind.tensor;
    }
    const std::vector<double> gpus = column.use;
    double money = 0;
    for (const std::vector<double>& weights : ground_.weights) {
      double sum = 0;
      for (size_t c = 0; c < weights.size(); ++c) sum += weights[c] * gpus[c];
      column.use.push_back(sum);
    }
    for (size_t c = 0; c < gpus.size(); ++c) money += ground_.classes[c].price * gpus[c];
    column.use.insert(column.use.end(), {1, money, -1, 0});
    box_.columns.push_back(std::move(column));
  }

  const Ground& ground_;
  const double batch_;
  Pricing& pricing_;
  PricingCase case_;
  Box& box_;
  std::vector<double> capacity_;  // by row
  double all_money_ = 0;
};

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
      Master master = MakeMaster(box);
      // The least at which the columns reach the batch, from above.
      if (master.Solve(ask(box, above)) >= batch_ * kReached) {
        double below = box.proven;
        while (above - below > precision_ / 4 * goal) {
          const double middle = (above + below) / 2;
          (master.Solve(ask(box, middle)) >= batch_ * kReached ? above : below) = middle;
        }
      }
      const double next = above == goal ? goal : above - precision_ * goal;
      if (next <= box.proven) break;
      master.Solve(ask(box, next));
      const Pricing::Answer answer = master.Prove(ask(box, next));
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

  Master MakeMaster(Box& box) {
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
    return Master(grounds_[box.ground], batch_, tables.pricing, of, box);
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
