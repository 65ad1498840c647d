#include "planner/stage_table.h"

#include <algorithm>

namespace sail::planner {

Ends EndsOf(int first_layer, int last_layer, int layers) {
  return static_cast<Ends>((first_layer == 0 ? 1 : 0) + (last_layer == layers - 1 ? 2 : 0));
}

StageTable::StageTable(const ir::Problem& problem, const sim::CostModel& costs, const std::vector<int>& quotas,
                       MemoryRule memory, OptimizerState optimizer)
    : problem_(problem),
      costs_(costs),
      optimizer_(optimizer),
      kinds_(problem.cluster, quotas),
      layers_(problem.model.layer_count()),
      micro_count_(problem.job.micro_batches.size()) {
  for (const int depth : problem.job.pipeline_depths) {
    if (depth <= layers_) max_depth_ = std::max(max_depth_, depth);
  }
  for (int p = 0; p < static_cast<int>(problem.cluster.pools.size()); ++p) {
    if (quotas[p] <= 0) continue;
    for (const int tensor : problem.job.tensor_degrees) {
      if (tensor > problem.cluster.machine(ir::PoolId(p)).gpus_per_node) continue;
      if (!ir::CanDivide(problem.model, tensor)) continue;
      for (const ir::Recompute recompute : problem.job.recomputes) {
        slots_.push_back({.pool = ir::PoolId(p), .tensor = tensor, .recompute = recompute});
      }
    }
  }
  const int slot_count = static_cast<int>(slots_.size());
  for (int slot = 0; slot < slot_count; ++slot) {
    for (int micro = 0; micro < static_cast<int>(micro_count_); ++micro) {
      for (int ends = 0; ends < 4; ++ends) rows_.push_back(MakeRow(slot, micro, static_cast<Ends>(ends), memory));
    }
  }
  for (const int micro_batch : problem.job.micro_batches) {
    for (const Slot& from : slots_) {
      for (const Slot& to : slots_) {
        const auto seconds = [&](bool same_node) {
          return costs.BoundaryTime(from.pool, to.pool, from.tensor, to.tensor, micro_batch, same_node).value();
        };
        boundary_.push_back({seconds(false), from.pool == to.pool ? seconds(true) : seconds(false)});
      }
    }
  }
}

bool StageTable::FitsLike(const StageTable& other) const {
  return std::equal(rows_.begin(), rows_.end(), other.rows_.begin(), other.rows_.end(),
                    [](const Row& a, const Row& b) { return a.fits == b.fits; });
}

int StageTable::SlotIndex(const Slot& slot) const {
  const auto it = std::lower_bound(slots_.begin(), slots_.end(), slot);
  return it != slots_.end() && *it == slot ? static_cast<int>(it - slots_.begin()) : -1;
}

int StageTable::SlotOf(const ir::Stage& stage) const {
  return SlotIndex({.pool = stage.group.pool, .tensor = stage.group.degree(), .recompute = stage.recompute});
}

std::vector<int> StageTable::PoolsOf(const std::vector<int>& slots) const {
  std::vector<int> pools;
  for (const int slot : slots) {
    const int pool = slots_[slot].pool.index();
    if (std::find(pools.begin(), pools.end(), pool) == pools.end()) pools.push_back(pool);
  }
  return pools;
}

std::vector<int> StageTable::OnPools(std::vector<int> slots, const std::vector<int>& from,
                                     const std::vector<int>& to) const {
  for (int& id : slots) {
    Slot slot = slots_[id];
    const auto place = std::find(from.begin(), from.end(), slot.pool.index()) - from.begin();
    slot.pool = ir::PoolId(to[place]);
    id = SlotIndex(slot);
  }
  return slots;
}

sim::StageShape StageTable::Shape(int slot, int micro, Ends ends, int count) const {
  const bool at_end = ends == Ends::kLast || ends == Ends::kBoth;
  const int first = ends == Ends::kFirst ? 0 : at_end ? layers_ - count : 1;
  return {.first_layer = first,
          .last_layer = first + count - 1,
          .pool = slots_[slot].pool,
          .tensor = slots_[slot].tensor,
          .micro_batch = problem_.job.micro_batches[micro],
          .recompute = slots_[slot].recompute,
          .optimizer_shards = optimizer_.shards};
}

StageTable::Row StageTable::MakeRow(int slot, int micro, Ends ends, MemoryRule memory) const {
  // A stage with both ends is the whole model; one without an end leaves a layer on each side.
  const int most = ends == Ends::kBoth ? layers_ : ends == Ends::kNone ? layers_ - 2 : layers_ - 1;
  const int least = ends == Ends::kBoth ? layers_ : 1;
  Row row;
  row.time.assign(most + 1, 0.0);
  for (int count = least; count <= most; ++count) {
    row.time[count] = costs_.StageTime(Shape(slot, micro, ends, count)).value();
  }
  row.fits.assign(max_depth_ + 1, most);
  if (memory == MemoryRule::kIgnored) return row;
  const Bytes limit = MemoryLimit(slot);
  int fits = most;  // falls as more micro-batches are in flight
  for (int in_flight = 1; in_flight <= max_depth_; ++in_flight) {
    while (fits >= least && Memory(slot, micro, ends, fits, in_flight) > limit) --fits;
    if (fits < least) fits = 0;
    row.fits[in_flight] = fits;
  }
  return row;
}

Bytes StageTable::Memory(int slot, int micro, Ends ends, int count, int in_flight) const {
  return costs_.StageMemory(Shape(slot, micro, ends, count), in_flight);
}

Bytes StageTable::MemoryLimit(int slot) const { return costs_.MemoryLimit(slots_[slot].pool); }

}  // namespace sail::planner
