// Where an ir::Profile comes from: a measured-profile JSON file (docs/profile_format.md) or a gpu's datasheet.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "compiler/ir/problem.h"

namespace sail::sim {

// Adds the entries of a measured profile of `gpu` to problem.profile. `name` is the file as people see it. Between two
// measured micro-batches times and activations are interpolated linearly; nothing is extrapolated.
// InvalidArgument: not a profile, or one of another model, gpu or precision (the message names both values).
absl::Status AddMeasuredProfile(absl::string_view text, absl::string_view name, ir::GpuId gpu, ir::Problem& problem);

// The measured entry of `key`, or one between the nearest measured micro-batches of its layer, gpu and degree;
// NotFound, naming it, outside of them.
absl::StatusOr<ir::LayerTime> MeasuredTime(const ir::Profile& measured, const ir::ProfileKey& key,
                                           const ir::Cluster& cluster);

// Fills the entries that the job's candidates need (every layer kind × tensor degree that fits the machine ×
// micro-batch) for every gpu of a pool with quota. A gpu with any measured entry must have all of them: NotFound names
// the missing one. A gpu without measurements gets derived ones (docs/cost_model.md). InvalidArgument when its
// datasheet lacks the peak.
absl::Status CompleteProfile(ir::Problem& problem);

}  // namespace sail::sim
