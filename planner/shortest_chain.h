// The chain of stages that is least in a weighted sum of prices and times.
//
//   length = Σ over stages (price(kind) + W.time · t + W.transfer · boundary + W.stage) + W.tail · tail_0
//
// tail_0: synchronisation and step of the first stage. With t replaced by base + n · slope <= t, except of first
// stages, a shortest path over (stages to the end, layers of those):
//   least(j, r) = min over kinds and n <= cap(kind, j) of  fixed(kind) + slope(kind) · n + least(j − 1, r − n),
// where the minimum over n is one over a window of r' = r − n. Minima over windows of 1, 2, 4 … entries, each of two of
// the ones before, give that over any number of them: O(log cap) for each r, in loops without branches;
// O(depth · kinds · L · log L) in all.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "planner/chain_limits.h"

namespace sail::planner {

struct ChainWeights {
  double time = 0;
  double transfer = 0;
  double stage = 0;
  double tail = 0;
};

class ShortestChain {
 public:
  // `limits` must outlive this.
  explicit ShortestChain(const ChainLimits& limits);

  // By kind.
  void SetPrices(std::vector<double> prices) { prices_ = std::move(prices); }
  const std::vector<double>& prices() const { return prices_; }
  double Price(const Chain& chain) const;
  // The least length of chains within the caps; `most` and no stages in `chain` if it is no less.
  double Find(const ChainCaps& caps, const ChainWeights& weights, double most, Chain& chain);
  // States of shortest paths so far.
  int64_t work() const { return work_; }

 private:
  // Of a stage of the kind, j stages from the end, without its layers' slope.
  double Fixed(size_t kind, int j, const ChainCaps& caps, const ChainWeights& weights) const;
  // Lengths of `most` or more count as infinite.
  void FindLeast(const ChainCaps& caps, const ChainWeights& weights, double most);
  // Of r' in [r − cap, r), r' <= reach, the least of later(r') + (r − r') · slope, plus fixed, for r in [j, reach +
  // cap].
  void Relax(const double* later, int reach, double fixed, double slope, int cap, int j, double* now);
  void WalkBack(const ChainCaps& caps, const ChainWeights& weights, int rest, int depth, Chain& chain) const;
  const double* Least(int j) const { return &least_[static_cast<size_t>(j) * layers_]; }

  const ChainLimits& limits_;
  const int layers_;
  const size_t kinds_;
  std::vector<double> prices_;
  std::vector<double> least_;   // of the last FindLeast: [j · L + r]
  std::vector<double> window_;  // scratch
  std::vector<double> counts_;  // 0, 1, …
  int64_t work_ = 0;
};

}  // namespace sail::planner
