#include "planner/pricing.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <utility>

namespace sail::planner {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kRounding = 1 + 1e-9;  // sums in another order
constexpr double kRoundedDown = 1 - 1e-9;
constexpr double kGood = 0.5;   // of the most that any may gain: a pipeline that ends the search for a better
constexpr double kSame = 1e-9;  // relative
constexpr double kWide = 1.1;   // ranges, last over first, that are cut in the middle
constexpr double kSteep = 4;    // of ranges that begin at 0: the end over a B in it
constexpr double kNear = 0.8;   // of a range's gain: what it gains with the most M at the price of a path
constexpr double kFlat = 50;    // of a multiplier over one that hardly counts
constexpr int kSecants = 3;
constexpr int kTightenings = 3;
constexpr double kTighter = 1.02;  // of a bound that is worth another round
constexpr int kMostRanges = 600;   // for one answer

Ends EndsAt(int j, bool is_first) { return static_cast<Ends>((is_first ? 1 : 0) + (j == 1 ? 2 : 0)); }

}  // namespace

Pricing::Pricing(const ir::Problem& problem, const StageFloor& floor, bool is_classic)
    : floor_(floor),
      is_classic_(is_classic),
      layers_(floor.layers()),
      depth_(floor.max_depth()),
      kinds_(floor.kinds().size()),
      global_batch_(problem.job.global_batch),
      micro_batches_(problem.job.micro_batches) {}

double Pricing::Tail(size_t kind, size_t micro, Ends ends, int n) const {
  const double sync = (*case_.syncs)[kind * 4 + static_cast<size_t>(ends)][n];
  return floor_.row(kind, micro, ends).step[n] + std::max(sync, case_.least_sync);
}

double Pricing::Transfers(size_t kind, size_t micro, Ends ends, int j) const {
  if (ends == Ends::kBoth) return 0;
  if (is_classic_) return floor_.send(kind, micro) * (ends == Ends::kFirst && j <= 3 ? 1 : 2);
  return ends == Ends::kLast ? 0 : floor_.boundary(kind, micro);
}

double Pricing::FirstLatency(size_t kind, size_t micro, int depth, int n) const {
  const Ends ends = EndsAt(depth, true);
  return floor_.row(kind, micro, ends).time[n] + Transfers(kind, micro, ends, depth) + Tail(kind, micro, ends, n);
}

double Pricing::HiddenShare(double first, int j) {
  return j == 1 ? 0 : first <= 1 ? 1 : (std::min<double>(first, j) - 1) / (first - 1);
}

double Pricing::Period(size_t kind, size_t micro, double first, int j, Ends ends, int n) const {
  const Row& stage = floor_.row(kind, micro, ends);
  if (is_classic_) return stage.time[n] + Transfers(kind, micro, ends, j);
  return stage.time[n] - HiddenShare(first, j) * stage.forward[n];
}

int Pricing::Cap(size_t kind, const Range& range, int j, Ends ends) const {
  const Row& row = floor_.row(kind, range.micro, ends);
  const std::vector<double>& sync = (*case_.syncs)[kind * 4 + static_cast<size_t>(ends)];
  const int in_flight = std::min(static_cast<int>(std::ceil(range.first)), j);
  const double transfers = is_classic_ ? Transfers(kind, range.micro, ends, j) : 0;
  const double share = is_classic_ ? 0 : HiddenShare(range.first, j);
  const double hidden = is_classic_ ? 0 : std::min<double>(range.first, j) - 1;
  const double others = is_classic_ ? 0 : floor_.forward_share() * floor_.pass(range.micro);
  const double factor = range.first - (is_classic_ ? 0 : floor_.forward_share());
  const auto holds = [&](int n) {
    const double time = row.time[n] + transfers;
    if (!(time - share * row.forward[n] <= range.most)) return false;
    const double end = std::max(range.first * time, others + factor * time - hidden * row.forward[n]);
    return end + row.step[n] + std::max(sync[n], case_.least_sync) <= case_.seconds * kRounding;
  };
  const int most = std::min(row.fits[in_flight], case_.most_layers);
  if (ends == Ends::kBoth) return most == layers_ && holds(layers_) ? layers_ : 0;
  int low = 0, high = most;
  while (low < high) {
    const int middle = (low + high + 1) / 2;
    if (holds(middle)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

void Pricing::SetCaps(const Range& range) {
  caps_.assign((depth_ + 1) * kinds_, 0);
  first_caps_ = caps_;
  for (int j = 1; j <= depth_; ++j) {
    for (size_t kind = 0; kind < kinds_; ++kind) {
      const size_t at = j * kinds_ + kind;
      if (j < depth_) caps_[at] = Cap(kind, range, j, EndsAt(j, false));
      if (floor_.IsDepth(j)) first_caps_[at] = Cap(kind, range, j, EndsAt(j, true));
    }
  }
}

double Pricing::Latency(const Chain& chain) const {
  const int depth = static_cast<int>(chain.stages.size());
  double latency = FirstLatency(chain.stages[0].kind, chain.micro, depth, chain.stages[0].layers);
  for (int j = depth - 1; j > 0; --j) {
    const Chain::Stage& stage = chain.stages[depth - j];
    const Row& row = floor_.row(stage.kind, chain.micro, EndsAt(j, false));
    latency += row.base + stage.layers * row.slope + Transfers(stage.kind, chain.micro, EndsAt(j, false), j);
  }
  return latency;
}

double Pricing::Price(const Chain& chain) const {
  double price = pipeline_price_;
  for (const Chain::Stage& stage : chain.stages) price += prices_[stage.kind];
  return price;
}

double Pricing::Samples(const Chain& chain) const {
  const int micro_batch = micro_batches_[chain.micro];
  const auto depth = static_cast<int>(chain.stages.size());
  const double left = case_.seconds - Latency(chain);
  if (left < 0) return 0;
  auto count = static_cast<double>(global_batch_) / micro_batch;
  for (int s = 0; s < depth; ++s) {
    const auto [kind, n] = chain.stages[s];
    const int j = depth - s;
    const Ends ends = EndsAt(j, s == 0);
    const Row& row = floor_.row(kind, chain.micro, ends);
    const double time = row.time[n] + (is_classic_ ? Transfers(kind, chain.micro, ends, j) : 0);
    const double forward = is_classic_ ? 0 : row.forward[n];
    double most = 1 + (left + (j - 1) * forward) / time;
    if (most < j) most = 1 + left / (time - forward);
    most = std::min(most, (case_.seconds - Tail(kind, chain.micro, ends, n)) / time);
    int in_flight = 0;  // that fit
    while (in_flight < j && row.fits[in_flight + 1] >= n) ++in_flight;
    if (in_flight < j) most = std::min<double>(most, in_flight);
    if (n > case_.most_layers) most = 0;
    count = std::min(count, most);
  }
  return count < 1 ? 0 : count * micro_batch;
}

void Pricing::FindLeast(size_t micro, double multiplier, double most) {
  least_.assign(static_cast<size_t>(depth_) * layers_, kInfinity);
  steps_.resize(least_.size());
  least_[0] = 0;
  window_.resize(layers_ + 1);
  int reach = 0;  // layers that j stages can hold
  for (int j = 1; j < depth_; ++j) {
    const int cap_here = *std::max_element(&caps_[j * kinds_], &caps_[j * kinds_] + kinds_);
    const int before = reach;
    reach = std::min(layers_ - 1, reach + cap_here);
    if (cap_here == 0) break;
    bool is_open = false;
    const Ends ends = EndsAt(j, false);
    const double* later = &least_[static_cast<size_t>(j - 1) * layers_];
    double* now = &least_[static_cast<size_t>(j) * layers_];
    Step* steps = &steps_[static_cast<size_t>(j) * layers_];
    for (size_t kind = 0; kind < kinds_; ++kind) {
      const int cap = caps_[j * kinds_ + kind];
      if (cap == 0) continue;
      const Row& stage = floor_.row(kind, micro, ends);
      const double fixed = prices_[kind] + multiplier * (stage.base + Transfers(kind, micro, ends, j));
      const double slope = multiplier * stage.slope;
      const int last = std::min(reach, before + cap);
      work_ += last - j + 1;
      // Of r' in [r − cap, r − 1] the least later(r') + (r − r')·slope; candidates by r', their values ascending.
      int front = 0, back = 0;
      for (int r = j; r <= last; ++r) {
        const double entering = later[r - 1] - (r - 1) * slope;
        while (back > front && later[window_[back - 1]] - window_[back - 1] * slope >= entering) --back;
        window_[back++] = r - 1;
        if (window_[front] < r - cap) ++front;
        const int rest = window_[front];
        const double length = fixed + later[rest] + (r - rest) * slope;
        if (length >= now[r] || length >= most) continue;
        is_open = true;
        now[r] = length;
        steps[r] = {.kind = static_cast<int>(kind), .rest = rest};
      }
    }
    if (!is_open) break;
  }
}

double Pricing::Shortest(size_t micro, double multiplier, double most, Chain& path) {
  FindLeast(micro, multiplier, most);
  // 1. The best first stage.
  double best = most;
  int depth = 0;
  Chain::Stage first;
  for (int j = 1; j <= depth_; ++j) {
    const double* later = &least_[static_cast<size_t>(j - 1) * layers_];
    for (size_t kind = 0; kind < kinds_; ++kind) {
      const int cap = first_caps_[j * kinds_ + kind];
      work_ += cap;
      for (int n = j == 1 ? layers_ : 1; n <= cap; ++n) {
        if (prices_[kind] + later[layers_ - n] >= best) continue;
        const double whole = prices_[kind] + multiplier * FirstLatency(kind, micro, j, n) + later[layers_ - n];
        if (whole >= best) continue;
        best = whole;
        depth = j;
        first = {.kind = static_cast<int>(kind), .layers = n};
      }
    }
  }
  if (depth == 0) return best;
  // 2. Back along what made each length.
  path.micro = micro;
  path.stages = {first};
  int rest = layers_ - first.layers;
  for (int j = depth - 1; j > 0; --j) {
    const Step& step = steps_[static_cast<size_t>(j) * layers_ + rest];
    path.stages.push_back({.kind = step.kind, .layers = rest - step.rest});
    rest = step.rest;
  }
  return best;
}

Pricing::Trial Pricing::Try(Range& range, double multiplier) {
  Trial trial;
  const double worth = micro_batches_[range.micro] / ratio_;  // of a micro-batch
  // What the range gains beside the path.
  double rest = worth * range.last + multiplier * Latest(range) - pipeline_price_;
  if (range.least > 0 && multiplier == worth / range.least) {
    rest = std::min(rest, worth + multiplier * case_.seconds - pipeline_price_);
  }
  Chain path;
  range.gain = std::min(range.gain, rest - Shortest(range.micro, multiplier, rest, path));
  if (path.stages.empty()) return trial;
  trial = {.price = Price(path), .latency = Latency(path)};
  const double count = Samples(path) / micro_batches_[range.micro];
  if (!range.path.stages.empty() && worth * count - trial.price <= range.path_gain) return trial;
  range.path_count = count;
  range.path_gain = worth * count - trial.price;
  range.path = std::move(path);
  return trial;
}

// No pipeline that gains has fewer micro-batches than pay for its stages, nor more than its period allows; and that is
// the period of one of its stages.
bool Pricing::Tighten(Range& range) {
  const double worth = micro_batches_[range.micro] / ratio_;
  for (int round = 0; round < kTightenings; ++round) {
    SetCaps(range);
    double layer = kInfinity;   // least price of one
    double period = kInfinity;  // least of the range
    for (int j = 1; j <= depth_; ++j) {
      for (size_t kind = 0; kind < kinds_; ++kind) {
        const size_t at = j * kinds_ + kind;
        const int most = std::max(caps_[at], first_caps_[at]);
        if (most == 0) continue;
        layer = std::min(layer, prices_[kind] / most);
        for (const bool is_first : {false, true}) {
          const int cap = is_first ? first_caps_[at] : caps_[at];
          if (cap > 0) period = std::min(period, LeastPeriod(kind, range, j, EndsAt(j, is_first), cap));
        }
      }
    }
    if (period == kInfinity) return false;
    range.least = std::max(range.least, period * kRoundedDown);
    range.last = std::min(range.last, 1 + (case_.seconds - floor_.pass(range.micro)) / range.least);
    const double first = (pipeline_price_ + layers_ * layer) * kRoundedDown / worth;
    if (std::max(first, range.first) > range.last) return false;
    if (first <= range.first * kTighter) break;
    range.first = first;
  }
  return true;
}

double Pricing::LeastPeriod(size_t kind, const Range& range, int j, Ends ends, int cap) const {
  const auto may_last = [&](int n) { return Period(kind, range.micro, range.last, j, ends, n) >= range.least; };
  if (!may_last(cap)) return kInfinity;
  int low = ends == Ends::kBoth ? cap : 1, high = cap;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (may_last(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return Period(kind, range.micro, range.first, j, ends, low);
}

bool Pricing::Rate(Range& range) {
  range.path.stages.clear();
  range.gain = 0;
  if (!Tighten(range)) return false;
  range.gain = kInfinity;
  const double worth = micro_batches_[range.micro] / ratio_;
  double multiplier = worth / std::max(range.least, range.most / kSteep);
  Trial fast = Try(range, multiplier);
  if (range.gain <= 0) return false;
  // Where the most M bounds the samples a path that is fast need not be so dear.
  if (fast.latency < Latest(range) && worth * range.last - fast.price < kNear * range.gain) {
    Trial slow = Try(range, multiplier / kFlat);
    for (int step = 0; step < kSecants && range.gain > 0 && slow.latency > Latest(range); ++step) {
      multiplier = (fast.price - slow.price) / (slow.latency - fast.latency);
      if (!(multiplier > 0)) break;
      const Trial next = Try(range, multiplier);
      (next.latency > Latest(range) ? slow : fast) = next;
    }
    if (range.gain <= 0) return false;
  }
  range.path_period = 0;
  const auto depth = static_cast<int>(range.path.stages.size());
  for (int s = 0; s < depth; ++s) {
    const auto [kind, n] = range.path.stages[s];
    range.path_period =
        std::max(range.path_period, Period(kind, range.micro, range.first, depth - s, EndsAt(depth - s, s == 0), n));
  }
  return true;
}

Pricing::Answer Pricing::FindBetter(const std::vector<double>& gpu_prices, double pipeline_price, double ratio,
                                    Chain& found) {
  ratio_ = ratio;
  pipeline_price_ = pipeline_price;
  prices_.clear();
  for (const StageFloor::Kind& kind : floor_.kinds()) prices_.push_back(kind.tensor * gpu_prices[kind.of_class]);
  std::priority_queue<Range> ranges;
  const auto add = [&](Range range) {
    if (Rate(range)) ranges.push(std::move(range));
  };
  for (size_t micro = 0; micro < micro_batches_.size(); ++micro) {
    const double most = static_cast<double>(global_batch_) / micro_batches_[micro];
    for (double first = 1; first <= most; first *= 4) {
      const double last = std::min(most, first * 4);
      const double longest = case_.seconds / std::max(0.5, first - 1);
      const double shortest = case_.seconds / last / 4;
      add({.micro = micro, .first = first, .last = last, .most = std::nextafter(shortest, 0), .path = {}});
      add({.micro = micro, .first = first, .last = last, .least = shortest, .most = longest, .path = {}});
      if (last == most) break;
    }
  }
  for (int count = 0; !ranges.empty(); ++count) {
    Range range = ranges.top();
    if (range.path_gain > 0 && range.path_gain >= kGood * range.gain) {
      found = std::move(range.path);
      return Answer::kFound;
    }
    if (count == kMostRanges) return Answer::kUnknown;
    ranges.pop();
    Range low = range, high = range;
    const double counts = range.last / range.first;
    const double periods = range.least > 0 ? range.most / range.least : kSteep;
    const double period = range.path_period;
    if (std::max(counts, periods) > kWide) {
      if (counts > periods) {
        low.last = high.first = std::sqrt(range.first * range.last);
      } else {
        high.least = range.most / std::sqrt(periods);
        low.most = std::nextafter(high.least, 0);
      }
    } else if (period > range.least * (1 + kSame)) {
      high.least = period;
      low.most = std::nextafter(period, 0);
    } else if (counts > 1 + kSame) {
      const bool is_inside = range.path_count > range.first * (1 + kSame) && range.path_count < range.last;
      low.last = high.first = is_inside ? range.path_count : (range.first + range.last) / 2;
    } else if (range.path_gain > 0) {
      found = std::move(range.path);
      return Answer::kFound;
    } else {
      return Answer::kUnknown;
    }
    add(std::move(low));
    add(std::move(high));
  }
  return Answer::kNone;
}

}  // namespace sail::planner
