// What stages take at least, wherever their GPUs lie: what the certificate's proofs start from (pricing.h).
#pragma once

#include <vector>

#include "compiler/ir/problem.h"
#include "planner/stage_table.h"
#include "simulator/cost_model.h"

namespace sail::planner {

// Pools that differ in nothing but their links, and in price where money does not matter.
struct PoolClass {
  std::vector<ir::PoolId> pools;
  double gpus = 0;   // of all of them, as far as tensor groups can use them
  double nodes = 0;  // share of a node that a GPU takes
  double price = 0;  // USD per second and GPU
};

class StageFloor {
 public:
  // What a stage runs on.
  struct Kind {
    int of_class = 0;
    int tensor = 1;
    ir::Recompute recompute = ir::Recompute::kNone;
  };
  // Of a kind, micro-batch and Ends. By layer count; infinite where there is no such stage.
  struct Row {
    std::vector<double> time;
    std::vector<double> forward;  // of the stage that has `time`
    std::vector<double> step;
    // time[n] >= base + n · slope for every n
    double base = 0;
    double slope = 0;
    std::vector<int> fits;  // by micro-batches in flight: most layers
  };
  // Seconds that gradients take, [kind · 4 + ends][layers].
  using Syncs = std::vector<std::vector<double>>;

  // `optimizer`: with the most shards that the plans have. Assumes that the layers are an embedding, blocks that are
  // equal except the first and the last, and a head; that a stage with more layers or more micro-batches in flight does
  // not need less memory, and a backward with more layers not less time. O(kinds · micro-batches · (L + depth))
  // queries.
  StageFloor(const ir::Problem& problem, const sim::CostModel& costs, const std::vector<PoolClass>& classes,
             MemoryRule memory, OptimizerState optimizer);

  int layers() const { return layers_; }
  int max_depth() const { return max_depth_; }
  bool IsDepth(int depth) const { return is_depth_[depth]; }
  const std::vector<Kind>& kinds() const { return kinds_; }
  const Row& row(size_t kind, size_t micro, Ends ends) const {
    return rows_[(kind * micro_count_ + micro) * 4 + static_cast<size_t>(ends)];
  }
  // Seconds of the cheapest boundary that leaves a stage of the kind, both ways, and of the cheapest send from it.
  double boundary(size_t kind, size_t micro) const { return boundaries_[micro][kind]; }
  double send(size_t kind, size_t micro) const { return sends_[micro][kind]; }
  // Nodes that a stage of the kind takes, times what a boundary that leaves a node of its class takes more than
  // boundary(), at least; and the most of that of one node. A pipeline leaves every node but the last one for another,
  // so its boundaries take Σ (boundary + leaving) − last_leaving at least.
  double leaving(size_t kind, size_t micro) const { return leavings_[micro][kind]; }
  double last_leaving(size_t micro) const { return last_leavings_[micro]; }
  // The least share of a node that a stage takes.
  double least_share() const { return least_share_; }
  // Σ of stage times of one micro-batch through a pipeline, and the share of a stage's time before its backward.
  double pass(size_t micro) const { return passes_[micro]; }
  double forward_share() const { return forward_share_; }

  // In plans of at least `replicas` pipelines. Where the form is kEvents a stage's least synchronisation is concave in
  // its layers, so between some that are asked for it is no less than on their chord.
  Syncs LeastSyncs(sim::OutlineEstimator& estimator, int replicas) const;

 private:
  sim::StageShape Shape(const Kind& kind, ir::PoolId pool, int micro_batch, int first, int count) const;
  Row MakeRow(const Kind& kind, int micro_batch, Ends ends, MemoryRule memory) const;
  void AddTransfers(int micro_batch);
  void AddLeavings(const std::vector<double>& across);
  void AddPass(size_t micro);

  const ir::Problem& problem_;
  const sim::CostModel& costs_;
  const std::vector<PoolClass>& classes_;
  const OptimizerState optimizer_;
  const int layers_;
  const size_t micro_count_;
  std::vector<bool> is_depth_;
  int max_depth_ = 0;
  std::vector<Kind> kinds_;
  std::vector<Row> rows_;
  std::vector<std::vector<double>> boundaries_;  // [micro][kind]
  std::vector<std::vector<double>> sends_;       // [micro][kind]
  std::vector<std::vector<double>> leavings_;    // [micro][kind]
  std::vector<double> last_leavings_;            // by micro
  double least_share_ = 1;
  std::vector<double> passes_;  // by micro
  double forward_share_ = 1;
};

}  // namespace sail::planner
