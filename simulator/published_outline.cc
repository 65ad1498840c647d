#include "simulator/published_outline.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "simulator/cost_model.h"
#include "simulator/published_groups.h"
#include "simulator/published_sync_bound.h"
#include "simulator/published_tables.h"

namespace sail::sim {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool IsSameShape(const PipelineClass& a, const PipelineClass& b) {
  return a.micro_batch == b.micro_batch &&
         std::equal(a.stages.begin(), a.stages.end(), b.stages.begin(), b.stages.end(),
                    [](const StageOutline& x, const StageOutline& y) { return x.last_layer == y.last_layer; });
}

class PublishedEstimator : public OutlineEstimator {
 public:
  PublishedEstimator(const ir::Problem& problem, const PublicModel& model, const PublicNetwork& network)
      : problem_(problem), tables_(problem, model, network), largest_(model.layers) {}

  Estimate JudgeWithin(const PlanOutline& outline, double most_seconds) override {
    const size_t zones = problem_.cluster.zones.size();
    traffic_.assign(zones * zones, 0.0);
    Estimate estimate{.iteration = kInfinity};
    double update = 0;
    double pipelines = 0;
    for (const PipelineClass& of : outline.classes) {
      pipelines = std::max(pipelines, PipelineSeconds(outline, of));
      for (const StageOutline& stage : of.stages) {
        update = std::max(update, tables_.Update(stage.pool, stage.tensor, of.micro_batch, stage.first_layer));
      }
      if (pipelines + update > most_seconds) return estimate;
    }
    const double iteration = pipelines + update + Synchronisation(outline);
    if (!(iteration <= most_seconds)) return estimate;
    estimate.iteration = iteration;
    for (const PipelineClass& of : outline.classes) {
      AddMemory(of, estimate);
      AddBoundaryTraffic(of);
    }
    AddNodes(outline, problem_.cluster, estimate);
    AddCost(problem_.cluster, traffic_, estimate);
    return estimate;
  }

  double SyncAtLeast(const StageShape& stage, int replicas) override {
    if (sync_bound_.empty()) sync_bound_ = PublishedSyncBound(problem_, tables_);
    return sync_bound_.At(stage.last_layer - stage.first_layer + 1, replicas);
  }

 private:
  size_t ZoneOf(const StageOutline& stage) const { return problem_.cluster.pool(stage.pool).zone.index(); }

  double PipelineSeconds(const PlanOutline& outline, const PipelineClass& of) const {
    const int depth = static_cast<int>(of.stages.size());
    double sum = 0;
    double slowest = 0;
    for (int s = 0; s < depth; ++s) {
      double seconds = 0;
      for (const PipelineClass& other : outline.classes) {
        if (!IsSameShape(of, other)) continue;
        const StageOutline& stage = other.stages[s];
        seconds = std::max(
            seconds, tables_.Seconds(stage.pool, stage.tensor, of.micro_batch, stage.first_layer, stage.last_layer));
      }
      seconds += ChargedTransfer(of, s);
      sum += seconds;
      slowest = std::max(slowest, seconds);
    }
    return sum + (of.micro_batches - 1) * slowest;
  }

  double ChargedTransfer(const PipelineClass& of, int s) const {
    const int depth = static_cast<int>(of.stages.size());
    if (depth == 1) return 0;
    const double bytes = tables_.BoundaryBytes(of.micro_batch);
    const auto send = [&](int from, int to) {
      const StageOutline& a = of.stages[from];
      const StageOutline& b = of.stages[to];
      return tables_.Transfer(a.pool, a.tensor, b.pool, b.tensor, bytes);
    };
    if (s == 0) return send(0, 1) * (depth <= 3 ? 1 : 2);
    if (s == depth - 1) return 2 * send(s, s - 1);
    return send(s, s + 1) + send(s, s - 1);
  }

  void AddMemory(const PipelineClass& of, Estimate& estimate) const {
    const int depth = static_cast<int>(of.stages.size());
    for (int s = 0; s < depth; ++s) {
      const StageOutline& stage = of.stages[s];
      const Bytes bytes = tables_.Memory(stage.pool, stage.tensor, of.micro_batch, stage.first_layer, stage.last_layer,
                                         /*in_flight=*/depth - s);
      const double share =
          static_cast<double>(bytes.value()) / static_cast<double>(problem_.cluster.gpu(stage.pool).memory.value());
      estimate.peak_memory = std::max(estimate.peak_memory, share);
      if (share > 1) estimate.memory_excess += of.count * (share - 1);
    }
  }

  void AddBoundaryTraffic(const PipelineClass& of) {
    const double bytes = tables_.BoundaryBytes(of.micro_batch) * of.micro_batches * of.count;
    for (size_t s = 0; s + 1 < of.stages.size(); ++s) {
      AddTraffic(of.stages[s], of.stages[s + 1], bytes);
      AddTraffic(of.stages[s + 1], of.stages[s], bytes);
    }
  }

  void AddTraffic(const StageOutline& from, const StageOutline& to, double bytes) {
    traffic_[ZoneOf(from) * problem_.cluster.zones.size() + ZoneOf(to)] += bytes;
  }

  // The slowest reduction, each of layers that the same stage holds as the largest. Adds their traffic.
  double Synchronisation(const PlanOutline& outline) {
    std::fill(largest_.begin(), largest_.end(), nullptr);
    int pipelines = 0;
    for (const PipelineClass& of : outline.classes) {
      pipelines += of.count;
      for (const StageOutline& stage : of.stages) {
        for (int layer = stage.first_layer; layer <= stage.last_layer; ++layer) {
          const StageOutline*& largest = largest_[layer];
          if (largest == nullptr || stage.last_layer - stage.first_layer > largest->last_layer - largest->first_layer) {
            largest = &stage;
          }
        }
      }
    }
    if (pipelines < 2) return 0;
    double slowest = 0;
    const int layers = static_cast<int>(largest_.size());
    for (int first = 0, last = 0; first < layers; first = last + 1) {
      last = first;
      while (last + 1 < layers && largest_[last + 1] == largest_[first]) ++last;
      slowest = std::max(slowest, Reduction(outline, first, last, pipelines));
    }
    return slowest;
  }

  // Calls visit(stage) for those of the class that hold some of the layers, in order.
  template <class Visit>
  static void ForEachHolder(const PipelineClass& of, int first, int last, const Visit& visit) {
    for (const StageOutline& stage : of.stages) {
      if (stage.first_layer <= last && stage.last_layer >= first) visit(stage);
    }
  }

  double Reduction(const PlanOutline& outline, int first, int last, int pipelines) {
    int smallest = kLargestDivisor;
    neighbours_.clear();
    const auto add_neighbours = [&](const PipelineClass& from, const PipelineClass& to) {
      ForEachHolder(from, first, last, [&](const StageOutline& a) {
        ForEachHolder(to, first, last, [&](const StageOutline& b) { neighbours_.push_back({a.pool, b.pool}); });
      });
    };
    const double parameters = tables_.Parameters(first, last);
    const double n = pipelines;
    const double ring_bytes = 2 * (n - 1) / n * kFloatBytes * parameters;
    const auto front = [&](const PipelineClass& of) -> const StageOutline& {
      return *std::find_if(of.stages.begin(), of.stages.end(),
                           [&](const StageOutline& stage) { return stage.last_layer >= first; });
    };
    for (size_t c = 0; c < outline.classes.size(); ++c) {
      const PipelineClass& of = outline.classes[c];
      ForEachHolder(of, first, last, [&](const StageOutline& stage) { smallest = std::min(smallest, stage.tensor); });
      if (of.count > 1) {
        add_neighbours(of, of);
        AddTraffic(front(of), front(of), ring_bytes * (of.count - 1));
      }
      const bool is_last = c + 1 == outline.classes.size();
      const PipelineClass& next = outline.classes[is_last ? 0 : c + 1];
      if (!is_last) add_neighbours(of, next);
      AddTraffic(front(of), front(next), ring_bytes);
    }
    return SecondsInChunks(kFloatBytes * parameters / smallest, [&](double bytes) {
      double slowest = 0;
      for (const auto& [a, b] : neighbours_) slowest = std::max(slowest, tables_.Transfer(a, 1, b, 1, bytes / n));
      return 2 * (n - 1) * slowest;
    });
  }

  const ir::Problem& problem_;
  const PublishedTables tables_;
  PublishedSyncBound sync_bound_;
  std::vector<double> traffic_;
  std::vector<const StageOutline*> largest_;                   // by layer
  std::vector<std::pair<ir::PoolId, ir::PoolId>> neighbours_;  // of one reduction
};

}  // namespace

std::unique_ptr<OutlineEstimator> MakePublishedEstimator(const ir::Problem& problem, const PublicModel& model,
                                                         const PublicNetwork& network) {
  return std::make_unique<PublishedEstimator>(problem, model, network);
}

}  // namespace sail::sim
