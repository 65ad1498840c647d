#include "runtime/engine/gradient_sync.h"

#include <algorithm>

#include "ATen/ops/cat.h"
#include "compiler/base/check.h"

namespace sail::rt {
namespace {

// This rank's slice of the gradients of one group, in the order of its parameters; empty if the rank is no owner.
std::vector<at::Tensor> PiecesOfGroup(const ir::GradientGroup& group, ir::Rank rank,
                                      const std::vector<Parameter>& parameters) {
  const auto owner = std::find_if(group.owners.begin(), group.owners.end(),
                                  [&](const ir::GradientOwner& candidate) { return candidate.rank == rank; });
  std::vector<at::Tensor> pieces;
  if (owner == group.owners.end()) return pieces;
  for (const Parameter& parameter : parameters) {
    if (parameter.spec.scope != group.scope || parameter.spec.layer != group.layer) continue;
    const at::Tensor& gradient = parameter.value.grad();
    if (parameter.spec.cut_dim < 0) {
      pieces.push_back(gradient);
      continue;
    }
    const int64_t extent = gradient.size(parameter.spec.cut_dim);
    SAIL_CHECK(extent % owner->slices == 0) << parameter.spec.name << ": " << extent << " in " << owner->slices;
    const int64_t length = extent / owner->slices;
    pieces.push_back(gradient.narrow(parameter.spec.cut_dim, owner->slice * length, length));
  }
  return pieces;
}

at::Tensor Pack(const std::vector<at::Tensor>& pieces) {
  std::vector<at::Tensor> flat;
  for (const at::Tensor& piece : pieces) flat.push_back(piece.reshape({-1}));
  return at::cat(flat);
}

void Unpack(const at::Tensor& packed, const std::vector<at::Tensor>& pieces) {
  int64_t offset = 0;
  for (const at::Tensor& piece : pieces) {
    piece.copy_(packed.narrow(0, offset, piece.numel()).view(piece.sizes()));
    offset += piece.numel();
  }
}

}  // namespace

GradientSync::GradientSync(const Inputs& inputs, const std::vector<Parameter>& parameters)
    : inputs_(inputs), pieces_(inputs.buckets.size()) {
  for (size_t b = 0; b < inputs.buckets.size(); ++b) {
    for (const int g : inputs.buckets[b].groups) {
      const ir::GradientGroup& group = inputs.groups[g];
      const std::vector<at::Tensor> pieces = PiecesOfGroup(group, inputs.rank, parameters);
      if (pieces.empty()) continue;
      int64_t elements = 0;
      for (const at::Tensor& piece : pieces) elements += piece.numel();
      SAIL_CHECK(elements == sim::GradientElements(inputs.model, group)) << "group " << g << " has " << elements;
      pieces_[b].insert(pieces_[b].end(), pieces.begin(), pieces.end());
    }
  }
  for (const Parameter& parameter : parameters) {
    if (parameter.spec.cut_dim < 0) replicated_.push_back(parameter.value.grad());
  }
}

absl::Status GradientSync::Reduce(int bucket) const {
  at::Tensor packed = Pack(pieces_[bucket]);
  const absl::Status status =
      inputs_.communicators.Find(inputs_.buckets[bucket].owners)->AllReduce(packed, Reduction::kSum);
  if (status.ok()) Unpack(packed, pieces_[bucket]);
  return status;
}

absl::Status GradientSync::ShareReplicated() const {
  if (inputs_.tensor == nullptr || replicated_.empty()) return absl::OkStatus();
  at::Tensor packed = Pack(replicated_);
  const absl::Status status = inputs_.tensor->Broadcast(packed, /*root=*/0);
  if (status.ok()) Unpack(packed, replicated_);
  return status;
}

}  // namespace sail::rt
