#include "planner/chain_cut.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sail::planner {
namespace {

constexpr double kRounding = 1e-9;  // relative

}  // namespace

int MaxMicroBatches(const StageTable& table, int micro, const std::vector<int>& slots, const std::vector<int>& counts) {
  const int depth = static_cast<int>(slots.size());
  int most = kUnlimitedMicroBatches;
  for (int s = 0; s < depth; ++s) {
    int in_flight = depth - s;
    const std::vector<int>& fits = table.row(slots[s], micro, EndsOfStage(s, depth)).fits;
    while (in_flight > 0 && fits[in_flight] < counts[s]) --in_flight;
    if (in_flight < depth - s) most = std::min(most, in_flight);
  }
  return most;
}

PipelineRate RateOf(const StageTable& table, int micro, const std::vector<int>& slots, const std::vector<int>& counts,
                    absl::FunctionRef<bool(size_t stage)> has_next_on_node) {
  const int depth = static_cast<int>(slots.size());
  PipelineRate rate{.micro_batch = table.problem().job.micro_batches[micro]};
  for (int s = 0; s < depth; ++s) {
    double period = table.Time(slots[s], micro, EndsOfStage(s, depth), counts[s]);
    if (s + 1 < depth) period += table.Boundary(slots[s], slots[s + 1], micro, has_next_on_node(s));
    rate.bottleneck = std::max(rate.bottleneck, period);
    rate.latency += period;
  }
  rate.max_micro_batches = MaxMicroBatches(table, micro, slots, counts);
  return rate;
}

bool ChainCutter::Cut(int micro, const std::vector<int>& chain, const std::vector<double>& crossing, int max_in_flight,
                      std::vector<int>& counts) {
  depth_ = static_cast<int>(chain.size());
  max_in_flight_ = max_in_flight;
  Begin(micro, chain, crossing);
  if (depth_ == 1) {
    counts.assign(1, table_.layers());
    return FitOf(runs_[0], 0) >= 1;
  }
  const std::optional<double> bottleneck = LeastBottleneck();
  if (!bottleneck) return false;
  for (Run& run : runs_) {
    while (run.taking < run.end && run.next_period <= *bottleneck) Grow(run);
  }
  Fill(counts);
  return true;
}

void ChainCutter::Begin(int micro, const std::vector<int>& chain, const std::vector<double>& crossing) {
  runs_.clear();
  const int few = 1 + (table_.layers() > 2 ? 1 : 0);
  for (int s = 0; s < depth_; ++s) {
    // The first and the last stage hold other layers than those between.
    if (s > 1 && s + 1 < depth_ && chain[s] == chain[s - 1] && crossing[s] == crossing[s - 1]) {
      ++runs_.back().end;
      continue;
    }
    runs_.push_back({.begin = s,
                     .end = s + 1,
                     .taking = s,
                     .row = &table_.row(chain[s], micro, EndsOfStage(s, depth_)),
                     .crossing = crossing[s],
                     .layer_time = depth_ == 1 ? 0 : table_.Time(chain[s], micro, Ends::kFirst, few)});
  }
}

void ChainCutter::Grow(Run& run) const {
  ++run.layers;
  while (run.taking < run.end && FitOf(run, run.taking) <= run.layers) ++run.taking;
  const bool is_full = run.taking == run.end;
  run.next_period = is_full ? std::numeric_limits<double>::infinity() : run.row->time[run.layers + 1] + run.crossing;
}

// The period of all runs if layers could be divided and memory were plenty: a layer more takes a stage as long as its
// second one does.
double ChainCutter::PeriodIfDivisible() const {
  double layers = 0;  // of all stages in no time
  double rate = 0;    // more for each second
  for (const Run& run : runs_) {
    const std::vector<double>& time = run.row->time;
    const double slope = time.size() > 2 ? time[2] - time[1] : 0;
    layers += (run.end - run.begin) * (1 - (time[1] + run.crossing) / slope);
    rate += (run.end - run.begin) / slope;
  }
  return (table_.layers() - layers) / rate;
}

// As many layers as one by one within the period, at least one.
void ChainCutter::GrowTo(Run& run, double period) const {
  const std::vector<double>& time = run.row->time;
  const int most = std::max(1, FitOf(run, run.end - 1));
  const double slope = time.size() > 2 ? time[2] - time[1] : 0;
  const double more = (period - run.crossing - time[1]) / slope;
  int layers = more >= 1 ? static_cast<int>(std::min(more + 1, static_cast<double>(most))) : 1;
  while (layers > 1 && time[layers] + run.crossing > period) --layers;
  run.layers = layers - 1;
  run.taking = run.begin;
  Grow(run);
}

// Layers go where the period grows to the least, from one a stage on or, as that passes through it, from what each run
// holds within a period that is no more than the least: stages of a run grow together, as far as their memory allows.
// nullopt if not all layers fit.
std::optional<double> ChainCutter::LeastBottleneck() {
  const double start = PeriodIfDivisible() * (1 - kRounding);
  int left = table_.layers();
  for (Run& run : runs_) {
    if (FitOf(run, run.begin) < 1) return std::nullopt;  // the first of a run holds least
    GrowTo(run, start);
    left -= (run.end - run.taking) * run.layers;
    for (int s = run.begin; s < run.taking; ++s) left -= std::min(run.layers, FitOf(run, s));
  }
  if (left < 0) {
    left = table_.layers();
    for (Run& run : runs_) {
      GrowTo(run, 0);
      left -= run.end - run.begin;
    }
  }
  double bottleneck = 0;
  for (const Run& run : runs_) bottleneck = std::max(bottleneck, run.row->time[run.layers] + run.crossing);
  while (left > 0) {
    Run* next = runs_.data();
    for (Run& run : runs_) {
      if (run.next_period < next->next_period) next = &run;
    }
    if (!std::isfinite(next->next_period)) return std::nullopt;
    bottleneck = std::max(bottleneck, next->next_period);
    left -= next->end - next->taking;
    Grow(*next);
  }
  return bottleneck;
}

// Stages of the run that may hold more than so many layers: those from some stage on, which have less in flight.
int ChainCutter::CountAbove(const Run& run, int layers) const {
  if (run.layers <= layers) return 0;
  int first = run.begin;
  while (first < run.end && FitOf(run, first) <= layers) ++first;
  return run.end - first;
}

// Takes L layers out of what the runs hold: the fastest slots to the brim, equally fast ones evenly. Sorts the runs.
void ChainCutter::Fill(std::vector<int>& counts) {
  std::sort(runs_.begin(), runs_.end(), [](const Run& a, const Run& b) {
    return a.layer_time != b.layer_time ? a.layer_time < b.layer_time : a.begin < b.begin;
  });
  counts.assign(depth_, 1);
  int left = table_.layers() - depth_;
  for (auto first = runs_.begin(); first != runs_.end() && left > 0;) {
    const auto end =
        std::find_if(first, runs_.end(), [&](const Run& run) { return run.layer_time > first->layer_time; });
    // Every stage has `layers`, or as many as it may hold; `more` is how many may hold one more.
    int layers = 1;
    const auto count_more = [&] {
      return std::accumulate(first, end, 0, [&](int sum, const Run& run) { return sum + CountAbove(run, layers); });
    };
    int more = count_more();
    for (; more > 0 && more <= left; more = count_more()) {
      left -= more;
      ++layers;
    }
    int extra = std::min(left, more);  // of the first that may hold one more
    left -= extra;
    for (auto run = first; run != end; ++run) {
      for (int s = run->begin; s < run->end; ++s) {
        const int most = std::min(run->layers, FitOf(*run, s));
        counts[s] = std::min(most, layers + (extra > 0 ? 1 : 0));
        if (counts[s] > layers) --extra;
      }
    }
    first = end;
  }
}

std::optional<std::vector<int>> CutChain(const StageTable& table, int micro, const std::vector<int>& chain,
                                         const std::vector<double>& crossing, int max_in_flight) {
  std::vector<int> counts;
  if (!ChainCutter(table).Cut(micro, chain, crossing, max_in_flight, counts)) return std::nullopt;
  return counts;
}

}  // namespace sail::planner
