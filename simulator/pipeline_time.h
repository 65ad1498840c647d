// One pipeline under 1F1B when every transfer has its link to itself.
#pragma once

#include <vector>

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
// was played in this round or the one before, so one arrival time per stage is all the state. O(P · (M + P)).
// With paired sends the activation of F_s(k + w_s), k ≥ 0, leaves once the gradient for B_s(k) is there, too.
PipelineTime ComputePipelineTime(const std::vector<StageSeconds>& stages, int micro_batches, bool paired_sends = false);

// Σ t + Σ c + (M − 1) · max (t + c): the classic form, never below ComputePipelineTime(…).backward_end[0].
Seconds ClassicPipelineTime(const std::vector<StageSeconds>& stages, int micro_batches);

}  // namespace sail::sim
