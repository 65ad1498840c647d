// How many pipelines of each shape, and how many micro-batches each of them runs.
//
// Pipelines meet only in the iteration time T: within T shape c processes  m_c(T) = b_c · (⌊(T − Λ_c)/B_c⌋ + 1)
// samples. A mix x reaches T iff  Σ x_c m_c(T) >= global batch  with  Σ x_c u_c <= resources  (u: GPUs by pool, and any
// limited sum that is linear in them: money per second, nodes, GPUs). For a given T the most samples are a packing
// problem with few rows. Its relaxation (packing_lp.h) is solved exactly; T is bisected until the relaxation just
// reaches the batch; then T rises in small steps until a rounded mix reaches it too. Columns worth far less than their
// price at about this T are left out on the way, so the relaxation guides the search and certifies nothing.
// Rounding: whole parts of the relaxation, then greedily what fits into the rest, by samples per priced resource.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "planner/pipeline_shapes.h"

namespace sail::planner {

// Rows of the packing problem, the same for every mix.
struct MixProblem {
  const std::vector<PipelineShape>* shapes = nullptr;
  std::vector<double> use;  // [shape · rows + row]
  size_t rows = 0;
  int64_t global_batch = 0;  // samples
};

// (index into shapes, pipelines), ascending; more samples than the batch are possible, ShareSamples removes them.
using Mix = std::vector<std::pair<int, int>>;

// The mix of the shapes `allowed` with the least T found, within `capacity` (by row); empty if none reaches the batch.
// `seconds` is where the search for T begins (0: anywhere), then what the relaxation needs.
// O((log + steps) · rounds · allowed · rows), rounds of column generation.
Mix FindMix(const MixProblem& problem, const std::vector<int>& allowed, const std::vector<double>& capacity,
            double& seconds);

}  // namespace sail::planner
