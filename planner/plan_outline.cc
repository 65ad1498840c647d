#include "planner/plan_outline.h"

#include <algorithm>
#include <vector>

namespace sail::planner {

bool IsSameNode(const ir::TensorGroup& a, const ir::TensorGroup& b) { return a.pool == b.pool && a.node == b.node; }

bool HasNextOnNode(const ir::Pipeline& pipeline, size_t s) {
  return s + 1 < pipeline.stages.size() && IsSameNode(pipeline.stages[s].group, pipeline.stages[s + 1].group);
}

bool IsAlike(const ir::Pipeline& a, const ir::Pipeline& b) {
  return a.micro_batch == b.micro_batch &&
         std::equal(a.stages.begin(), a.stages.end(), b.stages.begin(), b.stages.end(),
                    [](const ir::Stage& x, const ir::Stage& y) {
                      return x.last_layer == y.last_layer && x.group.pool == y.group.pool &&
                             x.group.degree() == y.group.degree() && x.recompute == y.recompute;
                    });
}

bool IsPlacedAlike(const ir::Pipeline& a, const ir::Pipeline& b) {
  if (!IsAlike(a, b)) return false;
  for (size_t s = 0; s < a.stages.size(); ++s) {
    if (HasNextOnNode(a, s) != HasNextOnNode(b, s)) return false;
  }
  return true;
}

namespace {

sim::PipelineClass ClassOf(const ir::Pipeline& first) {
  sim::PipelineClass of{
      .count = 0, .micro_batch = first.micro_batch, .micro_batches = first.micro_batches, .stages = {}};
  for (size_t s = 0; s < first.stages.size(); ++s) {
    const ir::Stage& stage = first.stages[s];
    of.stages.push_back({.first_layer = stage.first_layer,
                         .last_layer = stage.last_layer,
                         .pool = stage.group.pool,
                         .tensor = stage.group.degree(),
                         .recompute = stage.recompute,
                         .next_on_node = HasNextOnNode(first, s),
                         .replicas_per_node = 0});
  }
  return of;
}

}  // namespace

sim::PlanOutline OutlineOf(const ir::Plan& plan) {
  sim::PlanOutline outline{.sharding = plan.optimizer_sharding, .classes = {}};
  std::vector<const ir::Pipeline*> firsts;  // by class
  for (const ir::Pipeline& pipeline : plan.pipelines) {
    const auto it = std::find_if(firsts.begin(), firsts.end(), [&](const ir::Pipeline* first) {
      return first->micro_batches == pipeline.micro_batches && IsPlacedAlike(*first, pipeline);
    });
    const auto c = static_cast<size_t>(it - firsts.begin());
    if (it == firsts.end()) {
      firsts.push_back(&pipeline);
      outline.classes.push_back(ClassOf(pipeline));
    }
    sim::PipelineClass& of = outline.classes[c];
    ++of.count;
    const ir::Pipeline& first = *firsts[c];
    for (size_t s = 0; s < of.stages.size(); ++s) {
      if (IsSameNode(first.stages[s].group, pipeline.stages[s].group)) ++of.stages[s].replicas_per_node;
    }
  }
  return outline;
}

}  // namespace sail::planner
