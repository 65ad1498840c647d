// One pipeline under 1F1B when every transfer has its link to itself.
#pragma once

#include <vector>

#include "absl/types/span.h"
#include "compiler/base/units.h"

namespace sail::sim {

struct StageSeconds {
  double forward = 0;
  double backward = 0;
  double send_activation = 0;  // to the next stage; 0 for the last
  double send_gradient = 0;    // from the next stage to this one; 0 for the last
  friend bool operator==(const StageSeconds&, const StageSeconds&) = default;
};

struct PipelineTime {
  double last_stage_start = 0;       // first forward of the last stage begins
  double last_stage_end = 0;         // last backward of the last stage ends
  std::vector<double> backward_end;  // per stage: its last backward ends; [0] is the pipeline's time
};

// Exact event times of the schedule in schedule.h with blocking receives and asynchronous sends. With w_s = P − 1 − s:
//   F_s(k)  starts at  max(previous operation of stage s, F_{s−1}(k) + send_activation_{s−1})
//   B_s(k)  starts at  max(previous operation of stage s, B_{s+1}(k) + send_gradient_s)
//   order on stage s:  …, F_s(k + w_s), B_s(k), F_s(k + w_s + 1), B_s(k + 1), …
// Round k (−(P−1) ≤ k < M) plays F_s(k + w_s) for s descending, then B_s(k) for s descending: everything a step needs
// was played in this round or the one before, so two times per stage are all the state.
// With paired sends the activation of F_s(k + w_s), k ≥ 0, leaves once the gradient for B_s(k) is there, too.
//
// While every stage has both a forward and a backward to play, a round is a fixed max-plus map of the state, which
// becomes periodic: once the whole state is that of q rounds before, moved by one time, so are all rounds that follow,
// and they are skipped. Compared with a relative kPeriodTolerance, by which the result may be off. O(P · (M + P)), with
// M no more than the rounds until that happens.
PipelineTime ComputePipelineTime(const std::vector<StageSeconds>& stages, int micro_batches, bool paired_sends = false);
// The same into `time`, whose memory is used again.
void ComputePipelineTime(absl::Span<const StageSeconds> stages, int micro_batches, bool paired_sends,
                         PipelineTime& time);

inline constexpr double kPeriodTolerance = 1e-12;

// Bounds on the ends of stages: backward_end of `time` is no more than ComputePipelineTime's, but for rounding (a
// relative 1e-9), whether sends are paired or not; its other fields are not set. With k = min(M, P − s):
//   F_s(0) starts no sooner than a micro-batch has passed the stages before
//   B_s(0) starts no sooner than it has passed the stages after, until when at most k forwards are played
//   so F_s(M − 1) ends after M forwards and M − k backwards, B_s(M − 1) after M of both
// and each F_s(M − 1) is followed by those of the stages after, each B_s(M − 1) by those of the stages before. O(P).
void BoundPipelineTime(absl::Span<const StageSeconds> stages, int micro_batches, PipelineTime& time);

// Σ t + Σ c + (M − 1) · max (t + c): the classic form, never below ComputePipelineTime(…).backward_end[0].
Seconds ClassicPipelineTime(const std::vector<StageSeconds>& stages, int micro_batches);

}  // namespace sail::sim
