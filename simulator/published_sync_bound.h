// The least synchronisation of the published cost model; published_outline.h has the argument.
#pragma once

#include <vector>

#include "compiler/ir/problem.h"
#include "simulator/published_tables.h"

namespace sail::sim {

class PublishedSyncBound {
 public:
  PublishedSyncBound() = default;
  PublishedSyncBound(const ir::Problem& problem, const PublishedTables& tables);

  bool empty() const { return least_.empty(); }
  // Seconds, where the largest stage has at least `layers` layers and there are at least `pipelines`.
  double At(int layers, int pipelines) const;

 private:
  std::vector<std::vector<double>> least_;  // [layers][pipelines], both from 0
};

}  // namespace sail::sim
