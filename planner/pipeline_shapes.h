// Pipelines worth having: chains of tensor groups, built from segments of equal slots and cut under memory
// (chain_cut.h).
//
// A pipeline with bottleneck B and latency Λ = Σ (t_s + c_s) runs M micro-batches in Λ + (M − 1)·B (cost_model.h), so
// within a time T it runs  ⌊(T − Λ)/B⌋ + 1  of them: (B, Λ, GPUs by pool, memory's limit on M) is all the mix needs.
#pragma once

#include <vector>

#include "compiler/ir/plan.h"
#include "planner/chain_cut.h"
#include "planner/stage_table.h"

namespace sail::planner {

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

// Shapes for all micro-batches and all chains with at most so many segments that the number of chains stays bounded:
// all chains on small problems, two segments on large ones. Boundaries are priced as between nodes, on small problems
// also with consecutive stages packed on nodes. Of shapes with equal micro-batch, GPUs and least tensor degree only
// those remain that no other beats in bottleneck, latency, layers per GPU and memory's limit at once (a plan that uses
// the beaten one can use the other). Deterministic; O(chains · micro-batches · P · log² L).
std::vector<PipelineShape> GenerateShapes(const StageTable& table, const std::vector<int>& quotas);

}  // namespace sail::planner
