#include "planner/pricing.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <utility>

namespace sail::planner {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kRoundedDown = 1 - 1e-9;
constexpr double kRoundedUp = 1 + 1e-9;
constexpr double kGood = 0.5;       // of the most that any may gain: a pipeline that ends the search for a better
constexpr double kSame = 1e-9;      // relative
constexpr double kWide = 1.1;       // ranges, last over first, that are cut in the middle
constexpr double kCoarse = 1.5;     // and that are not looked at closely before
constexpr double kSteep = 4;        // of ranges that begin at 0: the end over a B in it
constexpr double kNear = 0.8;       // of a range's gain: what it gains with the most M at the price of a path
constexpr double kFlat = 50;        // of a multiplier over one that hardly counts
constexpr double kNarrow = 1.0001;  // ranges of B that are not cut any more
constexpr int kSecants = 3;
constexpr int kTightenings = 3;
constexpr double kTighter = 1.02;  // of a bound that is worth another round
constexpr size_t kMostFound = 6;   // pipelines in one answer
constexpr double kAlmost = 0.1;    // of the best of those: what is worth to be one
constexpr int kMostRanges = 600;   // for one answer

}  // namespace

Pricing::Pricing(const ir::Problem& problem, const StageFloor& floor, bool is_classic)
    : limits_(problem, floor, is_classic),
      shortest_(limits_),
      global_batch_(problem.job.global_batch),
      micro_batches_(problem.job.micro_batches) {}

Pricing::Line Pricing::MakeLine(const Range& range, double latency, double turns) const {
  const double rest_of_worth = std::max(0.0, Worth(range) - latency * range.least - turns);
  const double seconds = limits_.of().seconds;
  Line line;
  line.rest = rest_of_worth * range.last - pipeline_price_ + latency * (seconds + range.least);
  const double turn_share = MayTurn(range) ? 1.0 / range.shallowest : 0;
  line.weights = {.time = latency, .transfer = latency * (1 - turn_share), .stage = 0, .tail = latency};
  if (turns == 0) return line;
  const double steepness = Steepness(range);
  line.rest += turns * (seconds / range.least + 1);
  line.weights.time += turns * steepness;
  line.weights.transfer += turns * (steepness - turn_share / range.least);
  line.weights.stage += turns * (1 - steepness * range.least);
  line.weights.tail += turns / range.least;
  return line;
}

bool Pricing::IsCoarse(const Range& range) {
  return range.last > range.first * kCoarse || range.most > range.least * kCoarse;
}

double Pricing::Steepness(const Range& range) const {
  if (!limits_.HasTurns(range.first, range.deepest) || range.least <= 0 || range.deepest == 1) return 0;
  const size_t kinds = limits_.floor().kinds().size();
  double tail = 0;
  for (int j = range.shallowest; j <= range.deepest; ++j) {
    for (size_t kind = 0; kind < kinds; ++kind) {
      const int cap = caps_.first[j * kinds + kind];
      if (cap > 0) tail = std::max(tail, limits_.Tail(kind, range.micro, EndsAt(j, true), cap));
    }
  }
  const double steepness = (limits_.of().seconds - tail) / (range.least * range.most * range.deepest);
  return steepness * range.least < 1 ? 0 : steepness;
}

Pricing::Line Pricing::Mix(const Line& a, const Line& b, double share) {
  const auto mix = [share](double x, double y) { return share * x + (1 - share) * y; };
  return {.weights = {.time = mix(a.weights.time, b.weights.time),
                      .transfer = mix(a.weights.transfer, b.weights.transfer),
                      .stage = mix(a.weights.stage, b.weights.stage),
                      .tail = mix(a.weights.tail, b.weights.tail)},
          .rest = mix(a.rest, b.rest)};
}

double Pricing::On(const Line& line, const Chain& chain) const {
  const ChainLimits::Times times = limits_.TimesOf(chain, caps_.by_nodes);
  return line.rest - line.weights.time * times.stages - line.weights.transfer * times.transfers -
         line.weights.tail * times.tail - line.weights.stage * static_cast<double>(chain.stages.size());
}

Pricing::Trial Pricing::Try(Range& range, const Line& line) {
  Trial trial;
  const double last = caps_.by_nodes ? limits_.floor().last_leaving(range.micro) : 0;
  const double rest = line.rest + line.weights.transfer * last;
  const double length = shortest_.Find(caps_, line.weights, rest, trial.path);
  range.gain = std::min(range.gain, rest - length);
  if (trial.path.stages.empty()) return trial;
  trial.price = shortest_.Price(trial.path);
  const double count = limits_.Count(trial.path);
  const double gain = Worth(range) * count - trial.price - pipeline_price_;
  if (gain > 0) better_.emplace_back(gain, trial.path);
  if (!range.path.stages.empty() && gain <= range.path_gain) return trial;
  range.path_count = count;
  range.path_gain = gain;
  range.path = trial.path;
  return trial;
}

// Of the mixtures of two lines the one on which the most that any chain gains is least, by secants.
Pricing::Line Pricing::Lower(Range& range, const Line& a, Trial at_a, const Line& b) {
  if (On(a, at_a.path) <= On(b, at_a.path)) return a;
  const int secants = IsCoarse(range) ? 0 : kSecants;
  double gain = range.gain;
  Trial at_b = Try(range, b);
  Line best = range.gain < gain ? b : a;
  for (int step = 0; step < secants && range.gain > 0; ++step) {
    const double rise_a = On(a, at_a.path) - On(b, at_a.path);
    const double rise_b = On(a, at_b.path) - On(b, at_b.path);
    if (rise_b >= 0) break;
    const double share = (On(b, at_b.path) - at_b.price - On(b, at_a.path) + at_a.price) / (rise_a - rise_b);
    if (!(share > 0) || !(share < 1)) break;
    const Line line = Mix(a, b, share);
    gain = range.gain;
    Trial next = Try(range, line);
    if (range.gain < gain) best = line;
    if (next.path.stages.empty() || next.path == at_a.path || next.path == at_b.path) break;
    (On(a, next.path) > On(b, next.path) ? at_a : at_b) = std::move(next);
  }
  return best;
}

// No pipeline that gains has fewer micro-batches than pay for its stages, nor more than B allows; and B is the period
// of one of its stages or that of its turns.
bool Pricing::Tighten(Range& range) {
  const StageFloor& floor = limits_.floor();
  const size_t kinds = floor.kinds().size();
  const double pass = floor.pass(range.micro);
  for (int round = 0; round < kTightenings; ++round) {
    if (range.first > 1)
      range.most = std::min(range.most, (limits_.of().seconds - pass) / (range.first - 1) * kRoundedUp);
    if (range.most < range.least) return false;
    limits_.FindCaps(range, caps_);
    double layer = kInfinity;  // least price of one
    for (size_t at = 0; at < caps_.later.size(); ++at) {
      const int most = std::max(caps_.later[at], caps_.first[at]);
      if (most > 0) layer = std::min(layer, shortest_.prices()[at % kinds] / most);
    }
    double period = MayTurn(range) ? std::max(range.least, pass / range.deepest) : kInfinity;
    if (period > range.least) period = std::min(period, limits_.LeastPeriod(range, caps_));
    if (period > range.most) return false;
    range.least = std::max(range.least, period * kRoundedDown);
    range.last = std::min(range.last, std::floor((1 + (limits_.of().seconds - pass) / range.least) * kRoundedUp));
    const double first = std::ceil((pipeline_price_ + floor.layers() * layer) * kRoundedDown / Worth(range));
    if (std::max(first, range.first) > range.last) return false;
    if (first <= range.first * kTighter) break;
    range.first = first;
  }
  return true;
}

bool Pricing::Rate(Range& range) {
  range.path.stages.clear();
  range.gain = 0;
  if (!Tighten(range)) return false;
  range.gain = kInfinity;
  const double worth = Worth(range);
  Line line = MakeLine(range, worth / std::max(range.least, range.most / kSteep), 0);
  Trial trial = Try(range, line);
  if (range.gain <= 0) return false;
  if (!IsCoarse(range) && Steepness(range) > 0) {
    line = Lower(range, line, trial, MakeLine(range, 0, worth));
    if (range.gain <= 0) return false;
  }
  // Where the most M bounds the samples a path that is fast need not be so dear.
  const Line flat = {.weights = {}, .rest = worth * range.last - pipeline_price_};
  if (On(line, range.path) > flat.rest && flat.rest - shortest_.Price(range.path) < kNear * range.gain) {
    Trial fast{.price = shortest_.Price(range.path), .path = range.path};
    Lower(range, line, fast, Mix(line, flat, range.first == range.last ? 0 : 1 / kFlat));
    if (range.gain <= 0) return false;
  }
  return true;
}

void Pricing::AddFirst(size_t micro, std::vector<Range>& ranges) const {
  const auto most = std::floor(static_cast<double>(global_batch_) / micro_batches_[micro]);
  const double seconds = limits_.of().seconds;
  const int deepest = limits_.floor().max_depth();
  for (int shallow = 1; shallow <= deepest;) {
    int deep = shallow == 1 ? 1 : deepest;
    if (shallow == 2 && !limits_.CountsNodes(shallow)) {
      while (deep > shallow && limits_.CountsNodes(deep)) --deep;
    }
    for (double first = 1; first <= most; first *= 4) {
      const double last = std::min(most, first * 4 - 1);
      const double longest = seconds / std::max(0.5, first - 1);
      const double shortest = seconds / last / 4;
      Range range;
      range.micro = micro;
      range.shallowest = shallow;
      range.deepest = deep;
      range.first = first;
      range.last = last;
      range.most = std::nextafter(shortest, 0);
      ranges.push_back(range);
      range.least = shortest;
      range.most = longest;
      ranges.push_back(range);
      if (last == most) break;
    }
    shallow = deep + 1;
  }
}

bool Pricing::Split(const Range& range, Range& low, Range& high) const {
  const double counts = range.last / range.first;
  const double periods = range.least > 0 ? range.most / range.least : kSteep;
  const double period = limits_.Period(range.path, range.first);
  const auto depth = static_cast<int>(range.path.stages.size());
  if (std::max(counts, periods) > kWide) {
    if (counts > periods) {
      SplitCounts(std::sqrt(range.first * range.last), low, high);
    } else {
      SplitPeriods(range.most / std::sqrt(periods), low, high);
    }
  } else if (range.shallowest < range.deepest && MayTurn(range)) {
    low.deepest = std::clamp(depth, range.shallowest, range.deepest - 1);
    high.shallowest = low.deepest + 1;
  } else if (period > range.least * (1 + kSame) && period <= range.most) {
    SplitPeriods(period, low, high);
  } else if (counts >= periods && counts > 1) {
    SplitCounts(range.path_count, low, high);
  } else if (periods > kNarrow) {
    SplitPeriods(range.most / std::sqrt(periods), low, high);
  } else if (counts > 1) {
    SplitCounts(range.path_count, low, high);
  } else {
    return false;
  }
  return true;
}

void Pricing::SplitCounts(double last, Range& low, Range& high) {
  low.last = std::clamp(std::floor(last), low.first, high.last - 1);
  high.first = low.last + 1;
}

void Pricing::SplitPeriods(double least, Range& low, Range& high) {
  high.least = least;
  low.most = std::nextafter(least, 0);
}

// No two alike.
void Pricing::TakeBest(std::vector<Chain>& found) {
  std::stable_sort(better_.begin(), better_.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (auto& [gain, chain] : better_) {
    if (found.size() == kMostFound || gain < kAlmost * better_.front().first) break;
    if (std::find(found.begin(), found.end(), chain) == found.end()) found.push_back(chain);
  }
}

Pricing::Answer Pricing::FindBetter(const std::vector<double>& gpu_prices, double pipeline_price, double ratio,
                                    std::vector<Chain>& found) {
  ratio_ = ratio;
  pipeline_price_ = pipeline_price;
  std::vector<double> prices;
  for (const StageFloor::Kind& kind : limits_.floor().kinds()) {
    prices.push_back(kind.tensor * gpu_prices[kind.of_class]);
  }
  shortest_.SetPrices(std::move(prices));
  std::priority_queue<Range> ranges;
  better_.clear();
  const auto add = [&](Range range) {
    if (Rate(range)) ranges.push(std::move(range));
  };
  std::vector<Range> first;
  for (size_t micro = 0; micro < micro_batches_.size(); ++micro) AddFirst(micro, first);
  for (Range& range : first) add(std::move(range));
  for (int count = 0; !ranges.empty(); ++count) {
    Range range = ranges.top();
    if (range.path_gain > 0 && range.path_gain >= kGood * range.gain) {
      TakeBest(found);
      return Answer::kFound;
    }
    Range low = range, high = range;
    if (count == kMostRanges || !Split(range, low, high)) {
      TakeBest(found);
      return found.empty() ? Answer::kUnknown : Answer::kFound;
    }
    ranges.pop();
    add(std::move(low));
    add(std::move(high));
  }
  return Answer::kNone;
}

}  // namespace sail::planner
