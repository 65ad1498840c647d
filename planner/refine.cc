#include "planner/refine.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "absl/types/span.h"
#include "planner/place.h"
#include "planner/plan_outline.h"
#include "planner/share_plan.h"

namespace sail::planner {
namespace {

constexpr int kOutlinesForAPlan = 4;  // that take as long to judge
// Share by which an outline may take longer than another and be a better plan.
constexpr double kEstimateMargin = 0.002;

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

}  // namespace sail::planner
