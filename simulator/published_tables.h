// The published measurements of one problem, looked up by index instead of by name.
#pragma once

#include <vector>

#include "compiler/ir/problem.h"
#include "simulator/public_data.h"
#include "simulator/public_network.h"

namespace sail::sim {

// For tensor degrees and micro-batches of the job and pools with quota. What was not measured is infinite.
class PublishedTables {
 public:
  // All must outlive this. The problem's model has the layers of `model`, which has sizes at degree 1.
  PublishedTables(const ir::Problem& problem, const PublicModel& model, const PublicNetwork& network);

  // Forward and backward of layers first..last, and the update of one layer. O(1).
  double Seconds(ir::PoolId pool, int tensor, int micro_batch, int first, int last) const;
  double Update(ir::PoolId pool, int tensor, int micro_batch, int layer) const;
  // kMoreThanAnyGpu where it was not measured.
  Bytes Memory(ir::PoolId pool, int tensor, int micro_batch, int first, int last, int in_flight) const;
  // Of layers first..last, not divided.
  double Parameters(int first, int last) const { return static_cast<double>(Sum(sizes_[0].parameters, first, last)); }
  double BoundaryBytes(int micro_batch) const { return static_cast<double>(micro_batch) * sample_bytes_; }
  // Seconds of one message between machines of the pools.
  double Transfer(ir::PoolId from, int from_tensor, ir::PoolId to, int to_tensor, double bytes) const;
  // Null where nothing was measured.
  const LinkCurve* Curve(ir::PoolId from, int from_tensor, ir::PoolId to, int to_tensor) const;
  int layers() const { return layers_; }

 private:
  struct Times {
    std::vector<double> seconds;  // of the layers before; empty: not measured
    const std::vector<PublicLayerTime>* layers = nullptr;
  };
  struct Sizes {
    std::vector<int64_t> parameters;  // of the layers before; empty: not measured
    std::vector<int64_t> kept;
  };
  template <class T>
  static T Sum(const std::vector<T>& before, int first, int last) {
    return before[last + 1] - before[first];
  }
  const Times& TimesOf(ir::PoolId pool, int tensor, int micro_batch) const {
    const size_t row = static_cast<size_t>(cluster_.gpu_id(pool).index()) * degrees_ + degree_index_[tensor];
    return times_[row * micro_batches_ + micro_index_[micro_batch]];
  }

  const ir::Cluster& cluster_;
  int layers_ = 0;
  double sample_bytes_ = 0;        // of a boundary
  std::vector<int> degree_index_;  // by tensor degree; 1 is always there, with index 0
  std::vector<int> micro_index_;   // by micro-batch
  size_t degrees_ = 0;
  size_t micro_batches_ = 0;
  std::vector<Times> times_;              // [gpu][degree][micro-batch]
  std::vector<Sizes> sizes_;              // by degree
  std::vector<const LinkCurve*> curves_;  // [pool][degree][pool][degree], null where nothing was measured
};

}  // namespace sail::sim
