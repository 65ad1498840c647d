#include "simulator/pipeline_time.h"

#include <algorithm>
#include <cmath>

#include "absl/container/inlined_vector.h"

namespace sail::sim {

namespace {

// What the next round depends on, and how it was some rounds ago.
class Rounds {
 public:
  Rounds(std::vector<double>& free, size_t depth) : free_(free), arrival_(depth, 0.0) {
    free_.assign(depth, 0.0);
    saved_.resize(2 * depth);
  }

  std::vector<double>& free_;                // when the stage has finished what it was given so far
  absl::InlinedVector<double, 16> arrival_;  // of the activation that the stage's next forward needs

  // Called after each steady round `k`, the last of which is `last`; returns how many rounds to skip.
  int Skip(int k, int last) {
    const size_t depth = free_.size();
    if (saved_round_ >= 0) {
      const double moved = free_[0] - saved_[0];
      const auto has_moved = [&](double now, double then) {
        return std::abs(now - then - moved) <= kPeriodTolerance * moved;
      };
      bool is_periodic = true;
      for (size_t s = 1; s < depth && is_periodic; ++s) {
        is_periodic = has_moved(free_[s], saved_[s]) && has_moved(arrival_[s], saved_[depth + s]);
      }
      if (is_periodic) {
        const int period = k - saved_round_;
        const int times = (last - k) / period;
        for (double& end : free_) end += times * moved;
        for (size_t s = 1; s < depth; ++s) arrival_[s] += times * moved;
        return times * period;
      }
    }
    // A period is at most the longest way of a micro-batch, about a round for each stage.
    if (saved_round_ < 0 || k - saved_round_ >= static_cast<int>(depth)) {
      saved_round_ = k;
      std::copy(free_.begin(), free_.end(), saved_.begin());
      std::copy(arrival_.begin(), arrival_.end(), saved_.begin() + static_cast<std::ptrdiff_t>(depth));
    }
    return 0;
  }

 private:
  int saved_round_ = -1;
  absl::InlinedVector<double, 32> saved_;
};

// A round in which every stage plays a forward and a backward.
void PlayWholeRound(absl::Span<const StageSeconds> stages, bool paired_sends, double* free, double* arrival) {
  const int depth = static_cast<int>(stages.size());
  double gradient = 0;
  for (int s = depth - 1; s >= 0; --s) {
    const StageSeconds& stage = stages[s];
    const double forward_end = std::max(free[s], arrival[s]) + stage.forward;
    const double backward_start = std::max(forward_end, gradient);
    if (s + 1 < depth) arrival[s + 1] = (paired_sends ? backward_start : forward_end) + stage.send_activation;
    free[s] = backward_start + stage.backward;
    if (s > 0) gradient = free[s] + stages[s - 1].send_gradient;
  }
}

}  // namespace

void ComputePipelineTime(absl::Span<const StageSeconds> stages, int micro_batches, bool paired_sends,
                         PipelineTime& time) {
  const int depth = static_cast<int>(stages.size());
  const int last_steady = micro_batches - depth;
  Rounds rounds(time.backward_end, stages.size());
  std::vector<double>& free = rounds.free_;
  auto& arrival = rounds.arrival_;
  for (int k = 1 - depth; k < micro_batches; ++k) {
    if (k >= 0 && k <= last_steady) {
      if (k == 0) time.last_stage_start = std::max(free[depth - 1], arrival[depth - 1]);
      PlayWholeRound(stages, paired_sends, free.data(), arrival.data());
      if (k < last_steady) k += rounds.Skip(k, last_steady);
      continue;
    }
    // Stage s plays micro-batch k + depth − 1 − s, if there is one.
    const int first = std::max(0, k + depth - micro_batches);
    for (int s = std::min(depth, k + depth) - 1; s >= first; --s) {
      const double start = std::max(free[s], arrival[s]);
      if (s == depth - 1 && k == 0) time.last_stage_start = start;
      free[s] = start + stages[s].forward;
      if (s + 1 < depth) arrival[s + 1] = free[s] + stages[s].send_activation;
    }
    if (k < 0) continue;
    double gradient = 0;
    for (int s = depth - 1; s >= 0; --s) {
      const double start = std::max(free[s], gradient);
      const bool sends_now = paired_sends && s + 1 < depth && k + depth - 1 - s < micro_batches;
      if (sends_now) arrival[s + 1] = start + stages[s].send_activation;
      free[s] = start + stages[s].backward;
      if (s > 0) gradient = free[s] + stages[s - 1].send_gradient;
    }
  }
  time.last_stage_end = free[depth - 1];
}

void BoundPipelineTime(absl::Span<const StageSeconds> stages, int micro_batches, PipelineTime& time) {
  const int depth = static_cast<int>(stages.size());
  double latency = 0;  // of a micro-batch
  for (const StageSeconds& stage : stages) {
    latency += stage.forward + stage.backward + stage.send_activation + stage.send_gradient;
  }
  time.backward_end.assign(depth, 0.0);
  double forwards_before = 0;  // of the stages before, with their sends
  double both_before = 0;      // backwards as well
  double forward_end = 0;      // of F_s(M − 1)
  for (int s = 0; s < depth; ++s) {
    const StageSeconds& stage = stages[s];
    const double both = stage.forward + stage.backward;
    const int in_flight = std::min(micro_batches, depth - s);
    const double after = latency - both_before - both;
    const double idle = std::max(0.0, after - (in_flight - 1) * stage.forward);
    const bool is_full = micro_batches > in_flight;  // some backward comes before the last forward
    const double played = micro_batches * stage.forward + (micro_batches - in_flight) * stage.backward;
    forward_end = std::max(forward_end + stage.forward, forwards_before + played + (is_full ? idle : 0));
    time.backward_end[s] = forwards_before + micro_batches * both + idle;
    if (s + 1 == depth) break;
    forward_end += stage.send_activation;
    forwards_before += stage.forward + stage.send_activation;
    both_before += both + stage.send_activation + stage.send_gradient;
  }
  double end = forward_end;  // of what comes before B_s(M − 1)
  for (int s = depth - 1; s >= 0; --s) {
    end = std::max(end + stages[s].backward, time.backward_end[s]);
    time.backward_end[s] = end;
    if (s > 0) end += stages[s - 1].send_gradient;
  }
}

PipelineTime ComputePipelineTime(const std::vector<StageSeconds>& stages, int micro_batches, bool paired_sends) {
  PipelineTime time;
  ComputePipelineTime(stages, micro_batches, paired_sends, time);
  return time;
}

Seconds ClassicPipelineTime(const std::vector<StageSeconds>& stages, int micro_batches) {
  double sum = 0;
  double bottleneck = 0;
  for (const StageSeconds& stage : stages) {
    const double period = stage.forward + stage.backward + stage.send_activation + stage.send_gradient;
    sum += period;
    bottleneck = std::max(bottleneck, period);
  }
  return Seconds(sum + (micro_batches - 1) * bottleneck);
}

}  // namespace sail::sim
