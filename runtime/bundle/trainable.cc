#include "runtime/bundle/trainable.h"

#include "absl/strings/str_cat.h"
#include "compiler/base/status_macros.h"
#include "compiler/ir/names.h"

namespace sail::rt {

namespace {

absl::Status CheckModel(const ir::Model& model, ir::Precision precision) {
  const auto refuse = [&](absl::string_view reason) {
    return absl::InvalidArgumentError(absl::StrCat("sailrun cannot train model '", model.name, "': ", reason));
  };
  if (model.family != ir::ModelFamily::kGpt) {
    return refuse(absl::StrCat("family = ", ir::NameOf(ir::kModelFamilies, model.family),
                               " can be planned and simulated; only family = gpt is implemented"));
  }
  if (model.norm == ir::NormPlacement::kPost) return refuse("norm = post; only norm = pre is implemented");
  if (model.embedding_width != model.hidden) {
    return refuse(absl::StrCat("embedding_width = ", model.embedding_width, " differs from hidden = ", model.hidden,
                               "; the projections between them are not implemented"));
  }
  // Token i has row i of the table, or row i + 2 (OPT). A larger table does not say which of its rows are used.
  if (model.position_rows != model.seq_len && model.position_rows != model.seq_len + kOptPositionOffset) {
    return refuse(absl::StrCat("position_rows = ", model.position_rows, " with seq_len = ", model.seq_len,
                               "; only tables of seq_len rows, or ", kOptPositionOffset,
                               " more as in OPT, are implemented"));
  }
  if (model.heads < 1 || model.hidden % model.heads != 0) {
    return refuse(absl::StrCat("hidden = ", model.hidden, " does not divide into ", model.heads, " heads"));
  }
  if (precision != ir::Precision::kFp32 && precision != ir::Precision::kFp64) {
    return refuse(absl::StrCat("precision = ", ir::ToString(precision), "; only fp32 is implemented"));
  }
  return absl::OkStatus();
}

// Plans for other trainers, and what no stage here does yet, can be simulated.
absl::Status CheckPlan(const ir::Job& job, const ir::Plan& plan) {
  if (job.trainer != ir::Trainer()) {
    return absl::InvalidArgumentError(
        absl::StrCat("job '", job.name, "' describes another trainer than sailrun; such plans can be simulated only"));
  }
  if (plan.optimizer_sharding != ir::OptimizerSharding::kNone) {
    return absl::InvalidArgumentError(absl::StrCat(
        "sailrun cannot run optimizer_sharding = ", ir::NameOf(ir::kOptimizerShardings, plan.optimizer_sharding),
        "; such plans can be simulated only: to build, write `optimizer_sharding = none` in the job's parallelism"));
  }
  for (size_t p = 0; p < plan.pipelines.size(); ++p) {
    for (size_t s = 0; s < plan.pipelines[p].stages.size(); ++s) {
      const ir::Recompute recompute = plan.pipelines[p].stages[s].recompute;
      if (recompute == ir::Recompute::kNone) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          "sailrun cannot run recompute = ", ir::NameOf(ir::kRecomputes, recompute), " of pipeline ", p, " stage ", s,
          "; such plans can be simulated only: to build, write `recompute = none` in the job's parallelism"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckTrainable(const ir::Problem& problem, const ir::Plan& plan) {
  SAIL_RETURN_IF_ERROR(CheckModel(problem.model, problem.job.precision));
  return CheckPlan(problem.job, plan);
}

}  // namespace sail::rt
