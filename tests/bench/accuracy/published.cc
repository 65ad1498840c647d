#include "tests/bench/accuracy/published.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_format.h"
#include "compiler/base/status_macros.h"
#include "compiler/ir/verify_plan.h"
#include "simulator/published_model.h"

namespace sail::bench {
namespace {

absl::StatusOr<double> PublishedSeconds(const SailorRun& run, const SailorData& data, const Calibration& calibration) {
  SAIL_ASSIGN_OR_RETURN(Case built, BuildSailorCase(run, data, calibration));
  SAIL_RETURN_IF_ERROR(ir::VerifyPlanStructure(built.problem, built.plan));
  for (ir::Zone& zone : built.problem.cluster.zones) zone.name = "us-central1-a";  // the file's name of every node
  SAIL_ASSIGN_OR_RETURN(const auto model,
                        sim::MakePublishedCostModel(built.problem, data.models.at(run.model), data.network));
  SAIL_ASSIGN_OR_RETURN(const ir::Report report, model->Evaluate(built.plan));
  return report.iteration.value();
}

}  // namespace

std::string ComparePublished(const std::vector<SailorRun>& runs, const SailorData& data,
                             const Calibration& calibration) {
  int compared = 0;
  double largest = 0;
  std::string text;
  for (const SailorRun& run : runs) {
    if (!run.published_seconds) continue;
    const absl::StatusOr<double> seconds = PublishedSeconds(run, data, calibration);
    if (!seconds.ok()) {
      text += absl::StrFormat("published model: %s left out: %s\n", run.id, std::string(seconds.status().message()));
      continue;
    }
    ++compared;
    largest = std::max(largest, std::abs(*seconds / *run.published_seconds - 1));
  }
  return text + absl::StrFormat(
                    "The `published` cost model and the published simulator differ by at most %.2g %% on %d "
                    "runs.\n",
                    100 * largest, compared);
}

}  // namespace sail::bench
