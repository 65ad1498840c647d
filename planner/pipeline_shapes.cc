#include "planner/pipeline_shapes.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <tuple>
#include <unordered_map>

#include "compiler/base/rng.h"

namespace sail::planner {
namespace {

constexpr int64_t kMaxChains = 4'000;
constexpr int64_t kMaxChainsOfSmall = 12'000;  // of small problems
constexpr int64_t kFewChains = 1'000;          // up to here with every packing and every number in flight

}  // namespace

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

namespace {

enum class Packing { kSpread, kPacked };

bool IsBeatenBy(const PipelineShape& a, const PipelineShape& b) {
  return b.rate.bottleneck <= a.rate.bottleneck && b.rate.latency <= a.rate.latency &&
         b.layers_per_gpu <= a.layers_per_gpu && b.rate.max_micro_batches >= a.rate.max_micro_batches;
}

bool IsFaster(const PipelineShape& a, const PipelineShape& b) {
  return std::tie(a.rate.bottleneck, a.rate.latency) < std::tie(b.rate.bottleneck, b.rate.latency);
}

struct HashOfInts {
  size_t operator()(const std::vector<int>& values) const {
    uint64_t hash = 0;
    for (const int value : values) hash = Mix64(hash ^ static_cast<uint64_t>(value));
    return hash;
  }
};

// Enumerates chains and collects their shapes.
class ShapeGenerator {
 public:
  ShapeGenerator(const StageTable& table, const std::vector<int>& quotas)
      : table_(table),
        quotas_(quotas),
        max_chains_(table.kinds().is_small() ? kMaxChainsOfSmall : kMaxChains),
        cutter_(table) {
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
    return Kept();
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
    family_ = FamilyOf();
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

  // Of shapes that may beat each other: those with the same GPUs and least tensor degree.
  size_t FamilyOf() {
    std::vector<int>& key = family_key_;
    key = gpus_;
    key.push_back(std::numeric_limits<int>::max());
    for (const int slot : chain_) key.back() = std::min(key.back(), table_.slots()[slot].tensor);
    const auto [it, is_new] = families_.try_emplace(key, families_.size());
    if (is_new) rivals_.resize(families_.size() * table_.problem().job.micro_batches.size());
    return it->second;
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

  // In the order of the header; equal ones as they were formed.
  std::vector<PipelineShape> Kept() {
    std::vector<size_t> order;
    for (size_t i = 0; i < shapes_.size(); ++i) {
      if (is_kept_[i]) order.push_back(i);
    }
    const auto key = [&](size_t i) {
      const PipelineShape& shape = shapes_[i];
      return std::tie(shape.micro, shape.gpus, shape.least_degree, shape.rate.bottleneck, shape.rate.latency);
    };
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return key(a) < key(b); });
    std::vector<PipelineShape> kept;
    kept.reserve(order.size());
    for (const size_t i : order) kept.push_back(std::move(shapes_[i]));
    return kept;
  }

  // Whether nothing better can come of more micro-batches in flight.
  bool AddCut(int micro, int max_in_flight) {
    if (!cutter_.Cut(micro, chain_, crossing_, max_in_flight, counts_)) return true;
    const int depth = static_cast<int>(chain_.size());
    PipelineShape shape{.micro = micro, .slots = {}, .counts = {}, .rate = {}, .gpus = {}};
    shape.rate.micro_batch = table_.problem().job.micro_batches[micro];
    shape.rate.max_micro_batches = MaxMicroBatches(table_, micro, chain_, counts_);
    shape.least_degree = family_key_.back();
    for (int s = 0; s < depth; ++s) {
      const int count = counts_[s];
      const double period = table_.Time(chain_[s], micro, EndsOfStage(s, depth), count) + crossing_[s];
      shape.rate.bottleneck = std::max(shape.rate.bottleneck, period);
      shape.rate.latency += period;
      const double per_gpu = static_cast<double>(count) / table_.slots()[chain_[s]].tensor;
      shape.layers_per_gpu = std::max(shape.layers_per_gpu, per_gpu);
      shape.largest_stage = std::max(shape.largest_stage, count);
    }
    const bool is_unlimited = shape.rate.max_micro_batches == kUnlimitedMicroBatches;
    Offer(std::move(shape));
    return is_unlimited;
  }

  // Keeps the shape of the current chain and cut unless another of its family beats it, and then none that it beats and
  // precedes.
  void Offer(PipelineShape shape) {
    std::vector<size_t>& rivals = rivals_[family_ * table_.problem().job.micro_batches.size() + shape.micro];
    for (const size_t rival : rivals) {
      if (IsBeatenBy(shape, shapes_[rival])) return;
    }
    std::erase_if(rivals, [&](size_t rival) {
      is_kept_[rival] = !IsBeatenBy(shapes_[rival], shape) || !IsFaster(shape, shapes_[rival]);
      return !is_kept_[rival];
    });
    rivals.push_back(shapes_.size());
    shape.slots = chain_;
    shape.counts = counts_;
    shape.gpus = gpus_;
    shapes_.push_back(std::move(shape));
    is_kept_.push_back(true);
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
  std::vector<int> counts_;  // of the cut
  ChainCutter cutter_;
  std::unordered_map<std::vector<int>, size_t, HashOfInts> families_;  // only ever asked, never iterated
  std::vector<int> family_key_;                                        // of chain_
  size_t family_ = 0;
  std::vector<std::vector<size_t>> rivals_;  // by family and micro-batch: kept shapes
  std::vector<PipelineShape> shapes_;
  std::vector<bool> is_kept_;  // by shape
};

}  // namespace

std::vector<PipelineShape> GenerateShapes(const StageTable& table, const std::vector<int>& quotas) {
  return ShapeGenerator(table, quotas).Generate();
}

}  // namespace sail::planner
