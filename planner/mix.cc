#include "planner/mix.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "planner/packing_lp.h"

namespace sail::planner {
namespace {

constexpr int kBisections = 14;
constexpr int kRoundingSteps = 24;
constexpr double kLeastWorth = 0.7;
constexpr double kRoundingStep = 1.006;  // T of a step over the one before

class MixFinder {
 public:
  MixFinder(const MixProblem& problem, std::vector<int> allowed, const std::vector<double>& capacity)
      : problem_(problem), allowed_(std::move(allowed)) {
    lp_.capacity = capacity;
    for (const int shape : allowed_) {
      const auto begin = problem.use.begin() + static_cast<std::ptrdiff_t>(shape * problem.rows);
      lp_.use.insert(lp_.use.end(), begin, begin + static_cast<std::ptrdiff_t>(problem.rows));
    }
    lp_.value.resize(allowed_.size());
  }

  Mix Find() {
    if (allowed_.empty()) return {};
    // 1. A range of T in which the relaxation becomes enough.
    double low = shape(0).rate.latency;
    for (size_t j = 0; j < allowed_.size(); ++j) low = std::min(low, shape(j).rate.latency);
    double high = low;
    int doublings = 0;
    while (Relax(high).value < static_cast<double>(problem_.global_batch)) {
      if (++doublings > 60) return {};
      low = high;
      high *= 2;
    }
    DropDear(Relax(high));
    for (int step = 0; step < kBisections && high > low * 1.0005; ++step) {
      const double middle = (low + high) / 2;
      (Relax(middle).value >= static_cast<double>(problem_.global_batch) ? high : low) = middle;
    }
    // 2. The first T above it that whole pipelines reach.
    for (int step = 0; step < kRoundingSteps; ++step, high *= kRoundingStep) {
      Mix mix = Round(Relax(high));
      if (Samples(mix) >= problem_.global_batch) return Named(std::move(mix));
    }
    // 3. Few large pipelines round badly: wider steps.
    for (int step = 0; step < 60; ++step, high *= 1.1) {
      Mix mix = Round(Relax(high));
      if (Samples(mix) >= problem_.global_batch) return Named(std::move(mix));
    }
    return {};
  }

 private:
  const PipelineShape& shape(size_t j) const { return (*problem_.shapes)[allowed_[j]]; }
  const double* Use(size_t j) const { return &lp_.use[j * problem_.rows]; }

  PackingSolution Relax(double seconds) {
    for (size_t j = 0; j < allowed_.size(); ++j) {
      const PipelineRate& rate = shape(j).rate;
      const double samples = static_cast<double>(rate.micro_batch) * rate.MicroBatchesWithin(seconds);
      lp_.value[j] = std::min(samples, static_cast<double>(problem_.global_batch));
    }
    return Solve(lp_);
  }

  // Leaves the columns that are worth a good part of their price: others are in no good mix for a T close by.
  void DropDear(const PackingSolution& solution) {
    size_t kept = 0;
    for (size_t j = 0; j < allowed_.size(); ++j) {
      double price = 0;
      for (size_t r = 0; r < problem_.rows; ++r) price += Use(j)[r] * solution.prices[r];
      if (lp_.value[j] < kLeastWorth * price) continue;
      std::copy(Use(j), Use(j) + problem_.rows, lp_.use.begin() + static_cast<std::ptrdiff_t>(kept * problem_.rows));
      allowed_[kept++] = allowed_[j];
    }
    allowed_.resize(kept);
    lp_.use.resize(kept * problem_.rows);
    lp_.value.resize(kept);
  }

  int64_t Samples(const Mix& mix) const {
    int64_t samples = 0;
    for (const auto& [j, count] : mix) samples += count * static_cast<int64_t>(lp_.value[j]);
    return samples;
  }

  // In indices of columns.
  Mix Round(const PackingSolution& solution) const {
    std::vector<double> left = lp_.capacity;
    std::map<int, int> mix;
    for (const auto& [j, amount] : solution.columns) {
      const int whole = static_cast<int>(std::floor(amount + 1e-9));
      if (whole > 0) mix[j] = whole;
      for (size_t r = 0; r < problem_.rows; ++r) left[r] -= whole * Use(j)[r];
    }
    for (int j = BestFit(solution, left); j >= 0; j = BestFit(solution, left)) {
      ++mix[j];
      for (size_t r = 0; r < problem_.rows; ++r) left[r] -= Use(j)[r];
    }
    return Mix(mix.begin(), mix.end());
  }

  // The same in indices of shapes.
  Mix Named(Mix mix) const {
    for (auto& [column, count] : mix) column = allowed_[column];
    return mix;
  }

  int BestFit(const PackingSolution& solution, const std::vector<double>& left) const {
    int best = -1;
    double best_score = 0;
    for (size_t j = 0; j < allowed_.size(); ++j) {
      bool is_fitting = lp_.value[j] > 0;
      double price = 0;
      for (size_t r = 0; r < problem_.rows && is_fitting; ++r) {
        is_fitting = Use(j)[r] <= left[r] + 1e-9;
        price += Use(j)[r] * solution.prices[r];
      }
      if (!is_fitting) continue;
      // Samples count, and among equal efficiencies large pipelines waste less of the rest.
      const double score = price > 0 ? lp_.value[j] * lp_.value[j] / price : lp_.value[j];
      if (score > best_score) {
        best = static_cast<int>(j);
        best_score = score;
      }
    }
    return best;
  }

  const MixProblem& problem_;
  std::vector<int> allowed_;  // indices into shapes, by column
  PackingLp lp_;
};

}  // namespace

Mix FindMix(const MixProblem& problem, const std::vector<int>& allowed, const std::vector<double>& capacity) {
  return MixFinder(problem, allowed, capacity).Find();
}

}  // namespace sail::planner
