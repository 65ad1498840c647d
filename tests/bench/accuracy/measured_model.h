// A public model (simulator/public_data.h) and its measurements as values of a problem.
#pragma once

#include "absl/status/statusor.h"
#include "compiler/ir/problem.h"
#include "simulator/public_data.h"

namespace sail::bench {

// The model with the vocabulary that was padded for the tensor degree `tensor`.
absl::StatusOr<ir::Model> ModelOf(const sim::PublicModel& measured, int tensor);

// What was measured on the cluster's gpus, in the form of a profile; `step_traffic` bytes per parameter make the
// optimizer's time, so gpus need a memory bandwidth.
ir::Profile ProfileOf(const sim::PublicModel& model, const ir::Cluster& cluster, double step_traffic);

}  // namespace sail::bench
