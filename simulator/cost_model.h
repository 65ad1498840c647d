// The interface the planner searches with. Pure: same arguments, same answer; no clock, no randomness.
//
// A CostModel is bound to one ir::Problem. Its elementary costs (stage time, stage memory, transfer) feed the search's
// recurrences; Evaluate is the closed-form judgement of a complete plan; simulate.h's timeline is the event-driven one.
#pragma once

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/plan.h"
#include "compiler/ir/problem.h"
#include "compiler/ir/report.h"
#include "simulator/outline.h"

namespace sail::sim {

// Consecutive layers on `tensor` GPUs of one node of `pool`.
struct StageShape {
  int first_layer = 0;
  int last_layer = 0;
  ir::PoolId pool = ir::PoolId(-1);
  int tensor = 1;
  int micro_batch = 1;
  ir::Recompute recompute = ir::Recompute::kNone;
  int optimizer_shards = 1;  // owners that share the optimizer state and its step: the pipelines under ZeRO-1
};

// What Evaluate makes of a pipeline of stages with times t, for bounds on it.
enum class PipelineForm {
  kEvents,   // the exact 1F1B recurrence (pipeline_time.h); a rank goes on once its own stage is done
  kClassic,  // Σ (t + c) + (M − 1) · max (t + c), where the first stage sends once or twice (of up to three stages
             // once), the others twice; after it synchronisation and step, each the longest of any stage
};

class CostModel {
 public:
  virtual ~CostModel() = default;

  // Forward plus backward of one micro-batch on the stage. The profile is complete for candidates of the job.
  virtual Seconds StageTime(const StageShape& stage) const = 0;

  // Peak memory of each rank of the stage with `in_flight` micro-batches stashed (1F1B: min(M, depth - stage index)).
  virtual Bytes StageMemory(const StageShape& stage, int in_flight) const = 0;
  // The same, in whatever plan: where that matters StageMemory is the most.
  virtual Bytes StageMemoryAtLeast(const StageShape& stage, int in_flight) const {
    return StageMemory(stage, in_flight);
  }
  // What StageMemory must not exceed on this pool's gpu.
  virtual Bytes MemoryLimit(ir::PoolId pool) const = 0;

  // One boundary crossing, activation forward plus gradient back, of one micro-batch between stages of tensor degrees
  // `from_tensor` and `to_tensor` on different nodes of the pools (same_node: on one node).
  virtual Seconds BoundaryTime(ir::PoolId from, ir::PoolId to, int from_tensor, int to_tensor, int micro_batch,
                               bool same_node) const = 0;

  // Optimizer step of the stage's parameters.
  virtual Seconds OptimizerTime(const StageShape& stage) const = 0;

  virtual PipelineForm form() const = 0;
  // The part of StageTime before the backward, of kEvents.
  virtual Seconds ForwardTime(const StageShape& stage) const = 0;
  // At most what one of the sends takes that kClassic charges a stage on `from` beside one on `to`.
  virtual Seconds SendTime(ir::PoolId from, ir::PoolId to, int from_tensor, int to_tensor, int micro_batch) const = 0;

  // Judges a complete plan that satisfies VerifyPlanStructure, as if no two transfers ever met on a link: each
  // pipeline's 1F1B recurrence, the gradient buckets in canonical order, the optimizer. Memory by term, money, traffic,
  // constraints. The search's recurrences use the classic closed form
  //   T_p = Σ_s t_s + Σ_s c_s + (M − 1) · max_s (t_s + c_s)
  // which is never below what Evaluate reports for the pipeline (docs/cost_model.md derives both): a stage that waits
  // for nobody hides transfers and the work of later stages. The timeline (simulate.h) is never below Evaluate.
  // Sources: Narayanan et al. 2019, 2021 (1F1B); Sailor §4.
  // Complexity O(Σ over distinct pipelines of stages · micro-batches + layers + gradient buckets · pipelines).
  virtual absl::StatusOr<ir::Report> Evaluate(const ir::Plan& plan) const = 0;

  // Estimates what Evaluate says of regular plans (outline.h) in microseconds. The timeline's model estimates the
  // closed form. The result must not outlive the model.
  virtual std::unique_ptr<OutlineEstimator> MakeEstimator() const = 0;

  // The same model of the same problem in another order: its pool p is `pools[p]` of this one's; zones and regions are
  // in another order, too, GPUs and machines are not. `problem` must outlive the result, and so must what this was made
  // from.
  virtual std::unique_ptr<CostModel> Reordered(const ir::Problem& problem,
                                               const std::vector<ir::PoolId>& pools) const = 0;
};

}  // namespace sail::sim
