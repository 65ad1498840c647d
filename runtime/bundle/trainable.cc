#include "runtime/bundle/trainable.h"

#include "absl/strings/str_cat.h"

namespace sail::rt {

absl::Status CheckTrainable(const ir::Model& model, ir::Precision precision) {
  const auto refuse = [&](absl::string_view reason) {
    return absl::InvalidArgumentError(absl::StrCat("sailrun cannot train model '", model.name, "': ", reason));
  };
  if (model.norm == ir::NormPlacement::kPost) return refuse("norm = post; only norm = pre is implemented");
  if (model.embedding_width != model.hidden) {
    return refuse(absl::StrCat("embedding_width = ", model.embedding_width, " differs from hidden = ", model.hidden,
                               "; the projections between them are not implemented"));
  }
  if (model.position_rows < model.seq_len) {
    return refuse(absl::StrCat("position_rows = ", model.position_rows, " are fewer than the ", model.seq_len,
                               " tokens of a sample"));
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
