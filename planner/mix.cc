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
constexpr double kTimePrecision = 1e-8;  // relative; far below one micro-batch
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

namespace {

double EndOf(const PipelineRate& rate, int micro_batches) {
  return rate.latency + (micro_batches - 1) * rate.bottleneck;
}

// Takes micro-batches of `excess` samples in total away, leaving one each. False if no combination exists.
// least[k][e] = fewest micro-batches of the k-th size that, with any of the sizes before, make up e samples; -1: none
// do.
bool TakeAway(const std::vector<PipelineRate>& pipelines, int64_t excess, std::vector<int>& counts) {
  if (excess == 0) return true;
  std::map<int, int64_t, std::greater<int>> spare;  // micro-batches that may go, by size
  for (size_t p = 0; p < pipelines.size(); ++p) spare[pipelines[p].micro_batch] += counts[p] - 1;
  std::vector<std::pair<int, int64_t>> sizes(spare.begin(), spare.end());
  std::vector<std::vector<int>> least(sizes.size() + 1, std::vector<int>(excess + 1, -1));
  least[0][0] = 0;
  for (size_t k = 0; k < sizes.size(); ++k) {
    const auto [size, most] = sizes[k];
    for (int64_t e = 0; e <= excess; ++e) {
      if (least[k][e] >= 0) {
        least[k + 1][e] = 0;
      } else if (e >= size && least[k + 1][e - size] >= 0 && least[k + 1][e - size] < most) {
        least[k + 1][e] = least[k + 1][e - size] + 1;
      }
    }
  }
  if (least[sizes.size()][excess] < 0) return false;
  for (size_t k = sizes.size(); k-- > 0;) {
    const int size = sizes[k].first;
    int take = least[k + 1][excess];
    excess -= static_cast<int64_t>(take) * size;
    for (; take > 0; --take) {
      int last = -1;
      for (int p = 0; p < static_cast<int>(pipelines.size()); ++p) {
        if (pipelines[p].micro_batch != size || counts[p] < 2) continue;
        if (last < 0 || EndOf(pipelines[p], counts[p]) > EndOf(pipelines[last], counts[last])) last = p;
      }
      --counts[last];
    }
  }
  return true;
}

}  // namespace

std::optional<std::vector<int>> ShareSamples(const std::vector<PipelineRate>& pipelines, int64_t global_batch) {
  // 1. Within T each pipeline runs what it can, but at least one micro-batch.
  const auto samples_within = [&](double seconds) {
    int64_t samples = 0;
    for (const PipelineRate& rate : pipelines) {
      samples += int64_t{rate.micro_batch} * std::max(1, rate.MicroBatchesWithin(seconds));
    }
    return samples;
  };
  int64_t least = 0;
  double low = 0, high = 0;
  for (const PipelineRate& rate : pipelines) {
    if (rate.max_micro_batches < 1) return std::nullopt;
    least += rate.micro_batch;
    high = std::max(high, rate.latency);
  }
  if (least > global_batch) return std::nullopt;
  if (least == global_batch) return std::vector<int>(pipelines.size(), 1);
  for (int doublings = 0; samples_within(high) < global_batch; high = std::max(2 * high, 1e-9)) {
    if (++doublings > 100) return std::nullopt;  // memory limits the micro-batches
    low = high;
  }
  // 2. The least T: counts change only where a micro-batch ends.
  while (high > low * (1 + kTimePrecision)) {
    const double middle = (low + high) / 2;
    (samples_within(middle) >= global_batch ? high : low) = middle;
  }
  // 3. Exactly the batch; T rises by one micro-batch of some pipeline where sizes do not combine to it.
  for (int attempt = 0; attempt < 32; ++attempt) {
    std::vector<int> counts;
    for (const PipelineRate& rate : pipelines) counts.push_back(std::max(1, rate.MicroBatchesWithin(high)));
    if (TakeAway(pipelines, samples_within(high) - global_batch, counts)) return counts;
    double next = -1;
    for (size_t p = 0; p < pipelines.size(); ++p) {
      if (counts[p] >= pipelines[p].max_micro_batches) continue;
      const double end = EndOf(pipelines[p], counts[p] + 1);
      if (next < 0 || end < next) next = end;
    }
    if (next < 0) return std::nullopt;
    high = std::max(next, std::nextafter(high, 2 * high)) * (1 + 1e-12);
  }
  return std::nullopt;
}

}  // namespace sail::planner
