// Plays the instruction lists of all ranks (schedule.h) on a clock.
//
// The ranks of a tensor group run in step: they compute for the same time, and the slices that they send or receive
// together are one transfer of that many streams. Receives block, sends do not. A bucket's all-reduce starts when the
// last of its owners has its gradients and is done with the bucket before, and runs its phases one after the other:
// inside the nodes, the rings of the zones side by side, between the zones. Between nodes, transfers and rings share
// cards and links (shared_flows.h); links inside a node belong to one GPU each and are not shared.
#pragma once

#include <vector>

#include "simulator/gradient_sync.h"
#include "simulator/plan_costs.h"
#include "simulator/schedule.h"

namespace sail::sim {

// What happened when: seconds from the start of the iteration. The spans of a rank's computations are in order of time.
struct RankSpan {
  int rank = 0;
  Op op = Op::kForward;  // kForward, kBackward, kReduce (from joining it: the others may be late), kStep
  int index = 0;         // micro-batch, or bucket for kReduce
  double start = 0;
  double end = 0;
};
// Bytes that moved from one node of the Network to another, or between the GPUs of one (from = to). From the start of
// the latency to the arrival of the last byte.
struct TransferSpan {
  int from = 0;
  int to = 0;
  Op op = Op::kSendActivation;  // kSendActivation, kSendGradient, kReduce
  int index = 0;                // micro-batch, or bucket for kReduce
  int pipeline = -1;            // -1 for kReduce
  double bytes = 0;
  double start = 0;
  double end = 0;
};
struct Recording {
  std::vector<RankSpan> ranks;
  std::vector<TransferSpan> transfers;
};

// What the ranks play.
struct TimelineInput {
  const ir::Plan& plan;
  const PlanCosts& costs;
  const ir::Trainer& trainer;
  const GradientSync& sync;
  Recording* recording = nullptr;  // what happens is added to it if there is one
};

// O(events · log events · flows that meet on a link).
PlanTimes PlayTimeline(const TimelineInput& input);

}  // namespace sail::sim
