#include "planner/refine.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "absl/types/span.h"
#include "planner/place.h"
#include "planner/plan_outline.h"
#include "planner/share.h"

namespace sail::planner {
namespace {

constexpr int kOutlinesForAPlan = 4;  // that take as long to judge
constexpr int kPromisingShapes = 48;  // tried by add and replace
constexpr double kEstimateMargin =
    0.002;  // share by which an outline may take longer than another and be a better plan

int MicroIndex(const StageTable& table, int micro_batch) {
  const std::vector<int>& sizes = table.problem().job.micro_batches;
  return static_cast<int>(std::find(sizes.begin(), sizes.end(), micro_batch) - sizes.begin());
}

int SlotOf(const StageTable& table, const ir::Stage& stage) {
  return table.SlotIndex({.pool = stage.group.pool, .tensor = stage.group.degree(), .recompute = stage.recompute});
}

// Without a node.
void SetSlot(const Slot& slot, ir::Stage& stage) {
  stage.group = {.pool = slot.pool, .gpus = std::vector<int>(slot.tensor, 0)};
  stage.recompute = slot.recompute;
}

bool IsSameNode(const ir::TensorGroup& a, const ir::TensorGroup& b) { return a.pool == b.pool && a.node == b.node; }

bool IsAlike(const ir::Pipeline& a, const ir::Pipeline& b) {
  return a.micro_batch == b.micro_batch &&
         std::equal(a.stages.begin(), a.stages.end(), b.stages.begin(), b.stages.end(),
                    [](const ir::Stage& x, const ir::Stage& y) {
                      return x.last_layer == y.last_layer && x.group.pool == y.group.pool &&
                             x.group.degree() == y.group.degree() && x.recompute == y.recompute;
                    });
}

}  // namespace

PipelineRate RateOf(const StageTable& table, const ir::Pipeline& pipeline) {
  const int micro = MicroIndex(table, pipeline.micro_batch);
  PipelineRate rate{.micro_batch = pipeline.micro_batch};
  std::vector<int> slots, counts;
  for (size_t s = 0; s < pipeline.stages.size(); ++s) {
    const ir::Stage& stage = pipeline.stages[s];
    slots.push_back(SlotOf(table, stage));
    counts.push_back(stage.layer_count());
    double period = table.Time(slots[s], micro, EndsOf(stage.first_layer, stage.last_layer, table.layers()), counts[s]);
    if (s + 1 < pipeline.stages.size()) {
      const ir::Stage& next = pipeline.stages[s + 1];
      period += table.Boundary(slots[s], SlotOf(table, next), micro, IsSameNode(stage.group, next.group));
    }
    rate.bottleneck = std::max(rate.bottleneck, period);
    rate.latency += period;
  }
  rate.max_micro_batches = MaxMicroBatches(table, micro, slots, counts);
  return rate;
}

namespace {

// Pipelines of equal rates share as a team, of which the last ones run more.
bool ShareByRates(const StageTable& table, const std::vector<PipelineRate>& rates, ir::Plan& plan) {
  std::vector<RatedTeam> teams;
  std::vector<size_t> team_of;  // by pipeline
  for (const PipelineRate& rate : rates) {
    const auto it = std::find_if(teams.begin(), teams.end(), [&](const RatedTeam& team) { return team.rate == rate; });
    team_of.push_back(static_cast<size_t>(it - teams.begin()));
    if (it == teams.end()) {
      teams.push_back({.rate = rate});
    } else {
      ++it->pipelines;
    }
  }
  const std::optional<Shares> shares = ShareBatch(teams, table.problem().job.global_batch);
  if (!shares) return false;
  std::vector<TeamShare> left(shares->begin(), shares->end());
  for (size_t p = rates.size(); p-- > 0;) {
    const auto share = std::find_if(left.begin(), left.end(), [&](const TeamShare& of) {
      return of.team == static_cast<int>(team_of[p]) && of.pipelines > 0;
    });
    --share->pipelines;
    plan.pipelines[p].micro_batches = share->micro_batches;
  }
  return true;
}

bool IsPlacedAlike(const ir::Pipeline& a, const ir::Pipeline& b) {
  if (!IsAlike(a, b)) return false;
  for (size_t s = 0; s + 1 < a.stages.size(); ++s) {
    if (IsSameNode(a.stages[s].group, a.stages[s + 1].group) != IsSameNode(b.stages[s].group, b.stages[s + 1].group)) {
      return false;
    }
  }
  return true;
}

std::vector<PipelineRate> RatesOf(const StageTable& table, const ir::Plan& plan) {
  std::vector<PipelineRate> rates;
  for (size_t p = 0; p < plan.pipelines.size(); ++p) {
    const bool is_known = p > 0 && IsPlacedAlike(plan.pipelines[p - 1], plan.pipelines[p]);
    rates.push_back(is_known ? rates.back() : RateOf(table, plan.pipelines[p]));
  }
  return rates;
}

}  // namespace

bool Share(const StageTable& table, ir::Plan& plan) { return ShareByRates(table, RatesOf(table, plan), plan); }

Judged Refiner::Improve(Judged start) {
  static constexpr Move kAll[] = {&Refiner::MoveShares, &Refiner::MoveBoundaries, &Refiner::MoveMicroBatches,
                                  &Refiner::MoveDrop,   &Refiner::MoveReplace,    &Refiner::MoveAdd,
                                  &Refiner::MoveSlots,  &Refiner::MoveNodes};
  // What climbs over drafts have settled is left out on large problems.
  static constexpr Move kFew[] = {&Refiner::MoveShares, &Refiner::MoveBoundaries, &Refiner::MoveMicroBatches,
                                  &Refiner::MoveNodes};
  current_ = std::move(start);
  estimated_ = 0;
  const absl::Span<const Move> kMoves = table_.kinds().is_small() ? absl::Span<const Move>(kAll) : kFew;
  for (bool is_improved = true; is_improved && !judge_.is_exhausted();) {
    is_improved = false;
    for (const Move move : kMoves) {
      while ((this->*move)()) is_improved = true;
    }
  }
  return std::move(current_);
}

bool Refiner::is_small() const { return current_.report.gpus <= kSmallGpus; }

std::vector<Refiner::Class> Refiner::Classes() const {
  const std::vector<ir::Pipeline>& pipelines = current_.plan.pipelines;
  std::vector<Class> classes;
  for (int p = 0; p < static_cast<int>(pipelines.size()); ++p) {
    const auto it = std::find_if(classes.begin(), classes.end(),
                                 [&](const Class& c) { return IsAlike(pipelines[c.members.front()], pipelines[p]); });
    if (it != classes.end()) {
      it->members.push_back(p);
    } else {
      classes.push_back({.members = {p}});
    }
  }
  return classes;
}

bool Refiner::Take(ir::Plan plan) {
  if (IsHopeless(plan)) return false;
  std::optional<Judged> judged = judge_.Evaluate(std::move(plan));
  if (!judged || !IsBetter(*judged, current_)) return false;
  current_ = *std::move(judged);
  estimated_ = 0;
  return true;
}

bool Refiner::IsHopeless(const ir::Plan& plan) {
  if (table_.kinds().is_small() || current_.violation > 0 || !IsTimeFirst(judge_.scope().objective)) return false;
  if (estimated_ == 0) estimated_ = estimator_.Judge(OutlineOf(current_.plan)).iteration;
  judge_.Spend(current_.report.gpus / kOutlinesForAPlan);
  const double most = estimated_ * (1 + kEstimateMargin);
  return std::isfinite(most) && estimator_.JudgeWithin(OutlineOf(plan), most).iteration > most;
}

bool Refiner::TakeShared(ir::Plan plan) { return Share(table_, plan) && Take(std::move(plan)); }

bool Refiner::TakePlacedAnew(const ir::Plan& plan) {
  for (const Layout layout : kLayouts) {
    ir::Plan placed = plan;
    if (Place(table_.problem(), judge_.scope().quotas, layout, placed) && TakeShared(std::move(placed))) return true;
  }
  return false;
}

bool Refiner::MoveShares() {
  const ir::Plan base = current_.plan;
  const std::vector<Class> classes = Classes();
  // 1. Whole classes: shares as if the class were this much slower.
  if (classes.size() > 1) {
    const std::vector<PipelineRate> rates = RatesOf(table_, base);
    for (const Class& c : classes) {
      for (const double factor : {0.9, 0.95, 0.98, 1.02, 1.05, 1.1}) {
        std::vector<PipelineRate> bent = rates;
        for (const int p : c.members) {
          bent[p].latency *= factor;
          bent[p].bottleneck *= factor;
        }
        ir::Plan plan = base;
        if (ShareByRates(table_, bent, plan) && Take(std::move(plan))) return true;
      }
    }
  }
  // 2. Single pipelines: the smallest exchange of samples between two.
  const int count = static_cast<int>(base.pipelines.size());
  if (!is_small()) return false;
  for (int from = 0; from < count; ++from) {
    for (int to = 0; to < count; ++to) {
      const int unit = std::lcm(base.pipelines[from].micro_batch, base.pipelines[to].micro_batch);
      const int less = unit / base.pipelines[from].micro_batch;
      if (from == to || base.pipelines[from].micro_batches <= less) continue;
      ir::Plan plan = base;
      plan.pipelines[from].micro_batches -= less;
      plan.pipelines[to].micro_batches += unit / base.pipelines[to].micro_batch;
      if (Take(std::move(plan))) return true;
    }
  }
  return false;
}

namespace {

// A layer from stage `from` to stage `to`; the stages between keep their sizes.
bool ShiftLayer(ir::Pipeline& pipeline, int from, int to) {
  if (pipeline.stages[from].layer_count() < 2) return false;
  const int direction = from < to ? 1 : -1;
  for (int s = from; s != to; s += direction) {
    if (direction > 0) {
      --pipeline.stages[s].last_layer;
      --pipeline.stages[s + 1].first_layer;
    } else {
      ++pipeline.stages[s].first_layer;
      ++pipeline.stages[s - 1].last_layer;
    }
  }
  return true;
}

}  // namespace

// Each class as a whole, and on small problems its members with equal counts, and each of them.
std::vector<std::vector<int>> Refiner::Subjects(const Class& c) const {
  std::vector<std::vector<int>> subjects = {c.members};
  if (!is_small() || c.members.size() == 1) return subjects;
  std::map<int, std::vector<int>> by_count;
  for (const int p : c.members) by_count[current_.plan.pipelines[p].micro_batches].push_back(p);
  for (const auto& [count, members] : by_count) {
    if (by_count.size() > 1) subjects.push_back(members);
    for (const int member : members) {
      if (members.size() > 1) subjects.push_back({member});
    }
  }
  return subjects;
}

bool Refiner::MoveBoundaries() {
  const ir::Plan base = current_.plan;
  for (const Class& c : Classes()) {
    const int depth = static_cast<int>(base.pipelines[c.members.front()].stages.size());
    for (const std::vector<int>& subject : Subjects(c)) {
      for (int from = 0; from < depth; ++from) {
        for (int to = 0; to < depth; ++to) {
          if (from == to || (!is_small() && std::abs(from - to) > 1)) continue;
          ir::Plan plan = base;
          bool is_possible = true;
          for (const int p : subject) is_possible = is_possible && ShiftLayer(plan.pipelines[p], from, to);
          if (!is_possible) continue;
          if (Take(plan) || TakeShared(std::move(plan))) return true;
        }
      }
    }
  }
  return false;
}

// Another micro-batch size often wants another cut.
bool Refiner::TakeRecut(const ir::Plan& base, const std::vector<int>& subject) {
  const int depth = static_cast<int>(base.pipelines[subject.front()].stages.size());
  for (int from = 0; from < depth; ++from) {
    for (int to = 0; to < depth; ++to) {
      ir::Plan plan = base;
      bool is_possible = from != to;
      for (const int p : subject) is_possible = is_possible && ShiftLayer(plan.pipelines[p], from, to);
      if (is_possible && TakeShared(std::move(plan))) return true;
    }
  }
  return false;
}

bool Refiner::MoveMicroBatches() {
  const ir::Plan base = current_.plan;
  for (const Class& c : Classes()) {
    for (const std::vector<int>& subject : Subjects(c)) {
      for (const int micro_batch : table_.problem().job.micro_batches) {
        if (micro_batch == base.pipelines[subject.front()].micro_batch) continue;
        ir::Plan plan = base;
        bool is_divisible = true;
        for (const int p : subject) {
          ir::Pipeline& pipeline = plan.pipelines[p];
          is_divisible = is_divisible && pipeline.samples() % micro_batch == 0;
          pipeline.micro_batches = static_cast<int>(pipeline.samples() / micro_batch);
          pipeline.micro_batch = micro_batch;
          // Infinite where nothing was measured.
          is_divisible = is_divisible && std::isfinite(RateOf(table_, pipeline).latency);
        }
        if ((is_divisible && Take(plan)) || TakeShared(plan)) return true;
        if (is_small() && TakeRecut(plan, subject)) return true;
      }
    }
  }
  return false;
}

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
    if (SlotOf(table_, stages[stage]) == SlotOf(table_, stages[other])) continue;
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
