// Moves that change which GPUs a plan uses.
#include <algorithm>
#include <numeric>
#include <utility>

#include "planner/place.h"
#include "planner/refine.h"

namespace sail::planner {
namespace {

constexpr int kPromisingShapes = 48;  // tried by add and replace

// Without a node.
void SetSlot(const Slot& slot, ir::Stage& stage) {
  stage.group = {.pool = slot.pool, .gpus = std::vector<int>(slot.tensor, 0)};
  stage.recompute = slot.recompute;
}

}  // namespace

bool Refiner::MoveDrop() {
  const ir::Plan base = current_.plan;
  if (base.pipelines.size() < 2) return false;
  for (const Class& c : Classes()) {
    for (size_t dropped = 1; dropped <= c.members.size(); dropped *= 2) {
      ir::Plan plan = base;
      for (size_t i = c.members.size(); i-- > c.members.size() - dropped;) {
        plan.pipelines.erase(plan.pipelines.begin() + c.members[i]);
      }
      if (plan.pipelines.empty()) continue;
      if (TakeShared(plan) || TakePlacedAnew(plan)) return true;
    }
  }
  return false;
}

std::vector<int> Refiner::FreeGpus(const ir::Plan& plan) const {
  const ir::Cluster& cluster = table_.problem().cluster;
  std::vector<int> free;
  for (size_t p = 0; p < cluster.pools.size(); ++p) {
    free.push_back(judge_.scope().quotas[p] * cluster.machine(ir::PoolId(static_cast<int>(p))).gpus_per_node);
  }
  for (const ir::Pipeline& pipeline : plan.pipelines) {
    for (const ir::Stage& stage : pipeline.stages) free[stage.group.pool.index()] -= stage.group.degree();
  }
  return free;
}

bool Refiner::Fits(const PipelineShape& shape, const std::vector<int>& free) const {
  for (size_t p = 0; p < free.size(); ++p) {
    if (shape.gpus[p] > free[p]) return false;
  }
  return true;
}

// Shapes that process most within the iteration, by samples, then by samples per price of their GPUs, in turns.
std::vector<int> Refiner::ShapesByPromise() const {
  const ir::Cluster& cluster = table_.problem().cluster;
  const double seconds = current_.report.iteration.value();
  std::vector<double> samples(shapes_.size()), samples_per_usd(shapes_.size());
  for (size_t i = 0; i < shapes_.size(); ++i) {
    const PipelineShape& shape = shapes_[i];
    double price = 1e-12;
    for (size_t p = 0; p < shape.gpus.size(); ++p) {
      const auto pool = ir::PoolId(static_cast<int>(p));
      price += shape.gpus[p] * cluster.pool(pool).price.value() / cluster.machine(pool).gpus_per_node;
    }
    samples[i] = static_cast<double>(shape.rate.micro_batch) * shape.rate.MicroBatchesWithin(seconds);
    samples_per_usd[i] = samples[i] / price;
  }
  std::vector<int> by_samples(shapes_.size());
  std::iota(by_samples.begin(), by_samples.end(), 0);
  std::vector<int> by_price = by_samples;
  const auto sort = [](std::vector<int>& order, const std::vector<double>& score) {
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return score[a] > score[b]; });
  };
  sort(by_samples, samples);
  sort(by_price, samples_per_usd);
  std::vector<int> order;
  std::vector<bool> is_taken(shapes_.size(), false);
  for (size_t i = 0; i < shapes_.size(); ++i) {
    for (const int shape : {by_samples[i], by_price[i]}) {
      if (!is_taken[shape]) order.push_back(shape);
      is_taken[shape] = true;
    }
  }
  return order;
}

bool Refiner::MoveAdd() {
  const ir::Plan base = current_.plan;
  const std::vector<int> free = FreeGpus(base);
  int tried = 0;
  for (const int shape : ShapesByPromise()) {
    if (!Fits(shapes_[shape], free)) continue;
    if (++tried > kPromisingShapes) break;
    ir::Plan plan = base;
    plan.pipelines.push_back(MakePipeline(table_, shapes_[shape].micro, shapes_[shape].slots, shapes_[shape].counts));
    if (TakePlacedAnew(plan)) return true;
  }
  return false;
}

bool Refiner::MoveReplace() {
  const ir::Plan base = current_.plan;
  const std::vector<int> order = ShapesByPromise();
  for (const Class& c : Classes()) {
    ir::Plan without = base;
    without.pipelines.erase(without.pipelines.begin() + c.members.front());
    const std::vector<int> free = FreeGpus(without);
    int tried = 0;
    for (const int shape : order) {
      if (!Fits(shapes_[shape], free)) continue;
      if (++tried > kPromisingShapes) break;
      ir::Plan plan = without;
      plan.pipelines.push_back(MakePipeline(table_, shapes_[shape].micro, shapes_[shape].slots, shapes_[shape].counts));
      if (TakePlacedAnew(plan)) return true;
    }
  }
  return false;
}

bool Refiner::MoveSlots() {
  const ir::Plan base = current_.plan;
  for (const Class& c : Classes()) {
    const int depth = static_cast<int>(base.pipelines[c.members.front()].stages.size());
    for (const std::vector<int>& subject : Subjects(c)) {
      for (int s = 0; s < depth; ++s) {
        if (MergeOrSplit(base, subject, s)) return true;
        if (is_small() && SwapSlots(base, subject, s)) return true;
        for (const Slot& slot : table_.slots()) {
          ir::Plan plan = base;
          for (const int p : subject) {
            SetSlot(slot, plan.pipelines[p].stages[s]);
          }
          if (TakePlacedAnew(plan)) return true;
        }
      }
    }
  }
  return false;
}

bool Refiner::SwapSlots(const ir::Plan& base, const std::vector<int>& members, int stage) {
  const std::vector<ir::Stage>& stages = base.pipelines[members.front()].stages;
  for (int other = stage + 1; other < static_cast<int>(stages.size()); ++other) {
    if (table_.SlotOf(stages[stage]) == table_.SlotOf(stages[other])) continue;
    ir::Plan plan = base;
    for (const int p : members) {
      std::swap(plan.pipelines[p].stages[stage].group, plan.pipelines[p].stages[other].group);
      std::swap(plan.pipelines[p].stages[stage].recompute, plan.pipelines[p].stages[other].recompute);
    }
    if (Take(plan) || TakePlacedAnew(plan) || TakeRecut(plan, members)) return true;
  }
  return false;
}

bool Refiner::MergeOrSplit(const ir::Plan& base, const std::vector<int>& members, int stage) {
  const std::vector<int>& depths = table_.problem().job.pipeline_depths;
  const auto is_depth = [&](size_t depth) {
    return std::find(depths.begin(), depths.end(), static_cast<int>(depth)) != depths.end();
  };
  const std::vector<ir::Stage>& stages = base.pipelines[members.front()].stages;
  if (stage + 1 < static_cast<int>(stages.size()) && is_depth(stages.size() - 1)) {
    for (const int dropped : {stage, stage + 1}) {
      ir::Plan plan = base;
      for (const int p : members) {
        std::vector<ir::Stage>& changed = plan.pipelines[p].stages;
        changed[2 * stage + 1 - dropped].first_layer = changed[stage].first_layer;
        changed[2 * stage + 1 - dropped].last_layer = changed[stage + 1].last_layer;
        changed.erase(changed.begin() + dropped);
      }
      if (TakePlacedAnew(plan)) return true;
    }
  }
  if (stages[stage].layer_count() < 2 || !is_depth(stages.size() + 1)) return false;
  const int layers = stages[stage].layer_count();
  for (int kept = 1; kept < layers; ++kept) {
    if (!is_small() && kept != layers / 2) continue;
    for (const Slot& slot : table_.slots()) {
      for (const int before : {0, 1}) {  // the new group takes the first or the second part
        ir::Plan plan = base;
        for (const int p : members) {
          std::vector<ir::Stage>& changed = plan.pipelines[p].stages;
          changed.insert(changed.begin() + stage, changed[stage]);
          changed[stage].last_layer = changed[stage].first_layer + kept - 1;
          changed[stage + 1].first_layer = changed[stage].last_layer + 1;
          SetSlot(slot, changed[before ? stage : stage + 1]);
        }
        if (TakePlacedAnew(plan)) return true;
      }
    }
  }
  return false;
}

bool Refiner::MoveNodes() {
  const ir::Plan base = current_.plan;
  if (TakePlacedAnew(base)) return true;
  if (!is_small()) return false;
  std::vector<std::pair<int, int>> groups;  // pipeline, stage
  for (int p = 0; p < static_cast<int>(base.pipelines.size()); ++p) {
    for (int s = 0; s < static_cast<int>(base.pipelines[p].stages.size()); ++s) groups.push_back({p, s});
  }
  // 1. Two groups of one pool and degree change places.
  for (size_t i = 0; i < groups.size(); ++i) {
    for (size_t j = i + 1; j < groups.size(); ++j) {
      ir::Plan plan = base;
      ir::TensorGroup& a = plan.pipelines[groups[i].first].stages[groups[i].second].group;
      ir::TensorGroup& b = plan.pipelines[groups[j].first].stages[groups[j].second].group;
      if (a.pool != b.pool || a.degree() != b.degree() || a.node == b.node) continue;
      std::swap(a.node, b.node);
      if (Take(plan) || TakeShared(std::move(plan))) return true;
    }
  }
  // 2. A group moves to a node with room.
  const ir::Cluster& cluster = table_.problem().cluster;
  for (const auto& [p, s] : groups) {
    const ir::TensorGroup& group = base.pipelines[p].stages[s].group;
    const int pool = group.pool.index();
    std::vector<int> free(judge_.scope().quotas[pool], cluster.machine(group.pool).gpus_per_node);
    for (const auto& [q, t] : groups) {
      const ir::TensorGroup& other = base.pipelines[q].stages[t].group;
      if (other.pool == group.pool) free[other.node] -= other.degree();
    }
    // Unused nodes are alike: the first one stands for all.
    bool tried_unused = false;
    const int gpus_per_node = cluster.machine(group.pool).gpus_per_node;
    for (int node = 0; node < static_cast<int>(free.size()); ++node) {
      if (free[node] == gpus_per_node && std::exchange(tried_unused, true)) continue;
      if (node == group.node || free[node] < group.degree()) continue;
      ir::Plan plan = base;
      plan.pipelines[p].stages[s].group.node = node;
      if (Take(plan) || TakeShared(std::move(plan))) return true;
    }
  }
  return false;
}

}  // namespace sail::planner
