// Makes the gradient of every copy of a parameter the exact gradient of the global batch, bit for bit the same.
//
//   1. Reduce(b): owners of bucket b pack their slices of its gradient groups into one tensor, all-reduce and unpack.
//      Between pipelines a shard is the piece at the finest tensor degree; a parameter that each tensor rank holds
//      whole has one owner per pipeline, tensor rank 0; a tied word table has the first and the last stage as owners.
//   2. ShareReplicated: tensor rank 0 sends the gradients of whole parameters to its tensor group.
#pragma once

#include <vector>

#include "ATen/core/Tensor.h"
#include "absl/status/status.h"
#include "compiler/ir/placement.h"
#include "runtime/engine/rank_groups.h"
#include "runtime/model/parameter.h"
#include "simulator/schedule.h"

namespace sail::rt {

class GradientSync {
 public:
  struct Inputs {
    const ir::Model& model;
    const std::vector<ir::GradientGroup>& groups;
    const std::vector<sim::Bucket>& buckets;
    const RankGroups& communicators;
    ir::Rank rank;
    Communicator* tensor;  // this rank's tensor group, null for a degree of one
  };
  // What `inputs` refers to must outlive this. Gradients are read and written in place.
  GradientSync(const Inputs& inputs, const std::vector<Parameter>& parameters);

  absl::Status Reduce(int bucket) const;
  absl::Status ShareReplicated() const;

 private:
  Inputs inputs_;
  std::vector<std::vector<at::Tensor>> pieces_;  // by bucket: views of gradients, in the order of packing
  std::vector<at::Tensor> replicated_;           // gradients of parameters that are not cut
};

}  // namespace sail::rt
