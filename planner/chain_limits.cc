#include "planner/chain_limits.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sail::planner {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kRounding = 1 + 1e-9;  // sums in another order

// What is missing of a stage's forwards in its part of B with M >= `first`, and that part.
double HiddenShare(double first, int j) {
  return j == 1 ? 0 : first <= 1 ? 1 : (std::min<double>(first, j) - 1) / (first - 1);
}

// The largest number in [least, most] that `holds`, looking from `guess` on; least − 1 if none. Numbers below one that
// holds hold, too.
template <class Holds>
int LastOf(int least, int most, int guess, const Holds& holds) {
  int n = std::clamp(guess, least - 1, most);
  while (n >= least && !holds(n)) --n;
  while (n < most && holds(n + 1)) ++n;
  return n;
}

}  // namespace

Ends EndsAt(int j, bool is_first) { return static_cast<Ends>((is_first ? 1 : 0) + (j == 1 ? 2 : 0)); }

ChainLimits::ChainLimits(const ir::Problem& problem, const StageFloor& floor, bool is_classic)
    : floor_(floor),
      is_classic_(is_classic),
      layers_(floor.layers()),
      global_batch_(problem.job.global_batch),
      micro_batches_(problem.job.micro_batches) {}

double ChainLimits::Tail(size_t kind, size_t micro, Ends ends, int n) const {
  const double sync = (*case_.syncs)[kind * 4 + static_cast<size_t>(ends)][n];
  return floor_.row(kind, micro, ends).step[n] + std::max(sync, case_.least_sync);
}

double ChainLimits::Transfers(size_t kind, size_t micro, Ends ends, int j, bool by_nodes) const {
  if (ends == Ends::kBoth) return 0;
  if (is_classic_) return floor_.send(kind, micro) * (ends == Ends::kFirst && j <= 3 ? 1 : 2);
  return (ends == Ends::kLast ? 0 : floor_.boundary(kind, micro)) + (by_nodes ? floor_.leaving(kind, micro) : 0);
}

bool ChainLimits::CountsNodes(int shallowest) const { return !is_classic_ && shallowest * floor_.least_share() > 1; }

double ChainLimits::Period(size_t kind, size_t micro, double first, int j, Ends ends, int n) const {
  const StageFloor::Row& stage = floor_.row(kind, micro, ends);
  if (is_classic_) return stage.time[n] + Transfers(kind, micro, ends, j, false);
  return stage.time[n] - HiddenShare(first, j) * stage.forward[n];
}

int ChainLimits::Cap(size_t kind, const ChainRange& range, int j, Ends ends, int guess) const {
  const StageFloor::Row& row = floor_.row(kind, range.micro, ends);
  const std::vector<double>& sync = (*case_.syncs)[kind * 4 + static_cast<size_t>(ends)];
  const int in_flight = std::min(static_cast<int>(range.first), j);
  const double transfers = is_classic_ ? Transfers(kind, range.micro, ends, j, false) : 0;
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
  return LastOf(1, most, guess, holds);
}

// The next depth's caps are near those of this one.
void ChainLimits::FindCaps(const ChainRange& range, ChainCaps& caps) const {
  const size_t kinds = floor_.kinds().size();
  caps.micro = range.micro;
  caps.shallowest = range.shallowest;
  caps.deepest = range.deepest;
  caps.by_nodes = CountsNodes(range.shallowest);
  caps.later.assign((range.deepest + 1) * kinds, 0);
  caps.first = caps.later;
  for (size_t kind = 0; kind < kinds; ++kind) {
    int later = 1, first = 1;
    for (int j = 1; j <= range.deepest; ++j) {
      const size_t at = j * kinds + kind;
      if (j < range.deepest) caps.later[at] = later = Cap(kind, range, j, EndsAt(j, false), later);
      if (j < range.shallowest || !floor_.IsDepth(j)) continue;
      caps.first[at] = first = Cap(kind, range, j, EndsAt(j, true), first);
    }
  }
}

double ChainLimits::LeastPeriod(const ChainRange& range, const ChainCaps& caps) const {
  const size_t kinds = floor_.kinds().size();
  double least = kInfinity;
  for (const bool is_first : {false, true}) {
    for (size_t kind = 0; kind < kinds; ++kind) {
      int guess = 1;
      for (int j = 1; j <= range.deepest; ++j) {
        const int cap = (is_first ? caps.first : caps.later)[j * kinds + kind];
        if (cap == 0) continue;
        const Ends ends = EndsAt(j, is_first);
        const auto is_too_short = [&](int n) {
          return Period(kind, range.micro, range.last, j, ends, n) < range.least;
        };
        guess = 1 + (ends == Ends::kBoth ? is_too_short(cap) ? cap : cap - 1 : LastOf(1, cap, guess - 1, is_too_short));
        if (guess <= cap) least = std::min(least, Period(kind, range.micro, range.first, j, ends, guess));
      }
    }
  }
  return least;
}

double ChainLimits::Period(const Chain& chain, double first) const {
  const auto depth = static_cast<int>(chain.stages.size());
  double longest = 0;
  for (int s = 0; s < depth; ++s) {
    const auto [kind, n] = chain.stages[s];
    longest = std::max(longest, Period(kind, chain.micro, first, depth - s, EndsAt(depth - s, s == 0), n));
  }
  if (!HasTurns(first, depth)) return longest;
  const Times times = TimesOf(chain);
  return std::max(longest, (times.stages + times.transfers) / depth);
}

bool ChainLimits::HasTurns(double first, int deepest) const { return !is_classic_ && first > deepest; }

ChainLimits::Times ChainLimits::TimesOf(const Chain& chain) const {
  return TimesOf(chain, CountsNodes(static_cast<int>(chain.stages.size())));
}

ChainLimits::Times ChainLimits::TimesOf(const Chain& chain, bool by_nodes) const {
  const auto depth = static_cast<int>(chain.stages.size());
  Times times;
  for (int s = 0; s < depth; ++s) {
    const auto [kind, n] = chain.stages[s];
    const Ends ends = EndsAt(depth - s, s == 0);
    const StageFloor::Row& row = floor_.row(kind, chain.micro, ends);
    times.stages += s == 0 ? row.time[n] : row.base + n * row.slope;
    times.transfers += Transfers(kind, chain.micro, ends, depth - s, by_nodes);
    if (s == 0) times.tail = Tail(kind, chain.micro, ends, n);
  }
  if (by_nodes) times.transfers -= floor_.last_leaving(chain.micro);
  return times;
}

double ChainLimits::Count(const Chain& chain) const {
  const auto depth = static_cast<int>(chain.stages.size());
  const Times times = TimesOf(chain);
  const double left = case_.seconds - times.latency();
  if (left < 0) return 0;
  auto count = static_cast<double>(global_batch_) / micro_batches_[chain.micro];
  for (int s = 0; s < depth; ++s) {
    const auto [kind, n] = chain.stages[s];
    const int j = depth - s;
    const Ends ends = EndsAt(j, s == 0);
    const StageFloor::Row& row = floor_.row(kind, chain.micro, ends);
    const double time = row.time[n] + (is_classic_ ? Transfers(kind, chain.micro, ends, j, false) : 0);
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
  if (!is_classic_ && depth > 1) {
    const double turns = depth * (case_.seconds - times.tail) + times.transfers;
    count = std::min(count, std::max<double>(depth, turns / (times.stages + times.transfers) + 1 -
                                                        depth));  // whole M are at most P or keep to turns
  }
  return count < 1 ? 0 : count;
}

}  // namespace sail::planner
