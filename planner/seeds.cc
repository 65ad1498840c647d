#include "planner/seeds.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "planner/mix.h"
#include "planner/share.h"

namespace sail::planner {
namespace {

constexpr int64_t kMaxNodeCombinations = 40;  // up to here all of them
constexpr size_t kMaxPoolSets = 15;
constexpr size_t kSimpleSeeds = 40;  // kept by each of two rankings, shared by classes of weight
constexpr size_t kLeastSimpleSeeds = 10;
constexpr size_t kFilledSeeds = 2;
constexpr int kMostRelayed = 6;     // pools of a pipeline
constexpr size_t kFewShapes = 120;  // up to here all pairs

int All(int nodes) { return nodes; }
int Half(int nodes) { return (nodes + 1) / 2; }
// The largest number 2^k or 3 · 2^k: of an odd number of nodes more divides the batch evenly.
int Round(int nodes) {
  const int power = static_cast<int>(std::bit_floor(static_cast<unsigned>(nodes)));
  return power >= 2 && power / 2 * 3 <= nodes ? power / 2 * 3 : power;
}

// Node counts by kind of pool to search within.
std::vector<std::vector<int>> PartsOf(const std::vector<int>& quotas) {
  std::vector<std::vector<int>> parts;
  int64_t combinations = 1;
  std::vector<size_t> pools;
  for (size_t p = 0; p < quotas.size(); ++p) {
    combinations = std::min(combinations * (quotas[p] + 1), kMaxNodeCombinations + 1);
    if (quotas[p] > 0) pools.push_back(p);
  }
  if (combinations <= kMaxNodeCombinations) {
    std::vector<int> part(quotas.size(), 0);
    for (;;) {
      size_t p = 0;
      while (p < part.size() && part[p] == quotas[p]) part[p++] = 0;
      if (p == part.size()) return parts;
      ++part[p];
      parts.push_back(part);
    }
  }
  // Sets of kinds: all of few; of many, the full set, each alone and all but each.
  std::set<std::vector<bool>, std::greater<>> sets;
  if (pools.size() <= 4) {
    for (size_t bits = 1; bits < (size_t{1} << pools.size()); ++bits) {
      std::vector<bool> set(quotas.size(), false);
      for (size_t i = 0; i < pools.size(); ++i) set[pools[i]] = (bits >> i) & 1;
      sets.insert(set);
    }
  } else {
    std::vector<bool> full(quotas.size(), false);
    for (const size_t p : pools) full[p] = true;
    sets.insert(full);
    for (const size_t p : pools) {
      std::vector<bool> without = full, alone(quotas.size(), false);
      without[p] = false;
      alone[p] = true;
      if (sets.size() + 2 > kMaxPoolSets) break;
      sets.insert(without);
      sets.insert(alone);
    }
  }
  for (const std::vector<bool>& set : sets) {
    for (const auto share : {&All, &Half, &Round}) {
      std::vector<int> part(quotas.size(), 0);
      for (size_t p = 0; p < quotas.size(); ++p) {
        if (set[p]) part[p] = share(quotas[p]);
      }
      if (std::find(parts.begin(), parts.end(), part) == parts.end()) parts.push_back(part);
    }
  }
  return parts;
}

class SeedMaker {
 public:
  SeedMaker(DraftJudge& judge, const std::vector<PipelineShape>& shapes)
      : judge_(judge),
        table_(judge.table()),
        kinds_(table_.kinds()),
        shapes_(shapes),
        scope_(judge.scope()),
        cluster_(table_.problem().cluster),
        empty_(judge.RoomLeft(Draft())) {
    mix_.shapes = &shapes;
    mix_.global_batch = table_.problem().job.global_batch;
    mix_.rows = kinds_.count();
    for (const ir::Constraint& constraint : scope_.constraints) {
      if (IsLinear(constraint)) ++mix_.rows;
    }
    for (const PipelineShape& shape : shapes) {
      const std::vector<int64_t> gpus = ByKind(shape.gpus);
      mix_.use.insert(mix_.use.end(), gpus.begin(), gpus.end());
      for (const ir::Constraint& constraint : scope_.constraints) {
        if (IsLinear(constraint)) mix_.use.push_back(SumOf(constraint.metric, shape.gpus));
      }
    }
  }

  std::vector<Draft> Make() {
    std::vector<int> nodes(kinds_.count(), 0);
    for (size_t p = 0; p < scope_.quotas.size(); ++p) {
      if (scope_.quotas[p] > 0) nodes[kinds_.kind(static_cast<int>(p))] += scope_.quotas[p];
    }
    for (const std::vector<int>& part : PartsOf(nodes)) AddMixes(part);
    AddSimple();
    AddUniform();
    AddRelays();
    return std::move(seeds_);
  }

 private:
  static bool IsLinear(const ir::Constraint& constraint) {
    return constraint.at_most && (constraint.metric == ir::Metric::kCostRate ||
                                  constraint.metric == ir::Metric::kNodes || constraint.metric == ir::Metric::kGpus);
  }

  // Of GPUs as shares of their nodes: never more than the plan's value.
  double SumOf(ir::Metric metric, const std::vector<int>& gpus) const {
    double sum = 0;
    for (size_t p = 0; p < gpus.size(); ++p) {
      const auto pool = ir::PoolId(static_cast<int>(p));
      const double nodes = static_cast<double>(gpus[p]) / cluster_.machine(pool).gpus_per_node;
      sum += metric == ir::Metric::kGpus       ? gpus[p]
             : metric == ir::Metric::kCostRate ? nodes * cluster_.pool(pool).price.value()
                                               : nodes;
    }
    return sum;
  }

  std::vector<int64_t> ByKind(const std::vector<int>& gpus) const {
    std::vector<int64_t> sums(kinds_.count(), 0);
    for (size_t p = 0; p < gpus.size(); ++p) {
      if (gpus[p] > 0) sums[kinds_.kind(static_cast<int>(p))] += gpus[p];
    }
    return sums;
  }

  // The mixes of one part of the nodes, by kind, and by classes of layers per GPU.
  void AddMixes(const std::vector<int>& part) {
    std::vector<double> capacity(part.begin(), part.end());
    std::vector<int> allowed;
    for (size_t p = 0; p < scope_.quotas.size(); ++p) {
      const int kind = kinds_.kind(static_cast<int>(p));
      if (kind >= 0) capacity[kind] = part[kind] * cluster_.machine(ir::PoolId(static_cast<int>(p))).gpus_per_node;
    }
    for (const ir::Constraint& constraint : scope_.constraints) {
      if (IsLinear(constraint)) capacity.push_back(constraint.limit);
    }
    if (std::any_of(capacity.begin(), capacity.end(), [](double c) { return c < 0; })) return;
    for (int i = 0; i < static_cast<int>(shapes_.size()); ++i) {
      bool is_fitting = true;
      for (size_t r = 0; r < mix_.rows; ++r) is_fitting = is_fitting && mix_.use[i * mix_.rows + r] <= capacity[r];
      if (is_fitting) allowed.push_back(i);
    }
    double most = table_.layers();
    while (!allowed.empty()) {
      const Mix mix = FindMix(mix_, allowed, capacity, mix_seconds_);
      if (!mix.empty()) AddSeed(mix);
      // The next class halves the fullest GPU of the shapes in use, so that classes differ.
      double used = 0;
      for (const auto& [shape, count] : mix) used = std::max(used, shapes_[shape].layers_per_gpu);
      most = std::min(most / 2, used > 0 ? used * 0.75 : most);
      std::erase_if(allowed, [&](int i) { return shapes_[i].layers_per_gpu > most; });
    }
  }

  // A mix of one shape or of a pipeline each of two.
  struct Ranked {
    double score = 0;
    std::pair<int, int> first;
    std::pair<int, int> second = {-1, 0};  // none
    Mix AsMix() const { return second.first < 0 ? Mix{first} : Mix{first, second}; }
    friend auto operator<=>(const Ranked&, const Ranked&) = default;
  };

  // One shape, repeated, and of few shapes each pair: the best by time and by time times price of the GPUs.
  void AddSimple() {
    // Synchronisation grows with the layers of the largest stage and with the least tensor degree, and with the number
    // of pools that are filled (0: whatever they are).
    using Weight = std::tuple<int, int, int>;
    std::map<Weight, std::vector<Ranked>> by_time, by_price;
    const auto rank = [&](Weight weight, double seconds, double price, Ranked mix) {
      mix.score = seconds * price;
      by_price[weight].push_back(mix);
      mix.score = seconds;
      by_time[weight].push_back(mix);
    };
    const bool is_few = shapes_.size() <= kFewShapes;  // then no class needs seeds of its own
    const auto weight_of = [&](const PipelineShape& shape) {
      return is_few ? Weight() : Weight(std::ilogb(shape.largest_stage), shape.least_degree, 0);
    };
    const auto price_of = [&](int i) { return SumOf(ir::Metric::kCostRate, shapes_[i].gpus); };
    for (int i = 0; i < static_cast<int>(shapes_.size()); ++i) {
      const PipelineRate& rate = shapes_[i].rate;
      const std::vector<int> fit = FitOf(i);
      for (const int count : CountsOf(i, fit)) {
        const double micro_batches = std::ceil(static_cast<double>(mix_.global_batch) / (count * rate.micro_batch));
        if (micro_batches > rate.max_micro_batches) continue;
        const double seconds = rate.latency + (micro_batches - 1) * rate.bottleneck;
        rank(weight_of(shapes_[i]), seconds, count * price_of(i), {.first = {i, count}});
        if (const int pools = PoolsFilled(i, count, fit)) {
          Weight weight = weight_of(shapes_[i]);
          std::get<2>(weight) = pools;
          rank(weight, seconds, count * price_of(i), {.first = {i, count}});
        }
      }
      if (!is_few) continue;
      for (int j = i + 1; j < static_cast<int>(shapes_.size()); ++j) {
        if (!IsWithinQuotas(i, j)) continue;
        const std::vector<PipelineRate> rates = {rate, shapes_[j].rate};
        const std::optional<std::vector<int>> counts = ShareSamples(rates, mix_.global_batch);
        if (!counts) continue;
        double seconds = 0;
        for (size_t p = 0; p < 2; ++p) {
          seconds = std::max(seconds, rates[p].latency + ((*counts)[p] - 1) * rates[p].bottleneck);
        }
        rank(std::max(weight_of(shapes_[i]), weight_of(shapes_[j])), seconds, price_of(i) + price_of(j),
             {.first = {i, 1}, .second = {j, 1}});
      }
    }
    for (auto* rankings : {&by_time, &by_price}) {
      const size_t share = kSimpleSeeds / std::max<size_t>(rankings->size(), 1);
      const size_t most = std::max(share, kLeastSimpleSeeds);
      for (auto& [weight, ranking] : *rankings) {
        const size_t kept = std::min(std::get<2>(weight) > 0 ? kFilledSeeds : most, ranking.size());
        std::partial_sort(ranking.begin(), ranking.begin() + static_cast<std::ptrdiff_t>(kept), ranking.end());
        for (size_t i = 0; i < kept; ++i) AddSeed(ranking[i].AsMix());
      }
    }
  }

  // In every kind of pool as many pipelines as fit, all of one depth, tensor degree and micro-batch.
  void AddUniform() {
    const ir::Job& job = table_.problem().job;
    for (int micro = 0; micro < static_cast<int>(job.micro_batches.size()); ++micro) {
      for (const int depth : job.pipeline_depths) {
        if (depth > table_.max_depth()) break;
        for (const int tensor : job.tensor_degrees) {
          Draft draft{.is_folded = kinds_.has_merged()};
          for (int slot = 0; slot < static_cast<int>(table_.slots().size()); ++slot) {
            const auto& [pool, degree, recompute] = table_.slots()[slot];
            if (degree != tensor || recompute != job.recomputes.front() || !kinds_.Leads(pool.index())) continue;
            Team team{.micro = micro, .slots = std::vector<int>(depth, slot), .counts = {}};
            team.pipelines = judge_.MostThatFit(team, empty_, draft.is_folded);
            if (team.pipelines > 0 && Recut(table_, team)) draft.teams.push_back(std::move(team));
          }
          if (draft.teams.size() > 1) seeds_.push_back(std::move(draft));
        }
      }
    }
  }

  // Pipelines that pass through several pools of a kind, with equally many stages in each: gradients stay within a
  // pool, activations cross.
  void AddRelays() {
    const ir::Job& job = table_.problem().job;
    for (int slot = 0; slot < static_cast<int>(table_.slots().size()); ++slot) {
      const Slot& first = table_.slots()[slot];
      if (!kinds_.Leads(first.pool.index()) || first.recompute != job.recomputes.front()) continue;
      std::vector<int> pools;
      for (const std::vector<int>& image : kinds_.Images({first.pool.index()})) pools.push_back(image.front());
      const int most = std::min(static_cast<int>(pools.size()), kMostRelayed);
      for (int relayed = 2; kinds_.has_merged() && relayed <= most; ++relayed) {
        for (int stages = 1; stages * relayed <= table_.max_depth(); stages *= 2) {
          if (!std::binary_search(job.pipeline_depths.begin(), job.pipeline_depths.end(), stages * relayed)) continue;
          for (int micro = 0; micro < static_cast<int>(job.micro_batches.size()); ++micro) {
            Team team{.micro = micro, .slots = {}, .counts = {}};
            for (int i = 0; i < relayed; ++i) {
              const Slot part{.pool = ir::PoolId(pools[i]), .tensor = first.tensor, .recompute = first.recompute};
              team.slots.insert(team.slots.end(), stages, table_.SlotIndex(part));
            }
            team.pipelines = judge_.MostThatFit(team, empty_, /*is_folded=*/true);
            if (team.pipelines == 0 || !Recut(table_, team)) continue;
            seeds_.push_back({.teams = {std::move(team)}, .is_folded = true});
          }
        }
      }
    }
  }

  // As many pipelines of a shape as fill one pool after the other; where no kind has several, as many as fit.
  std::vector<int> FitOf(int i) {
    if (!kinds_.has_merged()) return {judge_.MostThatFit(shapes_[i].slots, empty_)};
    const Team team{.micro = shapes_[i].micro, .slots = shapes_[i].slots, .counts = shapes_[i].counts};
    return judge_.FitByPools(team, empty_, /*is_folded=*/true);
  }

  // 1, 2, 3, 4, then in steps of a half, and those of `fit`; all of them have a micro-batch. Ascending.
  std::vector<int> CountsOf(int i, const std::vector<int>& fit) const {
    const int64_t most = std::min<int64_t>(mix_.global_batch / shapes_[i].rate.micro_batch, fit.back());
    std::vector<int> counts;
    for (int64_t count = 1; count <= most; count += count < 4 ? 1 : count / 2)
      counts.push_back(static_cast<int>(count));
    for (const int filled : fit) {
      if (most > 0 && filled > 0) counts.push_back(static_cast<int>(std::min<int64_t>(filled, most)));
    }
    std::sort(counts.begin(), counts.end());
    counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
    return counts;
  }

  // How many pools `count` pipelines on one pool each fill to the brim; 0 where none is merged.
  int PoolsFilled(int i, int count, const std::vector<int>& fit) const {
    if (!kinds_.has_merged() || table_.PoolsOf(shapes_[i].slots).size() > 1) return 0;
    const auto it = std::find(fit.begin(), fit.end(), count);
    return it == fit.end() ? 0 : static_cast<int>(it - fit.begin()) + 1;
  }

  // Of all nodes of a pool.
  int64_t GpusOf(size_t pool) const {
    return int64_t{scope_.quotas[pool]} * cluster_.machine(ir::PoolId(static_cast<int>(pool))).gpus_per_node;
  }

  // A pipeline of each shape.
  bool IsWithinQuotas(int i, int j) const {
    for (size_t p = 0; p < scope_.quotas.size(); ++p) {
      if (shapes_[i].gpus[p] + shapes_[j].gpus[p] > GpusOf(p)) return false;
    }
    return true;
  }

  void AddSeed(const Mix& mix) {
    if (!known_.insert(mix).second) return;
    if (AddShared(mix)) return;
    // No counts make up the batch with these micro-batch sizes: another size for one pipeline of a team.
    for (size_t t = 0; t < mix.size(); ++t) {
      for (const int other : OtherSizes(shapes_[mix[t].first])) {
        Mix changed = mix;
        if (--changed[t].second == 0) changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(t));
        changed.push_back({other, 1});
        AddShared(changed);
      }
    }
  }

  // For each other micro-batch size the fastest shape with the same GPUs.
  std::vector<int> OtherSizes(const PipelineShape& shape) const {
    std::vector<int> others;
    for (int micro = 0; micro < static_cast<int>(table_.problem().job.micro_batches.size()); ++micro) {
      if (micro == shape.micro) continue;
      // Shapes are sorted by (micro, gpus, …).
      const auto key = std::tie(micro, shape.gpus);
      auto it = std::partition_point(shapes_.begin(), shapes_.end(), [&](const PipelineShape& other) {
        return std::tie(other.micro, other.gpus) < key;
      });
      auto fastest = shapes_.end();
      for (; it != shapes_.end() && it->micro == micro && it->gpus == shape.gpus; ++it) {
        if (fastest == shapes_.end() || it->rate.bottleneck < fastest->rate.bottleneck) fastest = it;
      }
      if (fastest != shapes_.end()) others.push_back(static_cast<int>(fastest - shapes_.begin()));
    }
    return others;
  }

  bool AddShared(const Mix& mix) {
    Draft draft{.is_folded = kinds_.has_merged()};
    std::vector<RatedTeam> rated;
    for (const auto& [shape, pipelines] : mix) {
      const PipelineShape& s = shapes_[shape];
      draft.teams.push_back({.micro = s.micro, .slots = s.slots, .counts = s.counts, .pipelines = pipelines});
      rated.push_back({.rate = s.rate, .pipelines = pipelines});
    }
    if (!ShareBatch(rated, mix_.global_batch)) return false;
    seeds_.push_back(std::move(draft));
    return true;
  }

  DraftJudge& judge_;
  const StageTable& table_;
  const PoolKinds& kinds_;
  const std::vector<PipelineShape>& shapes_;
  const SearchScope& scope_;
  const ir::Cluster& cluster_;
  const DraftJudge::Room empty_;
  MixProblem mix_;
  double mix_seconds_ = 0;  // of the mix before: T of the next is not far
  std::set<Mix> known_;
  std::vector<Draft> seeds_;
};

}  // namespace

std::vector<Draft> MakeSeeds(DraftJudge& judge, const std::vector<PipelineShape>& shapes) {
  return SeedMaker(judge, shapes).Make();
}

}  // namespace sail::planner
