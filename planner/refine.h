// Local moves on a complete plan, judged by CostModel::Evaluate: what the mix cannot see (synchronisation, whole nodes,
// overlap, egress, exact limits) is settled here.
//
// Equal pipelines form a class and are changed together; on small problems also one by one. Kinds of moves, in order;
// those marked * on small problems only, elsewhere climbs over drafts have made them (draft_climber.h):
//   shares      a micro-batch's worth of samples from one class to another; shares as if a class were faster or slower
//   boundaries  a layer from one stage to another of the same pipeline, the stages between shift
//   micro       another micro-batch size for a class
//   drop    *   one pipeline less
//   replace *   one pipeline of a class by another shape that fits
//   add     *   one more pipeline of any shape that fits into the free GPUs
//   slots   *   another pool, tensor degree or recomputation for a stage; a stage split in two, two stages merged
//   nodes       another layout; two groups change places; a group moves to another node
// The first move of a kind that improves is taken and the kind starts again; the search ends when no kind improves.
#pragma once

#include <vector>

#include "planner/judge.h"
#include "planner/pipeline_shapes.h"
#include "planner/stage_table.h"
#include "simulator/outline.h"

namespace sail::planner {

class Refiner {
 public:
  // The arguments must outlive this.
  Refiner(const StageTable& table, const std::vector<PipelineShape>& shapes, sim::OutlineEstimator& estimator,
          Judge& judge)
      : table_(table), shapes_(shapes), estimator_(estimator), judge_(judge) {}

  // A local optimum reached from `start`, or where the budget ended.
  Judged Improve(Judged start);

 private:
  using Move = bool (Refiner::*)();

  struct Class {
    std::vector<int> members;  // pipelines of current_.plan
  };
  std::vector<Class> Classes() const;
  std::vector<std::vector<int>> Subjects(const Class& c) const;

  bool MoveShares();
  bool MoveBoundaries();
  bool MoveMicroBatches();
  bool MoveDrop();
  bool MoveAdd();
  bool MoveReplace();
  bool MoveSlots();
  bool MoveNodes();

  // Judges the plan and makes it the current one if it is better.
  bool Take(ir::Plan plan);
  // On large problems where time counts first: whether the plan's outline takes clearly longer than the current one's.
  bool IsHopeless(const ir::Plan& plan);
  // The same after placing it anew in every layout and sharing the batch.
  bool TakePlacedAnew(const ir::Plan& plan);
  bool TakeShared(ir::Plan plan);
  bool TakeRecut(const ir::Plan& base, const std::vector<int>& subject);

  bool SwapSlots(const ir::Plan& base, const std::vector<int>& members, int stage);
  bool MergeOrSplit(const ir::Plan& plan, const std::vector<int>& members, int stage);
  std::vector<int> ShapesByPromise() const;
  std::vector<int> FreeGpus(const ir::Plan& plan) const;
  bool Fits(const PipelineShape& shape, const std::vector<int>& free) const;
  bool is_small() const;

  const StageTable& table_;
  const std::vector<PipelineShape>& shapes_;
  sim::OutlineEstimator& estimator_;
  Judge& judge_;
  Judged current_;
  double estimated_ = 0;  // seconds of the current plan's outline; 0: not known
};

}  // namespace sail::planner
