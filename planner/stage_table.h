// Time and memory of every stage the search can form, as arrays over layer counts.
//
// Layers of one kind are equal, so a stage is known by its tensor group, micro-batch, number of layers and by whether
// it holds the first and the last layer: O(L) entries per tensor group and micro-batch, not O(L²).
#pragma once

#include <utility>
#include <vector>

#include "compiler/ir/plan.h"
#include "compiler/ir/problem.h"
#include "planner/pool_kinds.h"
#include "simulator/cost_model.h"

namespace sail::planner {

// A kind of stage: `tensor` GPUs of one node of `pool`, and what they compute again in backward.
struct Slot {
  ir::PoolId pool = ir::PoolId(-1);
  int tensor = 1;
  ir::Recompute recompute = ir::Recompute::kNone;
  friend auto operator<=>(const Slot&, const Slot&) = default;
};

// Which ends of the model a stage holds; index into the tables.
enum class Ends { kNone = 0, kFirst = 1, kLast = 2, kBoth = 3 };
Ends EndsOf(int first_layer, int last_layer, int layers);

enum class MemoryRule { kEnforced, kIgnored };

// What the tables assume about the optimizer's state: under ZeRO-1 a stage keeps one of as many shards as the plan has
// pipelines, which is not known here. Memory is that of `shards` pipelines; the judge knows the true number.
struct OptimizerState {
  ir::OptimizerSharding sharding = ir::OptimizerSharding::kNone;
  int shards = 1;
};

class StageTable {
 public:
  // Of one slot, micro-batch and kind of ends.
  struct Row {
    std::vector<double> time;  // by layer count
    std::vector<int> fits;     // by micro-batches in flight: most layers
  };

  // Covers the pools with `quotas` (nodes, by pool) above zero, every tensor degree of the job that fits their nodes
  // and divides heads and feed-forward, and every recomputation of the job. Assumes that a stage with more layers or
  // more micro-batches in flight never needs less time or memory. O(slots · micro-batches · (L + depth · log L)) cost
  // queries.
  StageTable(const ir::Problem& problem, const sim::CostModel& costs, const std::vector<int>& quotas, MemoryRule memory,
             OptimizerState optimizer = {});

  const ir::Problem& problem() const { return problem_; }
  const PoolKinds& kinds() const { return kinds_; }
  ir::OptimizerSharding optimizer_sharding() const { return optimizer_.sharding; }  // of the plans made from this
  // Whether every stage fits where it fits in `other`, a table of the same problem and quotas.
  bool FitsLike(const StageTable& other) const;
  const std::vector<Slot>& slots() const { return slots_; }  // ascending
  int SlotIndex(const Slot& slot) const;                     // -1 if there is none
  int SlotOf(const ir::Stage& stage) const;                  // the same
  // The pools of a chain, each once, in order of their first stage.
  std::vector<int> PoolsOf(const std::vector<int>& slots) const;
  // The chain on other pools: every pool of `from` replaced by that of `to` at the same place.
  std::vector<int> OnPools(std::vector<int> slots, const std::vector<int>& from, const std::vector<int>& to) const;
  int layers() const { return layers_; }
  int max_depth() const { return max_depth_; }  // the deepest pipeline of the job that has a layer for every stage

  const Row& row(int slot, int micro, Ends ends) const {
    return rows_[(static_cast<size_t>(slot) * micro_count_ + micro) * 4 + static_cast<int>(ends)];
  }
  // Seconds of forward and backward of one micro-batch through `count` layers. `micro` indexes job.micro_batches.
  double Time(int slot, int micro, Ends ends, int count) const { return row(slot, micro, ends).time[count]; }
  // The most layers that fit in memory with `in_flight` (1..max_depth) micro-batches stashed; 0 if none.
  int MaxLayersInMemory(int slot, int micro, Ends ends, int in_flight) const {
    return row(slot, micro, ends).fits[in_flight];
  }
  // Seconds of one boundary crossing between two stages, both ways.
  double Boundary(int from_slot, int to_slot, int micro, bool same_node) const {
    const auto index = (static_cast<size_t>(micro) * slots_.size() + from_slot) * slots_.size() + to_slot;
    return same_node ? boundary_[index].second : boundary_[index].first;
  }

  Bytes Memory(int slot, int micro, Ends ends, int count, int in_flight) const;
  Bytes MemoryLimit(int slot) const;

 private:
  sim::StageShape Shape(int slot, int micro, Ends ends, int count) const;
  Row MakeRow(int slot, int micro, Ends ends, MemoryRule memory) const;

  const ir::Problem& problem_;
  const sim::CostModel& costs_;
  OptimizerState optimizer_;
  PoolKinds kinds_;
  std::vector<Slot> slots_;
  int layers_ = 0;
  int max_depth_ = 0;
  size_t micro_count_ = 0;
  std::vector<Row> rows_;
  std::vector<std::pair<double, double>> boundary_;  // [micro][from][to]: on different nodes, on one node
};

}  // namespace sail::planner
