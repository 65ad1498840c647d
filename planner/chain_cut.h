// The cut of the layers among the stages of a chain that minimises the bottleneck under memory.
//
// A chain is a sequence of slots (stage_table.h). For one chain of P stages with boundary cost c_s after stage s
// (c_{P−1} = 0), micro-batch b and at most f micro-batches in flight, let
//   n_s(B) = the most layers of stage s with time + c_s <= B that fit with min(f, P − s) micro-batches stashed.
// A bottleneck B is reachable iff every n_s(B) >= 1 and Σ n_s(B) >= L: stages take any number of layers up to n_s(B),
// because time and memory fall with the number of layers. The least B is what layers need that are given out one by
// one, each to the stage whose time it raises to the least: O(levels · runs of equal stages). Cuts are by time under
// memory, never by count. Within the least B the fastest stages are filled first (least latency), equally fast ones
// evenly.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "planner/stage_table.h"

namespace sail::planner {

inline constexpr int kUnlimitedMicroBatches = std::numeric_limits<int>::max();

// How fast a pipeline is, and what it can hold. With bottleneck B and latency Λ = Σ (t_s + c_s) it runs M micro-batches
// in Λ + (M − 1)·B (cost_model.h), so within a time T  ⌊(T − Λ)/B⌋ + 1  of them.
struct PipelineRate {
  int micro_batch = 1;                             // samples
  double bottleneck = 0;                           // seconds between micro-batches
  double latency = 0;                              // seconds of a single micro-batch
  int max_micro_batches = kUnlimitedMicroBatches;  // beyond it some stage overflows its memory
  // Micro-batches within `seconds`.
  int MicroBatchesWithin(double seconds) const {
    if (seconds < latency) return 0;
    // Zero costs are possible in a profile of trivial layers; then only memory limits the count.
    const double count = bottleneck > 0 ? std::floor((seconds - latency) / bottleneck) + 1 : 1e9;
    return static_cast<int>(std::min({count, 1e9, static_cast<double>(max_micro_batches)}));
  }
  friend bool operator==(const PipelineRate&, const PipelineRate&) = default;
};

// Of stage `stage` of `depth`.
inline Ends EndsOfStage(int stage, int depth) {
  return static_cast<Ends>((stage == 0 ? 1 : 0) + (stage + 1 == depth ? 2 : 0));
}

// Largest number of micro-batches that fits in memory: with f = min(M, P − s) in flight on stage s. 0 if none does.
int MaxMicroBatches(const StageTable& table, int micro, const std::vector<int>& slots, const std::vector<int>& counts);

// The rate of a pipeline with `counts` layers on `slots`, by stage. `has_next_on_node` is asked for each stage but the
// last, in order, whether the next one lies on the same node.
PipelineRate RateOf(const StageTable& table, int micro, const std::vector<int>& slots, const std::vector<int>& counts,
                    absl::FunctionRef<bool(size_t stage)> has_next_on_node);

// Cuts chain after chain with the same scratch memory.
class ChainCutter {
 public:
  // `table` must outlive this.
  explicit ChainCutter(const StageTable& table) : table_(table) {}

  // The cut of `chain` with the least bottleneck, as layers by stage; false if none fits. `crossing[s]` is the boundary
  // cost after stage s.
  bool Cut(int micro, const std::vector<int>& chain, const std::vector<double>& crossing, int max_in_flight,
           std::vector<int>& counts);

 private:
  // Equal neighbours that have `layers` each, but for those before `taking`, whose memory is full.
  struct Run {
    int begin = 0;
    int end = 0;
    int taking = 0;
    int layers = 0;
    const StageTable::Row* row = nullptr;
    double crossing = 0;
    double next_period = 0;  // with one layer more; infinite where all are full
    double layer_time = 0;   // of few layers: how fast the slot is
  };
  void Begin(int micro, const std::vector<int>& chain, const std::vector<double>& crossing);
  int FitOf(const Run& run, int stage) const { return run.row->fits[std::min(max_in_flight_, depth_ - stage)]; }
  void Grow(Run& run) const;
  void GrowTo(Run& run, double period) const;
  double PeriodIfDivisible() const;
  int CountAbove(const Run& run, int layers) const;
  std::optional<double> LeastBottleneck();
  void Fill(std::vector<int>& counts);

  const StageTable& table_;
  int depth_ = 0;
  int max_in_flight_ = 1;
  absl::InlinedVector<Run, 8> runs_;
};

// One cut (ChainCutter); nullopt if none fits.
std::optional<std::vector<int>> CutChain(const StageTable& table, int micro, const std::vector<int>& chain,
                                         const std::vector<double>& crossing, int max_in_flight);

}  // namespace sail::planner
