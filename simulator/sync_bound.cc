#include "simulator/sync_bound.h"

#include <algorithm>
#include <limits>

#include "simulator/backend_constants.h"
#include "simulator/collective_cost.h"
#include "simulator/schedule.h"

namespace sail::sim {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Of tensor rank 0.
double GradientBytes(const ir::Problem& problem, const StageShape& stage) {
  const ir::Model& model = problem.model;
  int64_t elements = 0;
  bool holds_tied = false;
  for (int layer = stage.first_layer; layer <= stage.last_layer; ++layer) {
    const ir::LayerKind kind = model.kind(layer);
    const ir::LayerParameters parameters = ir::ParametersOnRank(model, kind, /*tensor=*/1, stage.tensor);
    const bool is_tied = model.tied_head && kind != ir::LayerKind::kBlock;
    holds_tied = holds_tied || is_tied;
    elements += parameters.replicated + (is_tied ? 0 : parameters.sharded / stage.tensor);
  }
  if (holds_tied) elements += ir::PaddedVocab(model, stage.tensor) * model.embedding_width / stage.tensor;
  const auto sharding = stage.optimizer_shards > 1 ? ir::OptimizerSharding::kZero1 : ir::OptimizerSharding::kNone;
  return static_cast<double>(elements * ReducedBytesPerElement(problem.job, sharding));
}

// The three cases of the header for one stage.
class Cases {
 public:
  Cases(const ir::Problem& problem, const StageShape& stage, int replicas)
      : cluster_(problem.cluster), pool_(stage.pool), replicas_(replicas) {
    const int smallest = problem.job.tensor_degrees.front();
    fit_ = 1 + (cluster_.machine(pool_).gpus_per_node - stage.tensor) / smallest;
    int largest_fit = 1;  // owners on any node
    bool has_other_zone = false;
    for (int p = 0; p < static_cast<int>(cluster_.pools.size()); ++p) {
      if (cluster_.pools[p].quota == 0) continue;
      largest_fit = std::max(largest_fit, cluster_.machine(ir::PoolId(p)).gpus_per_node / smallest);
      has_other_zone = has_other_zone || cluster_.pools[p].zone != cluster_.pool(pool_).zone;
    }
    if (!has_other_zone) least_nodes_ = std::max(least_nodes_, (replicas + largest_fit - 1) / largest_fit);
  }

  double Least(double bytes) const {
    double least = BetweenZones(bytes);
    if (replicas_ <= fit_) least = std::min(least, SecondsOn({.pool = pool_, .nodes = 1, .ranks = replicas_}, bytes));
    for (int streams = 1; streams <= fit_; ++streams) {
      least = std::min(least, SecondsOn({.pool = pool_, .nodes = least_nodes_, .ranks = streams}, bytes));
    }
    return least;
  }

 private:
  double SecondsOn(const NodeRun& nodes, double bytes) const {
    AllReduce shape;
    PaceAllReduce(cluster_, {&nodes, 1}, shape);
    return AllReduceSeconds(shape, bytes);
  }

  // Out of the rank's node, over the link that takes the least time; there and back is as many steps.
  double BetweenZones(double bytes) const {
    const double share = ConstantsOf(cluster_.gpu(pool_).backend).ring_share;
    double least = kInfinity;
    for (int p = 0; p < static_cast<int>(cluster_.pools.size()); ++p) {
      const ir::PoolId to(p);
      if (cluster_.pool(to).quota == 0 || cluster_.pool(to).zone == cluster_.pool(pool_).zone) continue;
      const double rate = std::min(share, 1.0) * HopRate(cluster_, pool_, to, /*weight=*/1);
      least = std::min(least, 2 * cluster_.link(pool_, to).latency.value() + bytes / rate);
    }
    return least;
  }

  const ir::Cluster& cluster_;
  const ir::PoolId pool_;
  const int replicas_;
  int fit_ = 1;          // owners on the rank's node
  int least_nodes_ = 2;  // where there is more than one
};

}  // namespace

double LeastSyncSeconds(const ir::Problem& problem, const StageShape& stage, int replicas) {
  if (problem.job.trainer.overlap_gradients || replicas < 2) return 0;
  for (const std::vector<ir::Link>& links : problem.cluster.links) {
    for (const ir::Link& link : links) {
      if (!link.all_reduces.empty()) return 0;
    }
  }
  return Cases(problem, stage, replicas).Least(GradientBytes(problem, stage));
}

}  // namespace sail::sim
