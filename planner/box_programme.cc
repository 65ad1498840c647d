#include "planner/box_programme.h"

#include <algorithm>
#include <utility>

#include "planner/packing_lp.h"

namespace sail::planner {
namespace {

constexpr double kRounding = 1 - 1e-9;  // what sums in another order may cost a bound
constexpr double kLack = 2;             // of a pipeline's part of the batch: what one less than there have to be costs
constexpr double kMostRatio = 1000;     // of samples over prices

}  // namespace

BoxProgramme::BoxProgramme(const Ground& ground, double batch, Pricing& pricing, PricingCase of, Box& box)
    : ground_(ground), batch_(batch), pricing_(pricing), case_(of), box_(box), capacity_(ground.capacity) {
  capacity_.insert(capacity_.end(), {static_cast<double>(box.most), 0, 0, static_cast<double>(box.least)});
  for (const PoolClass& c : ground.classes) all_money_ += c.gpus * c.price;
}

double BoxProgramme::Solve(const Question& question) {
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

Pricing::Answer BoxProgramme::Prove(const Question& question) {
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

void BoxProgramme::Set(const Question& question) {
  case_.seconds = question.seconds;
  pricing_.Set(case_);
  capacity_[ground_.capacity.size() + kMoney] =
      std::min(question.money, 2 * all_money_ + 1);  // beyond, the row never binds
}

double BoxProgramme::Worth() const {
  double worth = -Price(kCounted) * box_.least;
  for (size_t r = 0; r < ground_.capacity.size() + kCounted; ++r) worth += box_.prices[r] * capacity_[r];
  return worth;
}

std::vector<double> BoxProgramme::GpuPrices() const {
  const size_t classes = ground_.classes.size();
  std::vector<double> prices(classes);
  for (size_t c = 0; c < classes; ++c) {
    prices[c] = box_.prices[c] + Price(kMoney) * ground_.classes[c].price;
    for (size_t i = 0; i < ground_.weights.size(); ++i) prices[c] += box_.prices[classes + i] * ground_.weights[i][c];
  }
  return prices;
}

void BoxProgramme::AddColumn(Chain chain) {
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

}  // namespace sail::planner
