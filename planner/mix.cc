#include "planner/mix.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "planner/packing_lp.h"

namespace sail::planner {
namespace {

constexpr int kBisections = 14;
constexpr int kRoundingSteps = 24;
constexpr double kLeastWorth = 0.85;
constexpr double kRoundingStep = 1.006;  // T of a step over the one before
constexpr size_t kEntering = 8;          // columns that join the relaxation at once
constexpr double kLeastGain = 1e-7;      // of a column, relative to its value

class MixFinder {
 public:
  MixFinder(const MixProblem& problem, std::vector<int> allowed, const std::vector<double>& capacity)
      : problem_(problem), allowed_(std::move(allowed)) {
    lp_.capacity = capacity;
    for (const int shape : allowed_) {
      const auto begin = problem.use.begin() + static_cast<std::ptrdiff_t>(shape * problem.rows);
      use_.insert(use_.end(), begin, begin + static_cast<std::ptrdiff_t>(problem.rows));
      rate_.push_back((*problem.shapes)[shape].rate);
    }
    value_.resize(allowed_.size());
    is_active_.assign(allowed_.size(), false);
  }

  Mix Find(double& seconds) {
    if (allowed_.empty()) return {};
    // 1. A range of T in which the relaxation becomes enough.
    double low = rate_.front().latency;
    for (const PipelineRate& rate : rate_) low = std::min(low, rate.latency);
    double high = std::max(low, seconds);
    PackingSolution relaxed = Relax(high);
    if (IsEnough(relaxed)) {
      for (double half = high / 2; half > low; high = half, half /= 2) {
        if (!IsEnough(Relax(half))) {
          low = half;
          break;
        }
      }
    }
    for (int doublings = 0; !IsEnough(relaxed = Relax(high)); high *= 2) {
      if (++doublings > 60) return {};
      low = high;
    }
    DropDear(relaxed);
    for (int step = 0; step < kBisections && high > low * 1.0005; ++step) {
      const double middle = (low + high) / 2;
      (IsEnough(Relax(middle)) ? high : low) = middle;
    }
    seconds = high;
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
  const double* Use(size_t j) const { return &use_[j * problem_.rows]; }
  bool IsEnough(const PackingSolution& relaxed) const {
    return relaxed.value >= static_cast<double>(problem_.global_batch);
  }
  double PriceOf(size_t j, const PackingSolution& solution) const {
    double price = 0;
    for (size_t r = 0; r < problem_.rows; ++r) price += Use(j)[r] * solution.prices[r];
    return price;
  }

  // The relaxation over all columns. Few of them matter: those join that gain at the prices of the ones before, until
  // none does. Columns of the solution are indices into allowed_.
  PackingSolution Relax(double seconds) {
    for (size_t j = 0; j < rate_.size(); ++j) {
      const double samples = static_cast<double>(rate_[j].micro_batch) * rate_[j].MicroBatchesWithin(seconds);
      value_[j] = std::min(samples, static_cast<double>(problem_.global_batch));
    }
    for (;;) {
      for (size_t i = 0; i < active_.size(); ++i) lp_.value[i] = value_[active_[i]];
      PackingSolution solution = Solve(lp_);
      if (!Activate(solution)) {
        for (auto& [column, amount] : solution.columns) column = static_cast<int>(active_[column]);
        std::sort(solution.columns.begin(), solution.columns.end());
        return solution;
      }
    }
  }

  // The columns with the largest gains join; false if there are none.
  bool Activate(const PackingSolution& solution) {
    std::vector<std::pair<double, size_t>>& gains = gains_;
    gains.clear();
    for (size_t j = 0; j < allowed_.size(); ++j) {
      if (is_active_[j] || value_[j] <= 0) continue;
      const double gain = value_[j] - PriceOf(j, solution);
      if (gain > kLeastGain * value_[j]) gains.push_back({-gain, j});
    }
    const size_t entering = std::min(kEntering, gains.size());
    std::partial_sort(gains.begin(), gains.begin() + static_cast<std::ptrdiff_t>(entering), gains.end());
    for (size_t i = 0; i < entering; ++i) {
      const size_t j = gains[i].second;
      is_active_[j] = true;
      active_.push_back(j);
      lp_.use.insert(lp_.use.end(), Use(j), Use(j) + problem_.rows);
      lp_.value.push_back(value_[j]);
    }
    return entering > 0;
  }

  // Leaves the columns that are worth a good part of their price: others are in no good mix for a T close by.
  void DropDear(const PackingSolution& solution) {
    size_t kept = 0;
    for (size_t j = 0; j < allowed_.size(); ++j) {
      if (value_[j] < kLeastWorth * PriceOf(j, solution)) continue;
      std::copy(Use(j), Use(j) + problem_.rows, use_.begin() + static_cast<std::ptrdiff_t>(kept * problem_.rows));
      rate_[kept] = rate_[j];
      allowed_[kept++] = allowed_[j];
    }
    allowed_.resize(kept);
    rate_.resize(kept);
    use_.resize(kept * problem_.rows);
    value_.resize(kept);
    is_active_.assign(kept, false);
    active_.clear();
    lp_.use.clear();
    lp_.value.clear();
  }

  int64_t Samples(const Mix& mix) const {
    int64_t samples = 0;
    for (const auto& [j, count] : mix) samples += count * static_cast<int64_t>(value_[j]);
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
      bool is_fitting = value_[j] > 0;
      double price = 0;
      for (size_t r = 0; r < problem_.rows && is_fitting; ++r) {
        is_fitting = Use(j)[r] <= left[r] + 1e-9;
        price += Use(j)[r] * solution.prices[r];
      }
      if (!is_fitting) continue;
      // Samples count, and among equal efficiencies large pipelines waste less of the rest.
      const double score = price > 0 ? value_[j] * value_[j] / price : value_[j];
      if (score > best_score) {
        best = static_cast<int>(j);
        best_score = score;
      }
    }
    return best;
  }

  const MixProblem& problem_;
  std::vector<int> allowed_;                      // indices into shapes, by column
  std::vector<PipelineRate> rate_;                // by column
  std::vector<std::pair<double, size_t>> gains_;  // scratch
  std::vector<double> use_;                       // [column · rows + row]
  std::vector<double> value_;                     // by column
  std::vector<bool> is_active_;
  std::vector<size_t> active_;  // columns of lp_
  PackingLp lp_;
};

}  // namespace

Mix FindMix(const MixProblem& problem, const std::vector<int>& allowed, const std::vector<double>& capacity,
            double& seconds) {
  return MixFinder(problem, allowed, capacity).Find(seconds);
}

}  // namespace sail::planner
