#include "runtime/bundle/trainable.h"

#include "absl/strings/str_cat.h"
#include "compiler/ir/names.h"

namespace sail::rt {

absl::Status CheckTrainable(const ir::Model& model, ir::Precision precision) {
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

}  // namespace sail::rt
