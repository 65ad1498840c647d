#include "tests/bench/accuracy/run.h"

#include <algorithm>

#include "compiler/base/status_macros.h"
#include "compiler/ir/verify_plan.h"
#include "simulator/simulate.h"

namespace sail::bench {

absl::StatusOr<Prediction> Predict(const Run& run, const Calibration& calibration) {
  SAIL_ASSIGN_OR_RETURN(const Case built, run.build(calibration));
  SAIL_RETURN_IF_ERROR(ir::VerifyPlanStructure(built.problem, built.plan));
  SAIL_ASSIGN_OR_RETURN(const ir::Report report, sim::Simulate(built.problem, built.plan));
  Prediction prediction{.seconds = report.iteration.value()};
  for (const ir::StageReport& stage : report.stages) {
    prediction.bytes = std::max(prediction.bytes, static_cast<double>(stage.memory_total.value()));
  }
  return prediction;
}

}  // namespace sail::bench
