#include "simulator/published_sync_bound.h"

#include <algorithm>
#include <limits>
#include <set>

#include "simulator/published_groups.h"

namespace sail::sim {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// As many as GPUs and samples allow.
int MostPipelines(const ir::Problem& problem) {
  const ir::Job& job = problem.job;
  int64_t gpus = 0;
  for (const ir::Pool& pool : problem.cluster.pools) {
    gpus += static_cast<int64_t>(pool.quota) * problem.cluster.machines[pool.machine.index()].gpus_per_node;
  }
  const int64_t most = std::min(gpus / job.tensor_degrees.front(), job.global_batch / job.micro_batches.front());
  return static_cast<int>(std::max<int64_t>(most, 1));
}

// One pair of pools for each kind of link.
std::vector<std::pair<ir::PoolId, ir::PoolId>> Pairs(const ir::Problem& problem, const PublishedTables& tables) {
  std::vector<std::pair<ir::PoolId, ir::PoolId>> pairs;
  std::set<const LinkCurve*> seen;
  const int pools = static_cast<int>(problem.cluster.pools.size());
  for (int a = 0; a < pools; ++a) {
    for (int b = 0; b < pools; ++b) {
      const LinkCurve* curve = tables.Curve(ir::PoolId(a), 1, ir::PoolId(b), 1);
      if (curve != nullptr && seen.insert(curve).second) pairs.emplace_back(a, b);
    }
  }
  return pairs;
}

}  // namespace

PublishedSyncBound::PublishedSyncBound(const ir::Problem& problem, const PublishedTables& tables) {
  std::set<int> divisors;
  for (const int degree : problem.job.tensor_degrees) divisors.insert(std::min(degree, kLargestDivisor));
  // 1. The sizes that reductions of so many layers can have.
  std::vector<std::set<double>> sizes(tables.layers() + 1);
  for (int first = 0; first < tables.layers(); ++first) {
    for (int last = first; last < tables.layers(); ++last) {
      for (const int divisor : divisors) {
        sizes[last - first + 1].insert(kFloatBytes * tables.Parameters(first, last) / divisor);
      }
    }
  }
  // 2. The least of each number of pipelines; then of more layers, then of more pipelines.
  const std::vector<std::pair<ir::PoolId, ir::PoolId>> pairs = Pairs(problem, tables);
  const int most = MostPipelines(problem);
  least_.assign(tables.layers() + 2, std::vector<double>(most + 2, kInfinity));
  for (int layers = tables.layers(); layers >= 0; --layers) {
    for (int n = most; n >= 0; --n) {
      const auto ring = [&](double bytes) {
        double fastest = kInfinity;
        for (const auto& [a, b] : pairs) fastest = std::min(fastest, tables.Transfer(a, 1, b, 1, bytes / n));
        return 2 * (n - 1) * std::max(0.0, fastest);
      };
      double least = n < 2 ? 0 : kInfinity;
      for (const double bytes : sizes[layers]) least = std::min(least, n < 2 ? 0 : SecondsInChunks(bytes, ring));
      least_[layers][n] = std::min({least, least_[layers + 1][n], least_[layers][n + 1]});
    }
  }
}

double PublishedSyncBound::At(int layers, int pipelines) const {
  const int last = static_cast<int>(least_.front().size()) - 2;
  const double least = least_[layers][std::clamp(pipelines, 0, last)];
  return least < kInfinity ? least : 0;
}

}  // namespace sail::sim
