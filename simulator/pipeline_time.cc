#include "simulator/pipeline_time.h"

#include <algorithm>

namespace sail::sim {

PipelineTime ComputePipelineTime(const std::vector<StageSeconds>& stages, int micro_batches, bool paired_sends) {
  const int depth = static_cast<int>(stages.size());
  std::vector<double> free(depth, 0.0);     // when the stage has finished what it was given so far
  std::vector<double> arrival(depth, 0.0);  // of the activation that the stage's next forward needs
  PipelineTime time;
  for (int k = 1 - depth; k < micro_batches; ++k) {
    for (int s = depth - 1; s >= 0; --s) {
      const int micro = k + depth - 1 - s;
      if (micro < 0 || micro >= micro_batches) continue;
      const double start = std::max(free[s], arrival[s]);
      if (s == depth - 1 && micro == 0) time.last_stage_start = start;
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
  time.backward_end = std::move(free);
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
