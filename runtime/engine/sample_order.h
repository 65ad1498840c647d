// Which tokens each sample trains on: a function of the seed and the global sample index, never of plan or rank.
//
// The text is cut into windows of seq_len tokens (each with one more token behind it, for the shifted targets). An
// epoch visits every window once, in an order given by a keyed permutation that needs no table, so that a run can be
// resumed from one number. Sample g is window Permute(epoch g / windows, g mod windows).
#pragma once

#include <cstdint>

#include "compiler/ir/plan.h"

namespace sail::rt {

class SampleOrder {
 public:
  // Requires tokens > seq_len: at least one window.
  SampleOrder(int64_t tokens, int64_t seq_len, uint64_t seed);

  int64_t windows() const { return windows_; }
  // Index of the sample's first input token; its inputs are the seq_len tokens from there, its targets those one later.
  int64_t FirstToken(int64_t sample) const;

 private:
  int64_t seq_len_;
  int64_t windows_;
  uint64_t seed_;
};

// A permutation of 0 .. count-1 chosen by `key`: a Feistel network over the next even number of bits, repeated while it
// leaves the range (Black and Rogaway 2002, "cycle walking"). Expected O(1).
int64_t Permute(int64_t index, int64_t count, uint64_t key);

// The first sample of a micro-batch within the global batch. Pipelines take consecutive runs of samples in the order of
// the plan, so the batch as a whole is 0 .. global-1 on every plan.
int64_t FirstSample(const ir::Plan& plan, int pipeline, int micro_batch);
int64_t GlobalBatch(const ir::Plan& plan);

}  // namespace sail::rt
