// A plan up to the names of equal nodes, by classes of equal pipelines, and its judgement in microseconds: what a
// search over plans of hundreds of GPUs can afford, where CostModel::Evaluate expands every GPU and writes a report.
//
// Layout of an outline. Neighbouring stages with `next_on_node` form a group; the groups of all classes lie on nodes of
// their own. Replica i of a class has its group on node i / replicas_per_node of the group, so that the last node may
// hold fewer replicas than the others. Nodes of a pool are numbered by class, then group.
//
// An estimate is what Evaluate reports for Expand(outline), up to rounding (a relative 1e-9): pipelines of a class are
// equal, and so are the ranks of equal place in them, whose gradient buckets start and end together. Class by class:
//   pipelines    one 1F1B recurrence each (pipeline_time.h)
//   all-reduces  of layers that lie in the same stages of all classes: the shape depends on how many owners each node
//                has, which is the same for each shard. With D the smallest tensor degree of the plan, shards fall into
//                D blocks that share no rank; the first has the replicated parameters besides, the others are equal
//   cards        the first node of a group has at least the traffic of its others: it is the first of them that the
//                rings between zones run over
#pragma once

#include <limits>
#include <memory>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "compiler/ir/plan.h"
#include "compiler/ir/problem.h"

namespace sail::sim {

struct StageOutline {
  int first_layer = 0;
  int last_layer = 0;
  ir::PoolId pool = ir::PoolId(-1);
  int tensor = 1;
  ir::Recompute recompute = ir::Recompute::kNone;
  bool next_on_node = false;  // the next stage of the pipeline lies on the same node; false for the last stage
  int replicas_per_node = 1;  // pipelines of the class that share a node of this stage; the same within a group
  friend bool operator==(const StageOutline&, const StageOutline&) = default;
};

struct PipelineClass {
  int count = 1;  // equal pipelines
  int micro_batch = 1;
  int micro_batches = 1;  // of each pipeline
  std::vector<StageOutline> stages;
  friend bool operator==(const PipelineClass&, const PipelineClass&) = default;
};

struct PlanOutline {
  ir::OptimizerSharding sharding = ir::OptimizerSharding::kNone;
  absl::InlinedVector<PipelineClass, 4> classes;
  friend bool operator==(const PlanOutline&, const PlanOutline&) = default;
};

// The plan that the outline describes: pipelines by class, nodes and GPUs as above. Not canonical. InvalidArgument
// naming the pool or class if a pool has too few nodes, a node too few GPUs, or groups are not well-formed.
absl::StatusOr<ir::Plan> Expand(const PlanOutline& outline, const ir::Problem& problem);

struct PoolNodes {
  ir::PoolId pool = ir::PoolId(-1);
  int nodes = 0;
  friend bool operator==(const PoolNodes&, const PoolNodes&) = default;
};

// Of one iteration; the fields of ir::Report that a search compares.
struct Estimate {
  double iteration = 0;                     // seconds; infinite where Evaluate fails for what was not measured
  double peak_memory = 0;                   // largest share of a GPU's usable memory
  double memory_excess = 0;                 // Σ over stages of all pipelines: share by which the limit is exceeded
  absl::InlinedVector<PoolNodes, 4> pools;  // in use, by id
  int nodes = 0;
  int gpus = 0;
  double cost_rate = 0;           // USD per second, of nodes
  double cost_per_iteration = 0;  // USD, of nodes and egress
  double egress_bytes = 0;        // over links with a price
  double progress = 1;            // share of the time that preemptions of spot nodes leave
};

// The last stage of the group that begins with stage `first`.
inline int GroupEnd(const PipelineClass& of, int first) {
  while (of.stages[first].next_on_node) ++first;
  return first;
}
// Nodes that the replicas of the stage's group fill.
inline int NodesOf(const PipelineClass& of, const StageOutline& stage) {
  return (of.count + stage.replicas_per_node - 1) / stage.replicas_per_node;
}

// What estimators share: pools, nodes, gpus and cost_rate; then, given the iteration, what it costs.
// `traffic` holds the bytes between different nodes, [from zone · zones + to zone], as far as links have a price.
void AddNodes(const PlanOutline& outline, const ir::Cluster& cluster, Estimate& estimate);
// As AddSpot (spot_model.h) of the outline's plan; after AddNodes. The published model knows no preemptions.
void AddProgress(const PlanOutline& outline, const ir::Problem& problem, Estimate& estimate);
void AddCost(const ir::Cluster& cluster, const std::vector<double>& traffic, Estimate& estimate);

// As ir::Value of the report.
double Value(const Estimate& estimate, const ir::Problem& problem, ir::Metric metric);

struct StageShape;  // cost_model.h

// Estimates outlines of one problem. Keeps tables and scratch memory: one thread at a time, one estimator per thread.
class OutlineEstimator {
 public:
  virtual ~OutlineEstimator() = default;

  // The outline is well-formed (Expand) but for quotas, which are not looked at; its plan satisfies
  // VerifyPlanStructure. The answer does not depend on what was asked before.
  Estimate Judge(const PlanOutline& outline) { return JudgeWithin(outline, std::numeric_limits<double>::infinity()); }

  // The same, sooner: where an iteration takes longer than `most_seconds` the estimate is empty but for an iteration
  // that is infinite.
  virtual Estimate JudgeWithin(const PlanOutline& outline, double most_seconds) = 0;

  // A lower bound of the seconds that Evaluate adds, for gradients and before the step, to the end of the last backward
  // of some rank of this stage, in any plan of at least `replicas` pipelines of any shapes. The stage's
  // optimizer_shards say how optimizer states are shared (cost_model.h). Zero where nothing can be bounded.
  virtual double SyncAtLeast(const StageShape& stage, int replicas) = 0;
};

}  // namespace sail::sim
