#include "compiler/ir/plan.h"

#include <algorithm>
#include <tuple>

namespace sail::ir {

void Canonicalize(Plan& plan) {
  for (Pipeline& pipeline : plan.pipelines) {
    for (Stage& stage : pipeline.stages) std::sort(stage.group.gpus.begin(), stage.group.gpus.end());
  }
  std::sort(plan.pipelines.begin(), plan.pipelines.end(), [](const Pipeline& a, const Pipeline& b) {
    return std::tie(a.stages, a.micro_batch, a.micro_batches) < std::tie(b.stages, b.micro_batch, b.micro_batches);
  });
}

}  // namespace sail::ir
