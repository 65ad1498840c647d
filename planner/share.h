// Who runs how many micro-batches, so that samples add up to exactly the global batch and the slowest pipeline is as
// fast as possible: the least T with Σ m_p(T) >= batch (mix.h), then single micro-batches are taken away where they end
// last; if no combination of micro-batch sizes makes up the excess, the next T.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "planner/pipeline_shapes.h"

namespace sail::planner {

// Equal pipelines.
struct RatedTeam {
  PipelineRate rate;
  int pipelines = 1;
};

// Pipelines of one team that run equally many micro-batches.
struct TeamShare {
  int team = 0;
  int pipelines = 0;
  int micro_batches = 0;
  friend bool operator==(const TeamShare&, const TeamShare&) = default;
};
using Shares = absl::InlinedVector<TeamShare, 6>;

// By team, the fuller part of a team first; at least one micro-batch each. nullopt if none exists. O(teams · log 1/ε),
// and O(excess · sizes) where sizes do not divide one another.
std::optional<Shares> ShareBatch(absl::Span<const RatedTeam> teams, int64_t global_batch);

// The same for single pipelines: micro-batches of each.
std::optional<std::vector<int>> ShareSamples(const std::vector<PipelineRate>& pipelines, int64_t global_batch);

}  // namespace sail::planner
