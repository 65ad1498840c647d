// The linear programme of a box of plans (bound.h): which of the pipelines found so far reach the most samples, and the
// prices with which pricing.h looks for more.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "compiler/ir/plan.h"
#include "planner/pricing.h"

namespace sail::planner {

// What boxes of one backend share.
struct Ground {
  std::vector<PoolClass> classes;
  std::vector<std::vector<double>> weights;  // by linear limit and class: of a GPU
  std::vector<double> capacity;              // classes, limits
};

struct Column {
  Chain chain;
  std::vector<double> use;  // by row: classes, limits, MoreRow
};

struct Box {
  size_t ground = 0;
  ir::OptimizerSharding sharding = ir::OptimizerSharding::kNone;
  int least = 1, most = 1;                                           // pipelines
  int least_layers = 1, most_layers = 1;                             // of the largest stage
  double first = 0, last = std::numeric_limits<double>::infinity();  // T
  double proven = 0;           // of the time or money that is bounded: no plan in it needs less
  bool is_settled = false;     // `proven` will not become more
  double settled = 0;          // what was proven when that was doubted last
  std::vector<double> prices;  // by row
  std::vector<Column> columns;
};

// What is asked of a box: whether plans end within `seconds` and pay at most `money` a second.
struct Question {
  double seconds = 0;
  double money = std::numeric_limits<double>::infinity();
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
class BoxProgramme {
 public:
  // `of` is asked about with the question's seconds; `box` gets prices and columns. All must outlive this.
  BoxProgramme(const Ground& ground, double batch, Pricing& pricing, PricingCase of, Box& box);

  // The samples of the columns so far, and their prices for the next Prove().
  double Solve(const Question& question);
  // Whether it is proven that no plan answers the question, with the prices that are there; else, if there are any,
  // columns are added that they do not pay for.
  Pricing::Answer Prove(const Question& question);

 private:
  void Set(const Question& question);
  double Price(MoreRow row) const { return box_.prices[ground_.capacity.size() + row]; }
  // Of all that there is, at the prices.
  double Worth() const;
  std::vector<double> GpuPrices() const;
  void AddColumn(Chain chain);

  const Ground& ground_;
  const double batch_;
  Pricing& pricing_;
  PricingCase case_;
  Box& box_;
  std::vector<double> capacity_;  // by row
  double all_money_ = 0;
};

}  // namespace sail::planner
