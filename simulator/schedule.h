// One schedule, two readers: the simulator plays these instruction lists on a clock, a worker plays them on tensors.
// What is predicted is what runs.
//
// 1F1B (Narayanan et al. 2019): stage s of depth P with M micro-batches runs w = min(M, P − 1 − s) warm-up forwards,
// then M − w times (forward, backward), then w backwards; micro-batches in ascending order in both directions. A
// trainer with paired sends receives the gradient of backward k before it sends the activation of forward k + w. At
// most w + 1 micro-batches are stashed. Then a rank has its buckets reduced, in canonical order after the last
// backward, or, by a trainer that overlaps, in the opposite order while the last backward still runs, each when its
// lowest layer is done; and steps.
#pragma once

#include <vector>

#include "compiler/ir/placement.h"
#include "compiler/ir/plan.h"
#include "compiler/ir/problem.h"

namespace sail::sim {

enum class Op {
  kReceiveActivation,  // blocking; absent on the first stage
  kForward,
  kSendActivation,   // asynchronous; absent on the last stage
  kReceiveGradient,  // blocking; absent on the last stage
  kBackward,
  kSendGradient,  // asynchronous; absent on the first stage
  kReduce,        // all-reduce of bucket `index`, or the wait for it
  kStep,          // optimizer
};

struct Instruction {
  Op op = Op::kForward;
  int index = 0;  // micro-batch, or bucket for kReduce
  friend bool operator==(const Instruction&, const Instruction&) = default;
};

// Gradient groups with the same owners, reduced by one all-reduce. Groups keep canonical order; a bucket closes when
// the next group would take it over kBucketBytes. Groups with one owner are in no bucket.
inline constexpr int64_t kBucketBytes = 25'000'000;
struct Bucket {
  std::vector<ir::Rank> owners;  // ascending
  std::vector<int> groups;       // indices into GradientGroups(…)
  int layer = 0;                 // the lowest of its groups
  Bytes bytes = Bytes::Zero();   // that each owner contributes
};

// Bytes that an all-reduce moves for one element of a gradient. Under ZeRO-1 it is a reduce-scatter of gradients and an
// all-gather of stepped parameters: the same steps, and the mean of both sizes.
int ReducedBytesPerElement(const ir::Job& job, ir::OptimizerSharding sharding);

// Elements of one gradient group on each of its owners (for kTiedEmbedding: the shard of the word embedding).
int64_t GradientElements(const ir::Model& model, const ir::GradientGroup& group);

// In canonical order.
std::vector<Bucket> GradientBuckets(const ir::Model& model, int bytes_per_element,
                                    const std::vector<ir::GradientGroup>& groups);

// The instruction list of one rank; `buckets` in the order in which they are reduced.
std::vector<Instruction> InstructionsOf(const ir::Plan& plan, const ir::Placement& placement,
                                        const std::vector<Bucket>& buckets, ir::Rank rank, bool paired_sends = false);

}  // namespace sail::sim
