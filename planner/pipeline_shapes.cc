#include "planner/pipeline_shapes.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <tuple>

#include "absl/container/inlined_vector.h"

namespace sail::planner {
namespace {

constexpr int64_t kMaxChains = 4'000;
constexpr int64_t kMaxChainsOfSmall = 12'000;  // of small problems
constexpr int64_t kFewChains = 1'000;          // up to here with every packing and every number in flight

Ends EndsOfStage(size_t stage, size_t depth) {
  return static_cast<Ends>((stage == 0 ? 1 : 0) + (stage + 1 == depth ? 2 : 0));
}

}  // namespace

int PipelineRate::MicroBatchesWithin(double seconds) const {
  if (seconds < latency) return 0;
  // Zero costs are possible in a profile of trivial layers; then only memory limits the count.
  const double count = bottleneck > 0 ? std::floor((seconds - latency) / bottleneck) + 1 : 1e9;
  return static_cast<int>(std::min({count, 1e9, static_cast<double>(max_micro_batches)}));
}

ir::Pipeline MakePipeline(const StageTable& table, int micro, const std::vector<int>& slots,
                          const std::vector<int>& counts) {
  ir::Pipeline pipeline{.micro_batch = table.problem().job.micro_batches[micro], .stages = {}};
  int first = 0;
  for (size_t s = 0; s < slots.size(); ++s) {
    const Slot& slot = table.slots()[slots[s]];
    pipeline.stages.push_back({.first_layer = first,
                               .last_layer = first + counts[s] - 1,
                               .group = {.pool = slot.pool, .gpus = std::vector<int>(slot.tensor, 0)},
                               .recompute = slot.recompute});
    first += counts[s];
  }
  return pipeline;
}

int MaxMicroBatches(const StageTable& table, int micro, const std::vector<int>& slots, const std::vector<int>& counts) {
  const int depth = static_cast<int>(slots.size());
  int most = kUnlimitedMicroBatches;
  for (int s = 0; s < depth; ++s) {
    int in_flight = depth - s;
    const Ends ends = EndsOfStage(s, depth);
    while (in_flight > 0 && table.MaxLayersInMemory(slots[s], micro, ends, in_flight) < counts[s]) --in_flight;
    if (in_flight < depth - s) most = std::min(most, in_flight);
  }
  return most;
}

namespace {

// One chain with everything that does not depend on the bottleneck tried.
class ChainCut {
 public:
  ChainCut(const StageTable& table, int micro, const std::vector<int>& chain, const std::vector<double>& crossing,
           int max_in_flight)
      : table_(table), micro_(micro), chain_(chain), crossing_(crossing), layers_(chain.size(), 0) {
    const int depth = static_cast<int>(chain.size());
    for (int s = 0; s < depth; ++s) {
      ends_.push_back(EndsOfStage(s, depth));
      fits_.push_back(table.MaxLayersInMemory(chain[s], micro, ends_[s], std::min(max_in_flight, depth - s)));
    }
    run_end_.assign(depth, depth);
    for (int s = depth - 2; s >= 0; --s) {
      const bool is_run = ends_[s] == ends_[s + 1] && chain[s] == chain[s + 1] && crossing[s] == crossing[s + 1];
      run_end_[s] = is_run ? run_end_[s + 1] : s + 1;
    }
  }

  std::optional<std::vector<int>> Cut() {
    if (chain_.size() == 1) return fits_[0] < 1 ? std::nullopt : std::optional(std::vector<int>{table_.layers()});
    const std::optional<double> bottleneck = LeastBottleneck();
    if (!bottleneck) return std::nullopt;
    SetMost(*bottleneck);
    return Fill();
  }

 private:
  double Period(size_t s, int count) const { return table_.Time(chain_[s], micro_, ends_[s], count) + crossing_[s]; }

  // From one layer a stage, layers go where the period grows to the least: stages of a run grow together, as far as
  // their memory allows. nullopt if not all layers fit.
  std::optional<double> LeastBottleneck() const {
    int left = table_.layers() - static_cast<int>(chain_.size());
    double bottleneck = 0;
    absl::InlinedVector<Growth, 8> runs;
    for (size_t begin = 0; begin < chain_.size(); begin = run_end_[begin]) {
      if (fits_[begin] < 1) return std::nullopt;  // the first of a run holds least
      bottleneck = std::max(bottleneck, Period(begin, 1));
      runs.push_back({.begin = begin, .taking = begin});
      Grow(runs.back());
    }
    while (left > 0) {
      Growth& next = *std::min_element(runs.begin(), runs.end(),
                                       [](const Growth& a, const Growth& b) { return a.next_period < b.next_period; });
      if (!std::isfinite(next.next_period)) return std::nullopt;
      bottleneck = std::max(bottleneck, next.next_period);
      left -= static_cast<int>(run_end_[next.begin] - next.taking);
      Grow(next);
    }
    return bottleneck;
  }

  // Equal stages that have `layers` each, but for those before `taking`, whose memory is full.
  struct Growth {
    size_t begin = 0;
    size_t taking = 0;
    int layers = 0;
    double next_period = 0;  // with one layer more; infinite where all are full
  };
  void Grow(Growth& run) const {
    ++run.layers;
    while (run.taking < run_end_[run.begin] && fits_[run.taking] <= run.layers) ++run.taking;
    const bool is_full = run.taking == run_end_[run.begin];
    run.next_period = is_full ? std::numeric_limits<double>::infinity() : Period(run.begin, run.layers + 1);
  }

  // Sets layers_ to n_s(bottleneck).
  void SetMost(double bottleneck) {
    for (size_t begin = 0; begin < chain_.size(); begin = run_end_[begin]) {
      // Stages of a run differ in memory only; the last holds most.
      const int most = fits_[run_end_[begin] - 1];
      int in_time = table_.MaxLayersInTime(chain_[begin], micro_, ends_[begin], bottleneck - crossing_[begin]);
      // The difference is rounded; the sum decides.
      while (in_time > 0 && Period(begin, in_time) > bottleneck) --in_time;
      while (in_time < most && Period(begin, in_time + 1) <= bottleneck) ++in_time;
      for (size_t s = begin; s < run_end_[begin]; ++s) layers_[s] = std::min(in_time, fits_[s]);
    }
  }

  // Takes L layers out of the upper limits layers_: the fastest slots to the brim, equally fast ones evenly.
  std::vector<int> Fill() const {
    const size_t depth = chain_.size();
    std::vector<int> order(depth);
    std::iota(order.begin(), order.end(), 0);
    const auto speed = [&](int s) { return table_.Time(chain_[s], micro_, Ends::kFirst, 1 + (table_.layers() > 2)); };
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return speed(a) < speed(b); });
    std::vector<int> counts(depth, 1);
    int left = table_.layers() - static_cast<int>(depth);
    for (size_t begin = 0; begin < depth && left > 0;) {
      size_t end = begin + 1;
      while (end < depth && speed(order[end]) == speed(order[begin])) ++end;
      for (bool is_full = false; left > 0 && !is_full;) {
        is_full = true;
        for (size_t i = begin; i < end && left > 0; ++i) {
          int& count = counts[order[i]];
          if (count == layers_[order[i]]) continue;
          ++count;
          --left;
          is_full = false;
        }
      }
      begin = end;
    }
    return counts;
  }

  const StageTable& table_;
  const int micro_;
  const std::vector<int>& chain_;
  const std::vector<double>& crossing_;
  absl::InlinedVector<Ends, 32> ends_;
  absl::InlinedVector<int, 32> fits_;        // by stage
  absl::InlinedVector<size_t, 32> run_end_;  // by stage: where equal neighbours from it on end
  absl::InlinedVector<int, 32> layers_;
};

}  // namespace

std::optional<std::vector<int>> CutChain(const StageTable& table, int micro, const std::vector<int>& chain,
                                         const std::vector<double>& crossing, int max_in_flight) {
  return ChainCut(table, micro, chain, crossing, max_in_flight).Cut();
}

namespace {

enum class Packing { kSpread, kPacked };

// Enumerates chains and collects their shapes.
class ShapeGenerator {
 public:
  ShapeGenerator(const StageTable& table, const std::vector<int>& quotas)
      : table_(table), quotas_(quotas), max_chains_(table.kinds().is_small() ? kMaxChainsOfSmall : kMaxChains) {
    for (int length = 1; length <= table.max_depth(); ++length) lengths_.push_back(length);
    is_depth_.assign(table.max_depth() + 1, false);
    for (const int depth : table.problem().job.pipeline_depths) {
      if (depth <= table.max_depth()) is_depth_[depth] = true;
    }
    groups_.assign(table.slots().size(), 0);
    gpus_.assign(quotas.size(), 0);
  }

  std::vector<PipelineShape> Generate() {
    FindSuccessors();
    ChooseSegments();
    is_thorough_ = CountChains() <= kFewChains;
    Extend(segments_, -1);
    return std::move(shapes_);
  }

 private:
  // Slots that may follow a slot in another segment: of the same pool, and of pools that lead beside it.
  void FindSuccessors() {
    const int slots = static_cast<int>(table_.slots().size());
    const PoolKinds& kinds = table_.kinds();
    for (int a = 0; a < slots; ++a) {
      std::vector<int>& successors = successors_.emplace_back();
      const int pool = table_.slots()[a].pool.index();
      for (int b = 0; b < slots; ++b) {
        const int next = table_.slots()[b].pool.index();
        if (b != a && (next == pool ? kinds.Leads(pool) : kinds.Leads(pool, next))) successors.push_back(b);
      }
      all_slots_.push_back(a);
    }
  }

  // The most segments whose chains are few enough; for two, lengths may be thinned first.
  void ChooseSegments() {
    for (segments_ = table_.max_depth(); segments_ > 2; --segments_) {
      if (CountChains() <= max_chains_) return;
    }
    if (segments_ < 2 || CountChains() <= max_chains_) return;
    const std::vector<int> all = lengths_;
    std::erase_if(lengths_, [](int length) { return length > 4 && length % 4 != 0 && length != 6; });
    if (CountChains() <= max_chains_) return;
    std::erase_if(lengths_, [](int length) { return !std::has_single_bit(static_cast<unsigned>(length)); });
    if (CountChains() <= max_chains_) return;
    lengths_ = all;
    segments_ = 1;
  }

  // Chains ignoring quotas, counted up to just beyond the bound: ways[d][slot] of depth d that end with the slot, by
  // the number of segments.
  int64_t CountChains() const {
    const size_t slots = all_slots_.size();
    std::vector<std::vector<int64_t>> ways(table_.max_depth() + 1, std::vector<int64_t>(slots, 0));
    int64_t total = 0;
    for (int segment = 0; segment < segments_ && total <= max_chains_; ++segment) {
      std::vector<std::vector<int64_t>> begun(ways.size(), std::vector<int64_t>(slots, segment == 0 ? 1 : 0));
      for (size_t depth = 0; depth < ways.size() && segment > 0; ++depth) {
        for (size_t a = 0; a < slots; ++a) {
          for (const int b : successors_[a]) begun[depth][b] += ways[depth][a];
        }
      }
      for (std::vector<int64_t>& row : ways) std::fill(row.begin(), row.end(), 0);
      for (size_t depth = 0; depth < (segment == 0 ? 1 : ways.size()); ++depth) {
        for (const int length : lengths_) {
          for (size_t b = 0; b < slots && depth + length < ways.size(); ++b) {
            int64_t& count = ways[depth + length][b];
            const bool is_led = segment == 0 && !table_.kinds().Leads(table_.slots()[b].pool.index());
            count = std::min(count + begun[depth][b], max_chains_ + 1);
            if (!is_led) total = std::min(total + begun[depth][b], max_chains_ + 1);
          }
        }
      }
    }
    return total;
  }

  // Appends each possible segment, then recurses. Equal neighbours would be one longer segment.
  void Extend(int segments_left, int last_slot) {
    if (!chain_.empty() && is_depth_[chain_.size()] && LeadsItsKind()) AddChain();
    if (segments_left == 0) return;
    for (const int slot : last_slot < 0 ? all_slots_ : successors_[last_slot]) {
      int length = 0;
      for (const int wanted : lengths_) {
        while (length < wanted && Push(slot)) ++length;
        if (length < wanted) break;
        Extend(segments_left - 1, slot);
      }
      while (length-- > 0) Pop(slot);
    }
  }

  // Chains on one pool are formed on the first of its kind; of several, the successors are.
  bool LeadsItsKind() const {
    const int pool = table_.slots()[chain_.front()].pool.index();
    const bool is_in_one_pool =
        std::all_of(chain_.begin(), chain_.end(), [&](int id) { return table_.slots()[id].pool.index() == pool; });
    return !is_in_one_pool || table_.kinds().Leads(pool);
  }

  // One more stage on `slot`, if depth and quota allow.
  bool Push(int slot) {
    const Slot& added = table_.slots()[slot];
    const int pool = added.pool.index();
    const int per_node = table_.problem().cluster.machine(added.pool).gpus_per_node;
    if (static_cast<int>(chain_.size()) == table_.max_depth()) return false;
    if (gpus_[pool] + added.tensor > quotas_[pool] * per_node) return false;
    if (groups_[slot] + 1 > quotas_[pool] * (per_node / added.tensor)) return false;
    chain_.push_back(slot);
    gpus_[pool] += added.tensor;
    ++groups_[slot];
    return true;
  }

  void Pop(int slot) {
    chain_.pop_back();
    gpus_[table_.slots()[slot].pool.index()] -= table_.slots()[slot].tensor;
    --groups_[slot];
  }

  void AddChain() {
    for (int micro = 0; micro < static_cast<int>(table_.problem().job.micro_batches.size()); ++micro) {
      const bool has_shared_node = AddPacked(micro, is_thorough_ ? Packing::kPacked : Packing::kSpread);
      if (has_shared_node) AddPacked(micro, Packing::kSpread);
    }
  }

  // Returns whether any boundary lies inside a node.
  bool AddPacked(int micro, Packing packing) {
    crossing_.assign(chain_.size(), 0.0);
    bool has_shared_node = false;
    int free = 0;  // GPUs left on the node of the current stage
    for (size_t s = 0; s < chain_.size(); ++s) {
      const Slot& slot = table_.slots()[chain_[s]];
      const bool is_same_pool = s > 0 && table_.slots()[chain_[s - 1]].pool == slot.pool;
      const bool is_same_node = is_same_pool && free >= slot.tensor && packing == Packing::kPacked;
      if (s > 0) crossing_[s - 1] = table_.Boundary(chain_[s - 1], chain_[s], micro, is_same_node);
      free = (is_same_node ? free : table_.problem().cluster.machine(slot.pool).gpus_per_node) - slot.tensor;
      has_shared_node = has_shared_node || is_same_node;
    }
    AddCuts(micro);
    return has_shared_node;
  }

  // The cut as if every micro-batch were alone; where its pipeline cannot fill up with micro-batches, also the cuts for
  // more in flight.
  void AddCuts(int micro) {
    const int depth = static_cast<int>(chain_.size());
    if (AddCut(micro, /*max_in_flight=*/1)) return;
    for (int in_flight = 2; in_flight < depth; ++in_flight) {
      if (is_thorough_ || in_flight == depth / 2) AddCut(micro, in_flight);
    }
    AddCut(micro, depth);
  }

  // Whether nothing better can come of more micro-batches in flight.
  bool AddCut(int micro, int max_in_flight) {
    const std::optional<std::vector<int>> counts = CutChain(table_, micro, chain_, crossing_, max_in_flight);
    if (!counts) return true;
    PipelineShape shape{.micro = micro, .slots = chain_, .counts = *counts, .rate = {}, .gpus = gpus_};
    shape.rate.micro_batch = table_.problem().job.micro_batches[micro];
    shape.rate.max_micro_batches = MaxMicroBatches(table_, micro, chain_, *counts);
    for (size_t s = 0; s < chain_.size(); ++s) {
      const double period = table_.Time(chain_[s], micro, EndsOfStage(s, chain_.size()), (*counts)[s]) + crossing_[s];
      shape.rate.bottleneck = std::max(shape.rate.bottleneck, period);
      shape.rate.latency += period;
      const double per_gpu = static_cast<double>((*counts)[s]) / table_.slots()[chain_[s]].tensor;
      shape.layers_per_gpu = std::max(shape.layers_per_gpu, per_gpu);
      shape.largest_stage = std::max(shape.largest_stage, (*counts)[s]);
      const int degree = table_.slots()[chain_[s]].tensor;
      shape.least_degree = s == 0 ? degree : std::min(shape.least_degree, degree);
    }
    const bool is_unlimited = shape.rate.max_micro_batches == kUnlimitedMicroBatches;
    shapes_.push_back(std::move(shape));
    return is_unlimited;
  }

  const StageTable& table_;
  const std::vector<int>& quotas_;
  const int64_t max_chains_;
  std::vector<int> all_slots_;
  std::vector<std::vector<int>> successors_;  // by slot
  std::vector<int> lengths_;                  // of segments
  std::vector<bool> is_depth_;                // candidates of the job
  int segments_ = 1;
  bool is_thorough_ = true;
  std::vector<int> chain_;
  std::vector<int> groups_;  // by slot, in chain_
  std::vector<int> gpus_;    // by pool, in chain_
  std::vector<double> crossing_;
  std::vector<PipelineShape> shapes_;
};

bool IsBeatenBy(const PipelineShape& a, const PipelineShape& b) {
  return b.rate.bottleneck <= a.rate.bottleneck && b.rate.latency <= a.rate.latency &&
         b.layers_per_gpu <= a.layers_per_gpu && b.rate.max_micro_batches >= a.rate.max_micro_batches;
}

}  // namespace

std::vector<PipelineShape> GenerateShapes(const StageTable& table, const std::vector<int>& quotas) {
  std::vector<PipelineShape> shapes = ShapeGenerator(table, quotas).Generate();
  const auto key = [](const PipelineShape& shape) { return std::tie(shape.micro, shape.gpus, shape.least_degree); };
  std::stable_sort(shapes.begin(), shapes.end(), [&](const PipelineShape& a, const PipelineShape& b) {
    return std::tie(a.micro, a.gpus, a.least_degree, a.rate.bottleneck, a.rate.latency) <
           std::tie(b.micro, b.gpus, b.least_degree, b.rate.bottleneck, b.rate.latency);
  });
  std::vector<PipelineShape> kept;
  size_t group = 0;  // where the kept shapes of the current key begin
  for (PipelineShape& shape : shapes) {
    if (group < kept.size() && key(kept[group]) != key(shape)) group = kept.size();
    const bool is_beaten = std::any_of(kept.begin() + static_cast<std::ptrdiff_t>(group), kept.end(),
                                       [&](const PipelineShape& other) { return IsBeatenBy(shape, other); });
    if (!is_beaten) kept.push_back(std::move(shape));
  }
  return kept;
}

}  // namespace sail::planner
