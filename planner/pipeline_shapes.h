// Pipelines worth having: for chains of tensor groups, the cut of the layers that minimises the bottleneck under
// memory.
//
// A chain is a sequence of slots (stage_table.h), built from segments of equal slots. For one chain of P stages with
// boundary cost c_s after stage s (c_{P−1} = 0), micro-batch b and at most f micro-batches in flight, let
//   n_s(B) = the most layers of stage s with time + c_s <= B that fit with min(f, P − s) micro-batches stashed.
// A bottleneck B is reachable iff every n_s(B) >= 1 and Σ n_s(B) >= L: stages take any number of layers up to n_s(B),
// because time and memory fall with the number of layers. The least B is what layers need that are given out one by one,
// each to the stage whose time it raises to the least: O(levels · runs of equal stages). Cuts are by time under memory,
// never by count. Within the least B the fastest stages are filled first (least latency), equally fast ones evenly.
//
// A pipeline with bottleneck B and latency Λ = Σ (t_s + c_s) runs M micro-batches in Λ + (M − 1)·B (cost_model.h), so
// within a time T it runs  ⌊(T − Λ)/B⌋ + 1  of them: (B, Λ, GPUs by pool, memory's limit on M) is all the mix needs.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "compiler/ir/plan.h"
#include "planner/stage_table.h"

namespace sail::planner {

inline constexpr int kUnlimitedMicroBatches = std::numeric_limits<int>::max();

// How fast a pipeline is, and what it can hold.
struct PipelineRate {
  int micro_batch = 1;                             // samples
  double bottleneck = 0;                           // seconds between micro-batches
  double latency = 0;                              // seconds of a single micro-batch
  int max_micro_batches = kUnlimitedMicroBatches;  // beyond it some stage overflows its memory
  // Micro-batches within `seconds`.
  int MicroBatchesWithin(double seconds) const;
};

struct PipelineShape {
  int micro = 0;            // index into job.micro_batches
  std::vector<int> slots;   // by stage
  std::vector<int> counts;  // layers, by stage
  PipelineRate rate;
  std::vector<int> gpus;  // by pool
  // What gradient synchronisation grows with.
  double layers_per_gpu = 0;  // of the fullest stage
  int largest_stage = 0;      // layers
  int least_degree = 0;       // of tensor parallelism
};

// A pipeline with `counts` layers on `slots` by stage, without nodes.
ir::Pipeline MakePipeline(const StageTable& table, int micro, const std::vector<int>& slots,
                          const std::vector<int>& counts);

// Largest number of micro-batches that fits in memory: with f = min(M, P − s) in flight on stage s. 0 if none does.
int MaxMicroBatches(const StageTable& table, int micro, const std::vector<int>& slots, const std::vector<int>& counts);

// The cut of `chain` with the least bottleneck; nullopt if none fits. `crossing[s]` is the boundary cost after stage s.
std::optional<std::vector<int>> CutChain(const StageTable& table, int micro, const std::vector<int>& chain,
                                         const std::vector<double>& crossing, int max_in_flight);

// Shapes for all micro-batches and all chains with at most so many segments that the number of chains stays bounded:
// all chains on small problems, two segments on large ones. Boundaries are priced as between nodes, on small problems
// also with consecutive stages packed on nodes. Of shapes with equal micro-batch, GPUs and least tensor degree only
// those remain that no other beats in bottleneck, latency, layers per GPU and memory's limit at once (a plan that uses
// the beaten one can use the other). Deterministic; O(chains · micro-batches · P · log² L).
std::vector<PipelineShape> GenerateShapes(const StageTable& table, const std::vector<int>& quotas);

}  // namespace sail::planner
