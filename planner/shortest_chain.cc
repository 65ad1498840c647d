#include "planner/shortest_chain.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace sail::planner {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

ShortestChain::ShortestChain(const ChainLimits& limits)
    : limits_(limits), layers_(limits.floor().layers()), kinds_(limits.floor().kinds().size()) {
  for (int n = 0; n <= layers_; ++n) counts_.push_back(n);
}

double ShortestChain::Fixed(size_t kind, int j, const ChainCaps& caps, const ChainWeights& weights) const {
  const Ends ends = EndsAt(j, false);
  return prices_[kind] + weights.stage + weights.time * limits_.floor().row(kind, caps.micro, ends).base +
         weights.transfer * limits_.Transfers(kind, caps.micro, ends, j, caps.by_nodes);
}

void ShortestChain::Relax(const double* later, int reach, double fixed, double slope, int cap, int j, double* now) {
  // From −cap on; infinite outside of [0, reach].
  double* const __restrict entering = &window_[layers_];
  const double* const __restrict counts = counts_.data();
  std::fill(entering - cap, entering, kInfinity);
  for (int r = 0; r <= reach; ++r) entering[r] = later[r] - counts[r] * slope;
  std::fill(entering + reach + 1, entering + layers_, kInfinity);
  // entering[r] becomes the least of entering[r, r + width).
  int width = 1;
  for (; 2 * width <= cap; width *= 2) {
    for (int r = -cap; r <= reach; ++r) entering[r] = std::min(entering[r], entering[r + width]);
  }
  const int last = std::min(layers_ - 1, reach + cap);
  for (int r = j; r <= last; ++r) {
    const double least = std::min(entering[r - cap], entering[r - width]);
    now[r] = std::min(now[r], fixed + counts[r] * slope + least);
  }
}

void ShortestChain::FindLeast(const ChainCaps& caps, const ChainWeights& weights, double most) {
  least_.assign(static_cast<size_t>(caps.deepest) * layers_, kInfinity);
  least_[0] = 0;
  window_.assign(3 * layers_, kInfinity);
  int reach = 0;  // layers that j stages can hold
  for (int j = 1; j < caps.deepest; ++j) {
    const int* cap = &caps.later[j * kinds_];
    const int largest = *std::max_element(cap, cap + kinds_);
    if (largest == 0) break;
    const int before = std::exchange(reach, std::min(layers_ - 1, reach + largest));
    double* now = &least_[static_cast<size_t>(j) * layers_];
    for (size_t kind = 0; kind < kinds_; ++kind) {
      if (cap[kind] == 0) continue;
      work_ += std::min(reach, before + cap[kind]) - j + 1;
      const double slope = weights.time * limits_.floor().row(kind, caps.micro, EndsAt(j, false)).slope;
      Relax(Least(j - 1), before, Fixed(kind, j, caps, weights), slope, cap[kind], j, now);
    }
    // Stages may only add to the length.
    if (j > reach || (weights.stage >= 0 && *std::min_element(now + j, now + reach + 1) >= most)) break;
  }
}

double ShortestChain::Find(const ChainCaps& caps, const ChainWeights& weights, double most, Chain& chain) {
  FindLeast(caps, weights, most);
  double best = most;
  int depth = 0;
  Chain::Stage first;
  for (int j = caps.shallowest; j <= caps.deepest; ++j) {
    const double* later = Least(j - 1);
    const Ends ends = EndsAt(j, true);
    for (size_t kind = 0; kind < kinds_; ++kind) {
      const int cap = caps.first[j * kinds_ + kind];
      work_ += cap;
      const std::vector<double>& time = limits_.floor().row(kind, caps.micro, ends).time;
      const double fixed = prices_[kind] + weights.stage +
                           weights.transfer * limits_.Transfers(kind, caps.micro, ends, j, caps.by_nodes);
      for (int n = j == 1 ? layers_ : 1; n <= cap; ++n) {
        const double lower = fixed + weights.time * time[n] + later[layers_ - n];
        if (lower >= best) continue;
        const double whole = lower + weights.tail * limits_.Tail(kind, caps.micro, ends, n);
        if (whole >= best) continue;
        best = whole;
        depth = j;
        first = {.kind = static_cast<int>(kind), .layers = n};
      }
    }
  }
  if (depth == 0) return best;
  chain.micro = caps.micro;
  chain.stages = {first};
  WalkBack(caps, weights, layers_ - first.layers, depth, chain);
  return best;
}

double ShortestChain::Price(const Chain& chain) const {
  double price = 0;
  for (const Chain::Stage& stage : chain.stages) price += prices_[stage.kind];
  return price;
}

void ShortestChain::WalkBack(const ChainCaps& caps, const ChainWeights& weights, int rest, int depth,
                             Chain& chain) const {
  for (int j = depth - 1; j > 0; --j) {
    double least = kInfinity;
    Chain::Stage stage;
    for (size_t kind = 0; kind < kinds_; ++kind) {
      const double slope = weights.time * limits_.floor().row(kind, caps.micro, EndsAt(j, false)).slope;
      const double fixed = Fixed(kind, j, caps, weights);
      for (int n = 1; n <= std::min(caps.later[j * kinds_ + kind], rest); ++n) {
        const double length = fixed + slope * n + Least(j - 1)[rest - n];
        if (length >= least) continue;
        least = length;
        stage = {.kind = static_cast<int>(kind), .layers = n};
      }
    }
    chain.stages.push_back(stage);
    rest -= stage.layers;
  }
}

}  // namespace sail::planner
