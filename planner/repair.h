// What to do with a plan that has lost nodes without moving the rest: pipelines that lost none stay where they are.
//
//   dropped   nothing else
//   rebuilt   as many broken pipelines as fit again, those with the fewest lost groups first. Their surviving groups
//             stay; lost groups go, in the free GPUs of their pool, where their layers are already held (the remains of
//             a pipeline that is not rebuilt), else where they fit most tightly
//   filled    what is free after either is given to pipelines of another shape: fewer stages, another cut (near.h)
// All come without the batch shared; planner::Share does that.
#pragma once

#include <optional>
#include <vector>

#include "planner/movement.h"
#include "planner/pipeline_shapes.h"
#include "planner/stage_table.h"

namespace sail::planner {

class Repair {
 public:
  // The arguments must outlive this. The table covers the pools with nodes now.
  Repair(const MovementCost& movement, const StageTable& table, const std::vector<PipelineShape>& shapes)
      : movement_(movement), table_(table), shapes_(shapes) {}

  ir::Plan Dropped() const;  // may have no pipelines
  // nullopt if no pipeline is broken or none fits.
  std::optional<ir::Plan> Rebuilt() const;
  // `base` with its free GPUs filled, each by pipelines of one shape: the most promising ones.
  // No more than the batch has micro-batches for.
  std::vector<ir::Plan> Filled(const ir::Plan& base) const;

 private:
  // Whether the batch has a micro-batch for each pipeline and for one more of that shape.
  bool HasSamplesFor(const ir::Plan& plan, const PipelineShape& shape) const;

  const MovementCost& movement_;
  const StageTable& table_;
  const std::vector<PipelineShape>& shapes_;
};

}  // namespace sail::planner
