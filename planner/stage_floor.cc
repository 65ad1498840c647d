#include "planner/stage_floor.h"

#include <algorithm>
#include <limits>

namespace sail::planner {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kEnds = 4;

// Values that may fall become the largest that do not and are nowhere more.
void MakeMonotone(std::vector<double>& values) {
  for (size_t n = values.size() - 1; n-- > 1;) values[n] = std::min(values[n], values[n + 1]);
}

// Between the counts that were set (not NaN), on the chord.
void FillChords(std::vector<double>& values, const std::vector<int>& counts) {
  for (size_t i = 0; i + 1 < counts.size(); ++i) {
    const int a = counts[i], b = counts[i + 1];
    for (int n = a + 1; n < b; ++n) values[n] = values[a] + (values[b] - values[a]) * (n - a) / (b - a);
  }
}

}  // namespace

StageFloor::StageFloor(const ir::Problem& problem, const sim::CostModel& costs, const std::vector<PoolClass>& classes,
                       MemoryRule memory, OptimizerState optimizer)
    : problem_(problem),
      costs_(costs),
      classes_(classes),
      optimizer_(optimizer),
      layers_(problem.model.layer_count()),
      micro_count_(problem.job.micro_batches.size()) {
  for (const int depth : problem.job.pipeline_depths) {
    if (depth <= layers_) max_depth_ = std::max(max_depth_, depth);
  }
  is_depth_.assign(max_depth_ + 1, false);
  for (const int depth : problem.job.pipeline_depths) {
    if (depth <= layers_) is_depth_[depth] = true;
  }
  for (int c = 0; c < static_cast<int>(classes.size()); ++c) {
    for (const int tensor : problem.job.tensor_degrees) {
      if (tensor > problem.cluster.machine(classes[c].pools.front()).gpus_per_node) continue;
      if (!ir::CanDivide(problem.model, tensor)) continue;
      for (const ir::Recompute recompute : problem.job.recomputes) {
        kinds_.push_back({.of_class = c, .tensor = tensor, .recompute = recompute});
      }
    }
  }
  for (const Kind& kind : kinds_) {
    for (const int micro_batch : problem.job.micro_batches) {
      for (int ends = 0; ends < kEnds; ++ends) {
        rows_.push_back(MakeRow(kind, micro_batch, static_cast<Ends>(ends), memory));
      }
    }
  }
  for (const int micro_batch : problem.job.micro_batches) AddTransfers(micro_batch);
  for (size_t micro = 0; micro < micro_count_; ++micro) AddPass(micro);
}

sim::StageShape StageFloor::Shape(const Kind& kind, ir::PoolId pool, int micro_batch, int first, int count) const {
  return {.first_layer = first,
          .last_layer = first + count - 1,
          .pool = pool,
          .tensor = kind.tensor,
          .micro_batch = micro_batch,
          .recompute = kind.recompute,
          .optimizer_shards = optimizer_.shards};
}

// Of stages that differ only in where they lie, the least of everything.
StageFloor::Row StageFloor::MakeRow(const Kind& kind, int micro_batch, Ends ends, MemoryRule memory) const {
  const ir::PoolId pool = classes_[kind.of_class].pools.front();
  const Bytes limit = costs_.MemoryLimit(pool);
  Row row;
  for (std::vector<double>* values : {&row.time, &row.forward, &row.step}) values->assign(layers_ + 1, kInfinity);
  row.fits.assign(max_depth_ + 1, 0);
  const int least = ends == Ends::kBoth ? layers_ : 1;
  const int most = ends == Ends::kBoth ? layers_ : ends == Ends::kNone ? layers_ - 2 : layers_ - 1;
  int in_flight = max_depth_;  // falls as there are more layers
  for (int count = least; count <= most; ++count) {
    int firsts[] = {1, 2, layers_ - 1 - count};
    if (ends != Ends::kNone) firsts[0] = firsts[1] = firsts[2] = ends == Ends::kLast ? layers_ - count : 0;
    int here = 0;
    for (int i = 0; i < 3; ++i) {
      const bool is_same = std::find(firsts, firsts + i, firsts[i]) != firsts + i;
      if (is_same || (ends == Ends::kNone && firsts[i] + count > layers_ - 1)) continue;
      const sim::StageShape stage = Shape(kind, pool, micro_batch, firsts[i], count);
      const double time = costs_.StageTime(stage).value();
      if (time < row.time[count]) {
        row.time[count] = time;
        row.forward[count] = costs_.ForwardTime(stage).value();
      }
      row.step[count] = std::min(row.step[count], costs_.OptimizerTime(stage).value());
      int fits = in_flight;
      while (memory == MemoryRule::kEnforced && fits > here && costs_.StageMemoryAtLeast(stage, fits) > limit) --fits;
      here = std::max(here, fits);
    }
    in_flight = here;
    for (int k = 1; k <= in_flight; ++k) row.fits[k] = count;
  }
  MakeMonotone(row.time);
  MakeMonotone(row.step);
  if (least > most || row.time[least] == kInfinity) return row;
  row.slope = kInfinity;
  for (int n = least; n < most; ++n) row.slope = std::min(row.slope, row.time[n + 1] - row.time[n]);
  if (row.slope == kInfinity) row.slope = 0;
  row.base = row.time[least] - least * row.slope;
  return row;
}

void StageFloor::AddTransfers(int micro_batch) {
  std::vector<double>& boundaries = boundaries_.emplace_back(kinds_.size(), kInfinity);
  std::vector<double>& sends = sends_.emplace_back(kinds_.size(), kInfinity);
  std::vector<double> across(kinds_.size(), kInfinity);  // boundaries between nodes
  for (size_t a = 0; a < kinds_.size(); ++a) {
    const int tensor = kinds_[a].tensor;
    if (a > 0 && kinds_[a - 1].of_class == kinds_[a].of_class && kinds_[a - 1].tensor == tensor) {
      boundaries[a] = boundaries[a - 1];
      sends[a] = sends[a - 1];
      across[a] = across[a - 1];
      continue;
    }
    for (const Kind& b : kinds_) {
      for (const ir::PoolId from : classes_[kinds_[a].of_class].pools) {
        for (const ir::PoolId to : classes_[b.of_class].pools) {
          sends[a] = std::min(sends[a], costs_.SendTime(from, to, tensor, b.tensor, micro_batch).value());
          const bool fits_node = from == to && tensor + b.tensor <= problem_.cluster.machine(from).gpus_per_node;
          for (const bool same_node : {false, true}) {
            if (same_node && !fits_node) continue;
            const Seconds time = costs_.BoundaryTime(from, to, tensor, b.tensor, micro_batch, same_node);
            boundaries[a] = std::min(boundaries[a], time.value());
            if (!same_node) across[a] = std::min(across[a], time.value());
          }
        }
      }
    }
  }
  AddLeavings(across);
}

void StageFloor::AddLeavings(const std::vector<double>& across) {
  const std::vector<double>& boundaries = boundaries_.back();
  std::vector<double>& leavings = leavings_.emplace_back(kinds_.size(), 0.0);
  double& last = last_leavings_.emplace_back(0.0);
  const int smallest = problem_.job.tensor_degrees.front();
  for (size_t kind = 0; kind < kinds_.size(); ++kind) {
    const int gpus = problem_.cluster.machine(classes_[kinds_[kind].of_class].pools.front()).gpus_per_node;
    const double share = static_cast<double>(kinds_[kind].tensor) / gpus;
    least_share_ = std::min(least_share_, share);
    if (kinds_[kind].tensor + smallest > gpus) continue;  // has its node to itself
    double more = kInfinity;                              // of any stage that may leave such a node
    for (size_t other = 0; other < kinds_.size(); ++other) {
      const bool may_share = kinds_[other].tensor + smallest <= gpus;
      if (kinds_[other].of_class != kinds_[kind].of_class || !may_share) continue;
      more = std::min(more, across[other] - boundaries[other]);
    }
    leavings[kind] = share * more;
    last = std::max(last, more);
  }
}

// Embedding, blocks and head, each where it is fastest.
void StageFloor::AddPass(size_t micro) {
  double first = kInfinity, last = kInfinity, block = kInfinity, whole = kInfinity;
  for (size_t kind = 0; kind < kinds_.size(); ++kind) {
    whole = std::min(whole, row(kind, micro, Ends::kBoth).time[layers_]);
    first = std::min(first, row(kind, micro, Ends::kFirst).time[1]);
    last = std::min(last, row(kind, micro, Ends::kLast).time[1]);
    for (const Ends ends : {Ends::kNone, Ends::kFirst, Ends::kLast}) {
      const Row& stages = row(kind, micro, ends);
      if (stages.time[1] == kInfinity) continue;
      block = std::min(block, ends == Ends::kNone ? std::min(stages.slope, stages.time[1]) : stages.slope);
    }
    for (int ends = 0; ends < kEnds; ++ends) {
      const Row& stages = row(kind, micro, static_cast<Ends>(ends));
      for (int n = 1; n <= layers_; ++n) {
        if (stages.time[n] == kInfinity || stages.time[n] <= 0) continue;
        forward_share_ = std::min(forward_share_, stages.forward[n] / stages.time[n]);
      }
    }
  }
  const double parts = first + last + std::max(0, layers_ - 2) * block;
  passes_.push_back(layers_ < 2 || !(parts < kInfinity) ? 0 : std::min(parts, whole));
}

StageFloor::Syncs StageFloor::LeastSyncs(sim::OutlineEstimator& estimator, int replicas) const {
  Syncs syncs;
  for (size_t kind = 0; kind < kinds_.size(); ++kind) {
    const bool is_like_last = kind > 0 && kinds_[kind - 1].of_class == kinds_[kind].of_class &&
                              kinds_[kind - 1].tensor == kinds_[kind].tensor;
    for (int e = 0; e < kEnds; ++e) {
      const auto ends = static_cast<Ends>(e);
      if (is_like_last) {
        syncs.push_back(syncs[syncs.size() - kEnds]);
        continue;
      }
      std::vector<double>& sync = syncs.emplace_back(layers_ + 1, kInfinity);
      std::vector<int> counts;
      const std::vector<double>& steps = row(kind, 0, ends).step;
      for (int n = 1; n <= layers_; ++n) {
        if (steps[n] == kInfinity) continue;
        const bool is_end = counts.empty() || n == layers_ || steps[n + 1] == kInfinity;
        const bool is_power = (n & (n - 1)) == 0;
        if (costs_.form() == sim::PipelineForm::kEvents && !is_end && !is_power) continue;
        counts.push_back(n);
        const int first = ends == Ends::kLast ? layers_ - n : ends == Ends::kNone ? 1 : 0;
        for (const ir::PoolId pool : classes_[kinds_[kind].of_class].pools) {
          const sim::StageShape stage = Shape(kinds_[kind], pool, problem_.job.micro_batches.front(), first, n);
          sync[n] = std::min(sync[n], estimator.SyncAtLeast(stage, replicas));
        }
      }
      FillChords(sync, counts);
      MakeMonotone(sync);
    }
  }
  return syncs;
}

}  // namespace sail::planner
