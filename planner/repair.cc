#include "planner/repair.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

namespace sail::planner {
namespace {

constexpr size_t kFillers = 3;  // shapes tried in what is free

int LostGroups(const ir::Pipeline& pipeline) {
  return static_cast<int>(std::count_if(pipeline.stages.begin(), pipeline.stages.end(),
                                        [](const ir::Stage& stage) { return stage.group.node == kNoNode; }));
}

// The GPUs that a plan leaves free, by node.
class FreeGpus {
 public:
  FreeGpus(const MovementCost& movement, const ir::Plan& plan) : movement_(movement) {
    const ir::Cluster& cluster = movement.change().problem.cluster;
    for (size_t p = 0; p < cluster.pools.size(); ++p) {
      const std::vector<bool> empty(cluster.machine(ir::PoolId(static_cast<int>(p))).gpus_per_node, true);
      is_free_.insert(is_free_.end(), cluster.pools[p].quota, empty);
      counts_.insert(counts_.end(), cluster.pools[p].quota, static_cast<int>(empty.size()));
    }
    for (const ir::Pipeline& pipeline : plan.pipelines) TakeSurvivors(pipeline);
  }

  void TakeSurvivors(const ir::Pipeline& pipeline) {
    for (const ir::Stage& stage : pipeline.stages) {
      if (stage.group.node != kNoNode) Take(stage.group);
    }
  }

  // Finds a node and GPUs for the stage: where most of its layers are held, then where the fewest GPUs are free.
  bool Place(ir::Stage& stage) {
    const int pool = stage.group.pool.index();
    const int first = movement_.offsets()[pool], end = movement_.offsets()[pool + 1];
    const int degree = stage.group.degree();
    std::tuple<int64_t, int> best;
    int chosen = kNoNode;
    for (int node = first; node < end; ++node) {
      if (counts_[node] < degree) continue;
      const std::tuple<int64_t, int> rank = {-movement_.HeldOf(stage.first_layer, stage.last_layer, node),
                                             counts_[node]};
      if (chosen != kNoNode && rank >= best) continue;
      best = rank;
      chosen = node;
    }
    if (chosen == kNoNode) return false;
    stage.group.node = chosen - first;
    int gpu = 0;
    for (int& taken : stage.group.gpus) {
      while (!is_free_[chosen][gpu]) ++gpu;
      taken = gpu++;
    }
    Take(stage.group);
    return true;
  }

  int CountIn(int pool) const {
    const std::vector<int>& offsets = movement_.offsets();
    return std::accumulate(counts_.begin() + offsets[pool], counts_.begin() + offsets[pool + 1], 0);
  }

 private:
  void Take(const ir::TensorGroup& group) {
    const int node = movement_.offsets()[group.pool.index()] + group.node;
    for (const int gpu : group.gpus) is_free_[node][gpu] = false;
    counts_[node] -= group.degree();
  }

  const MovementCost& movement_;
  std::vector<std::vector<bool>> is_free_;
  std::vector<int> counts_;
};

// The plan with the broken pipelines beside what it has, their lost groups on GPUs that it leaves free.
std::optional<ir::Plan> Rebuild(ir::Plan plan, FreeGpus free, const std::vector<ir::Pipeline>& broken) {
  for (const ir::Pipeline& pipeline : broken) {
    free.TakeSurvivors(pipeline);
    plan.pipelines.push_back(pipeline);
  }
  std::vector<ir::Stage*> lost;
  for (ir::Pipeline& pipeline : plan.pipelines) {
    for (ir::Stage& stage : pipeline.stages) {
      if (stage.group.node == kNoNode) lost.push_back(&stage);
    }
  }
  std::stable_sort(lost.begin(), lost.end(),
                   [](const ir::Stage* a, const ir::Stage* b) { return a->group.degree() > b->group.degree(); });
  for (ir::Stage* stage : lost) {
    if (!free.Place(*stage)) return std::nullopt;
  }
  return plan;
}

// Indices of shapes, by the samples per second of as many pipelines as there are GPUs for in each pool.
std::vector<int> FillersOf(const std::vector<PipelineShape>& shapes, const FreeGpus& free) {
  std::vector<std::pair<double, int>> fillers;
  for (int i = 0; i < static_cast<int>(shapes.size()); ++i) {
    const PipelineShape& shape = shapes[i];
    int pipelines = std::numeric_limits<int>::max();
    for (size_t p = 0; p < shape.gpus.size(); ++p) {
      if (shape.gpus[p] > 0) pipelines = std::min(pipelines, free.CountIn(static_cast<int>(p)) / shape.gpus[p]);
    }
    if (pipelines > 0) fillers.push_back({-pipelines * shape.rate.micro_batch / shape.rate.bottleneck, i});
  }
  std::sort(fillers.begin(), fillers.end());
  std::vector<int> best;
  for (size_t i = 0; i < std::min(kFillers, fillers.size()); ++i) best.push_back(fillers[i].second);
  return best;
}

}  // namespace

ir::Plan Repair::Dropped() const {
  ir::Plan plan = movement_.change().previous;
  std::erase_if(plan.pipelines, [](const ir::Pipeline& pipeline) { return LostGroups(pipeline) > 0; });
  return plan;
}

std::optional<ir::Plan> Repair::Rebuilt() const {
  std::vector<ir::Pipeline> broken;
  for (const ir::Pipeline& pipeline : movement_.change().previous.pipelines) {
    if (LostGroups(pipeline) > 0) broken.push_back(pipeline);
  }
  std::stable_sort(broken.begin(), broken.end(),
                   [](const ir::Pipeline& a, const ir::Pipeline& b) { return LostGroups(a) < LostGroups(b); });
  const ir::Plan kept = Dropped();
  const FreeGpus free(movement_, kept);
  for (; !broken.empty(); broken.pop_back()) {
    std::optional<ir::Plan> plan = Rebuild(kept, free, broken);
    if (plan) return plan;
  }
  return std::nullopt;
}

bool Repair::HasSamplesFor(const ir::Plan& plan, const PipelineShape& shape) const {
  int64_t samples = table_.problem().job.micro_batches[shape.micro];
  for (const ir::Pipeline& pipeline : plan.pipelines) samples += pipeline.micro_batch;
  return samples <= table_.problem().job.global_batch;
}

std::vector<ir::Plan> Repair::Filled(const ir::Plan& base) const {
  std::vector<ir::Plan> plans;
  const FreeGpus free_of_base(movement_, base);
  for (const int filler : FillersOf(shapes_, free_of_base)) {
    const PipelineShape& shape = shapes_[filler];
    ir::Plan plan = base;
    FreeGpus free = free_of_base;
    for (bool fits = HasSamplesFor(plan, shape); fits; fits = fits && HasSamplesFor(plan, shape)) {
      ir::Pipeline added = MakePipeline(table_, shape.micro, shape.slots, shape.counts);
      for (ir::Stage& stage : added.stages) fits = fits && free.Place(stage);
      if (fits) plan.pipelines.push_back(std::move(added));
    }
    if (plan.pipelines.size() > base.pipelines.size()) plans.push_back(std::move(plan));
  }
  return plans;
}

}  // namespace sail::planner
