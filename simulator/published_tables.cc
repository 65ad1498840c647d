#include "simulator/published_tables.h"

#include <algorithm>
#include <limits>

#include "simulator/published_groups.h"

namespace sail::sim {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// values[i] gets index i, others none.
std::vector<int> IndexOf(const std::vector<int>& values) {
  std::vector<int> index(*std::max_element(values.begin(), values.end()) + 1, -1);
  for (size_t i = 0; i < values.size(); ++i) index[values[i]] = static_cast<int>(i);
  return index;
}

}  // namespace

PublishedTables::PublishedTables(const ir::Problem& problem, const PublicModel& model, const PublicNetwork& network)
    : cluster_(problem.cluster),
      layers_(model.layers),
      sample_bytes_(static_cast<double>(problem.model.seq_len * problem.model.hidden * kFloatBytes)) {
  std::vector<int> degrees = {1};
  for (const int degree : problem.job.tensor_degrees) {
    if (degree > 1) degrees.push_back(degree);
  }
  degree_index_ = IndexOf(degrees);
  micro_index_ = IndexOf(problem.job.micro_batches);
  degrees_ = degrees.size();
  micro_batches_ = problem.job.micro_batches.size();
  for (const ir::Gpu& gpu : cluster_.gpus) {
    for (const int degree : degrees) {
      for (const int micro_batch : problem.job.micro_batches) {
        Times& times = times_.emplace_back();
        times.layers = model.Times(gpu.name, degree, micro_batch);
        if (times.layers == nullptr || model.Sizes(degree) == nullptr) continue;
        times.seconds.push_back(0);
        for (const PublicLayerTime& layer : *times.layers) {
          times.seconds.push_back(times.seconds.back() + (layer.forward + layer.backward));
        }
      }
    }
  }
  for (const int degree : degrees) {
    Sizes& sizes = sizes_.emplace_back();
    const std::vector<PublicLayerSize>* measured = model.Sizes(degree);
    if (measured == nullptr) continue;
    sizes.parameters.push_back(0);
    sizes.kept.push_back(0);
    for (const PublicLayerSize& layer : *measured) {
      sizes.parameters.push_back(sizes.parameters.back() + layer.parameters);
      sizes.kept.push_back(sizes.kept.back() + layer.kept);
    }
  }
  std::vector<LinkEnd> ends;  // [pool][degree]
  for (const ir::Pool& pool : cluster_.pools) {
    const ir::Machine& machine = cluster_.machines[pool.machine.index()];
    for (const int degree : degrees) {
      ends.push_back({.gpu = cluster_.gpus[machine.gpu.index()].name,
                      .zone = cluster_.zones[pool.zone.index()].name,
                      .gpus = std::min(degree, machine.gpus_per_node)});
    }
  }
  for (size_t from = 0; from < ends.size(); ++from) {
    for (size_t to = 0; to < ends.size(); ++to) {
      const bool has_quota = cluster_.pools[from / degrees_].quota > 0 && cluster_.pools[to / degrees_].quota > 0;
      curves_.push_back(has_quota ? network.Between(ends[from], ends[to]) : nullptr);
    }
  }
}

double PublishedTables::Seconds(ir::PoolId pool, int tensor, int micro_batch, int first, int last) const {
  const Times& times = TimesOf(pool, tensor, micro_batch);
  return times.seconds.empty() ? kInfinity : Sum(times.seconds, first, last);
}

double PublishedTables::Update(ir::PoolId pool, int tensor, int micro_batch, int layer) const {
  const Times& times = TimesOf(pool, tensor, micro_batch);
  return times.seconds.empty() ? kInfinity : (*times.layers)[layer].update;
}

Bytes PublishedTables::Memory(ir::PoolId pool, int tensor, int micro_batch, int first, int last, int in_flight) const {
  const Sizes& sizes = sizes_[degree_index_[tensor]];
  if (sizes.parameters.empty() || TimesOf(pool, tensor, micro_batch).seconds.empty()) return kMoreThanAnyGpu;
  return Bytes(Sum(sizes.parameters, first, last)) * kStateBytes +
         Bytes(Sum(sizes.kept, first, last)) * kFloatBytes * micro_batch * in_flight + FrameworkBytes(tensor);
}

const LinkCurve* PublishedTables::Curve(ir::PoolId from, int from_tensor, ir::PoolId to, int to_tensor) const {
  const size_t row = static_cast<size_t>(from.index()) * degrees_ + degree_index_[from_tensor];
  const size_t column = static_cast<size_t>(to.index()) * degrees_ + degree_index_[to_tensor];
  return curves_[row * cluster_.pools.size() * degrees_ + column];
}

double PublishedTables::Transfer(ir::PoolId from, int from_tensor, ir::PoolId to, int to_tensor, double bytes) const {
  const LinkCurve* curve = Curve(from, from_tensor, to, to_tensor);
  return curve == nullptr ? kInfinity : curve->FittedSeconds(bytes);
}

}  // namespace sail::sim
