// Who runs what. A Plan is a plain value with no cost inside; VerifyPlan (verify_plan.h) says whether it is sound, and
// ranks, communicators and gradient groups are derived from it (placement.h), never stored.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ir/cluster.h"

namespace sail::ir {

enum class Schedule { k1F1B };
// zero1: each owner of a gradient group keeps and steps its share of the optimizer state (Rajbhandari et al. 2020).
enum class OptimizerSharding { kNone, kZero1 };
// What the blocks of a stage compute again in backward instead of keeping it: the attention scores and what follows
// from them (selective), or everything but the block's input (full). Source: Korthikanti et al. 2022.
enum class Recompute { kNone, kSelective, kFull };

// The GPUs of one node that share a stage by tensor parallelism. Degree = gpus.size().
struct TensorGroup {
  PoolId pool = PoolId(-1);
  int node = 0;           // 0 .. quota-1 of the pool
  std::vector<int> gpus;  // local indices, ascending
  int degree() const { return static_cast<int>(gpus.size()); }
  friend auto operator<=>(const TensorGroup&, const TensorGroup&) = default;
};

struct Stage {
  int first_layer = 0;  // inclusive
  int last_layer = 0;   // inclusive
  TensorGroup group;
  Recompute recompute = Recompute::kNone;
  int layer_count() const { return last_layer - first_layer + 1; }
  friend auto operator<=>(const Stage&, const Stage&) = default;
};

// One data-parallel replica of the model. Pipelines of one plan may differ in everything.
struct Pipeline {
  int micro_batch = 1;    // samples
  int micro_batches = 1;  // per iteration
  std::vector<Stage> stages;
  int64_t samples() const { return static_cast<int64_t>(micro_batch) * micro_batches; }
  friend auto operator<=>(const Pipeline&, const Pipeline&) = default;
};

// The defaulted order is the canonical plan key: ties between equally good plans go to the smaller plan. Canonicalize
// first: it sorts pipelines, so that two spellings of one plan are equal.
struct Plan {
  Schedule schedule = Schedule::k1F1B;
  OptimizerSharding optimizer_sharding = OptimizerSharding::kNone;
  std::vector<Pipeline> pipelines;
  friend auto operator<=>(const Plan&, const Plan&) = default;
};

void Canonicalize(Plan& plan);

}  // namespace sail::ir
