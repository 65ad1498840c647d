#include "planner/share.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

namespace sail::planner {
namespace {

constexpr double kTimePrecision = 5e-9;  // relative; far below one micro-batch
constexpr int kAttempts = 256;           // a slow pipeline may wait for many micro-batches of a fast one

double EndOf(const PipelineRate& rate, int micro_batches) {
  return rate.latency + (micro_batches - 1) * rate.bottleneck;
}

// Pipelines of a team: `fuller` of them run one micro-batch more than the others.
struct Level {
  int micro_batches = 1;  // of those that run most
  int fuller = 0;
};

// How many micro-batches of each size make up `excess`: of the largest sizes as many as possible.
// least[k][e] = fewest of the k-th size that, with any of the sizes before, make up e samples; -1: none do.
using Spare = std::vector<std::pair<int, int64_t>>;  // (size, micro-batches that may go), largest first
std::optional<std::vector<int64_t>> Combine(const Spare& spare, int64_t excess) {
  std::vector<int64_t> taken;
  int64_t left = excess;
  for (const auto& [size, most] : spare) {
    taken.push_back(std::min(most, left / size));
    left -= taken.back() * size;
  }
  if (left == 0) return taken;
  std::vector<std::vector<int>> least(spare.size() + 1, std::vector<int>(excess + 1, -1));
  least[0][0] = 0;
  for (size_t k = 0; k < spare.size(); ++k) {
    const auto [size, most] = spare[k];
    for (int64_t e = 0; e <= excess; ++e) {
      if (least[k][e] >= 0) {
        least[k + 1][e] = 0;
      } else if (e >= size && least[k + 1][e - size] >= 0 && least[k + 1][e - size] < most) {
        least[k + 1][e] = least[k + 1][e - size] + 1;
      }
    }
  }
  if (least[spare.size()][excess] < 0) return std::nullopt;
  for (size_t k = spare.size(); k-- > 0;) {
    taken[k] = least[k + 1][excess];
    excess -= taken[k] * spare[k].first;
  }
  return taken;
}

// Takes micro-batches of `excess` samples in total away, leaving one each. False if no combination exists.
bool TakeAway(absl::Span<const RatedTeam> teams, int64_t excess, std::vector<Level>& levels) {
  if (excess == 0) return true;
  std::map<int, int64_t, std::greater<int>> by_size;
  for (size_t t = 0; t < teams.size(); ++t) {
    by_size[teams[t].rate.micro_batch] += int64_t{levels[t].micro_batches - 1} * teams[t].pipelines;
  }
  const Spare spare(by_size.begin(), by_size.end());
  const std::optional<std::vector<int64_t>> taken = Combine(spare, excess);
  if (!taken) return false;
  for (size_t k = 0; k < spare.size(); ++k) {
    for (int64_t take = (*taken)[k]; take > 0;) {
      // Those that end last; all alike of one team at once.
      int last = -1;
      double end = 0;
      for (int t = 0; t < static_cast<int>(teams.size()); ++t) {
        if (teams[t].rate.micro_batch != spare[k].first || levels[t].micro_batches < 2) continue;
        const double team_end = EndOf(teams[t].rate, levels[t].micro_batches);
        if (last < 0 || team_end > end) {
          last = t;
          end = team_end;
        }
      }
      Level& level = levels[last];
      const auto step = static_cast<int>(std::min<int64_t>(take, level.fuller));
      take -= step;
      level.fuller -= step;
      if (level.fuller == 0) level = {.micro_batches = level.micro_batches - 1, .fuller = teams[last].pipelines};
    }
  }
  return true;
}

int64_t SamplesWithin(absl::Span<const RatedTeam> teams, double seconds) {
  int64_t samples = 0;
  for (const RatedTeam& team : teams) {
    samples += int64_t{team.rate.micro_batch} * team.pipelines * std::max(1, team.rate.MicroBatchesWithin(seconds));
  }
  return samples;
}

// As if micro-batches could be divided.
double TimeIfDivisible(absl::Span<const RatedTeam> teams, int64_t global_batch) {
  double rate = 0;  // samples per second
  double missed = 0;
  for (const RatedTeam& team : teams) {
    const double samples = static_cast<double>(team.rate.micro_batch) * team.pipelines;
    rate += samples / team.rate.bottleneck;
    missed += samples * (team.rate.latency / team.rate.bottleneck - 1);
  }
  return (static_cast<double>(global_batch) + missed) / rate;
}

// The least T with enough samples, or little more: counts change only where a micro-batch ends. nullopt where memory
// limits them. A short range that T lies in, then from one end to the next.
std::optional<double> LeastTime(absl::Span<const RatedTeam> teams, int64_t global_batch) {
  double longest = 0;
  double shortest = teams.front().rate.bottleneck;
  for (const RatedTeam& team : teams) {
    longest = std::max(longest, team.rate.bottleneck);
    shortest = std::min(shortest, team.rate.bottleneck);
  }
  const double guess = TimeIfDivisible(teams, global_batch);
  double low = 0;
  double high = std::isfinite(guess) && guess > 0 ? guess + longest : 1e-9;
  for (int doublings = 0; SamplesWithin(teams, high) < global_batch; high *= 2) {
    if (++doublings > 100) return std::nullopt;
    low = high;
  }
  if (low < guess - longest && guess - longest < high) {
    (SamplesWithin(teams, guess - longest) >= global_batch ? high : low) = guess - longest;
  }
  while (high - low > 4 * shortest && high > low * (1 + kTimePrecision)) {
    const double middle = (low + high) / 2;
    (SamplesWithin(teams, middle) >= global_batch ? high : low) = middle;
  }
  while (SamplesWithin(teams, low) < global_batch) {
    double next = high;
    for (const RatedTeam& team : teams) {
      const int within = team.rate.MicroBatchesWithin(low);
      if (within < team.rate.max_micro_batches) next = std::min(next, EndOf(team.rate, within + 1));
    }
    low = next * (1 + kTimePrecision);
  }
  return low;
}

Shares SharesOf(absl::Span<const RatedTeam> teams, const std::vector<Level>& levels) {
  Shares shares;
  for (int t = 0; t < static_cast<int>(teams.size()); ++t) {
    const Level& level = levels[t];
    shares.push_back({.team = t, .pipelines = level.fuller, .micro_batches = level.micro_batches});
    const int others = teams[t].pipelines - level.fuller;
    if (others > 0) shares.push_back({.team = t, .pipelines = others, .micro_batches = level.micro_batches - 1});
  }
  return shares;
}

}  // namespace

std::optional<Shares> ShareBatch(absl::Span<const RatedTeam> teams, int64_t global_batch) {
  int64_t least = 0;
  for (const RatedTeam& team : teams) {
    // A transfer that was not measured takes for ever: no T bounds it.
    if (team.rate.max_micro_batches < 1 || !std::isfinite(team.rate.latency)) return std::nullopt;
    least += int64_t{team.rate.micro_batch} * team.pipelines;
  }
  int unit = 0;  // samples come in multiples of it
  for (const RatedTeam& team : teams) unit = std::gcd(unit, team.rate.micro_batch);
  if (teams.empty() || least > global_batch || global_batch % unit != 0) return std::nullopt;
  std::vector<Level> levels;
  for (const RatedTeam& team : teams) levels.push_back({.micro_batches = 1, .fuller = team.pipelines});
  if (least == global_batch) return SharesOf(teams, levels);
  std::optional<double> seconds = LeastTime(teams, global_batch);
  for (int attempt = 0; seconds && attempt < kAttempts; ++attempt) {
    for (size_t t = 0; t < teams.size(); ++t) {
      levels[t] = {.micro_batches = std::max(1, teams[t].rate.MicroBatchesWithin(*seconds)),
                   .fuller = teams[t].pipelines};
    }
    if (TakeAway(teams, SamplesWithin(teams, *seconds) - global_batch, levels)) return SharesOf(teams, levels);
    // T rises by one micro-batch of some team.
    std::optional<double> next;
    for (size_t t = 0; t < teams.size(); ++t) {
      if (levels[t].micro_batches >= teams[t].rate.max_micro_batches) continue;
      const double end = EndOf(teams[t].rate, std::max(1, teams[t].rate.MicroBatchesWithin(*seconds)) + 1);
      if (!next || end < *next) next = end;
    }
    if (next) next = std::max(*next, std::nextafter(*seconds, 2 * *seconds)) * (1 + 1e-12);
    seconds = next;
  }
  return std::nullopt;
}

std::optional<std::vector<int>> ShareSamples(const std::vector<PipelineRate>& pipelines, int64_t global_batch) {
  std::vector<RatedTeam> teams;
  for (const PipelineRate& rate : pipelines) teams.push_back({.rate = rate});
  const std::optional<Shares> shares = ShareBatch(teams, global_batch);
  if (!shares) return std::nullopt;
  std::vector<int> counts;
  for (const TeamShare& share : *shares) counts.push_back(share.micro_batches);
  return counts;
}

}  // namespace sail::planner
