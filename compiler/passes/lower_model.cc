// The shape of a model: defaults that depend on the family or on other attributes, and what no family allows
// (SAIL0420).
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/ir/names.h"
#include "compiler/passes/lower_job.h"

namespace sail {
namespace {

constexpr int64_t kLargestAttention = 1 << 24;  // heads · head_dim: keeps products of two extents within 64 bits

class ModelLowering {
 public:
  ModelLowering(const CheckedBlock& block, DiagnosticSink& sink) : block_(block), sink_(sink) {}

  std::optional<ir::Model> Lower() {
    const ir::ModelFamily family = *ir::ValueOf(ir::kModelFamilies, block_.GetText("family"));
    const bool is_sound =
        family == ir::ModelFamily::kGpt ? AttributesOfGpt() && ShapeOfGpt() : AttributesOfLlama() && ShapeOfLlama();
    if (!is_sound) return std::nullopt;
    ir::Model model;
    model.name = block_.label;
    model.family = family;
    model.blocks = static_cast<int>(block_.GetInt("layers"));
    model.hidden = block_.GetInt("hidden");
    model.heads = block_.GetInt("heads");
    model.feed_forward = block_.GetIntOr("feed_forward", 4 * model.hidden);
    model.seq_len = block_.GetInt("seq_len");
    model.vocab = block_.GetInt("vocab");
    model.embedding_width = block_.GetIntOr("embedding_width", model.hidden);
    model.tied_head = block_.GetBool("tied_head");
    const bool is_gpt = family == ir::ModelFamily::kGpt;
    model.qkv_bias = block_.Has("qkv_bias") ? block_.GetBool("qkv_bias") : is_gpt;
    model.norm = *ir::ValueOf(ir::kNormPlacements, block_.GetText("norm"));
    model.activation = is_gpt ? ir::Activation::kGelu : ir::Activation::kSilu;
    if (block_.Has("activation")) model.activation = *ir::ValueOf(ir::kActivations, block_.GetText("activation"));
    if (is_gpt) {
      model.position_rows = block_.GetIntOr("position_rows", model.seq_len);
    } else {
      model.kv_heads = block_.GetIntOr("kv_heads", model.heads);
      model.head_dim = block_.GetIntOr("head_dim", model.hidden / model.heads);
      model.qk_norm = block_.GetBool("qk_norm");
    }
    return model;
  }

 private:
  bool AttributesOfGpt() {
    return Refuse("kv_heads", block_.Has("kv_heads"), "llama") && Refuse("head_dim", block_.Has("head_dim"), "llama") &&
           Refuse("qk_norm", block_.GetBool("qk_norm"), "llama") && Refuse("activation", ActivationIs("silu"), "llama");
  }

  bool AttributesOfLlama() {
    return Refuse("position_rows", block_.Has("position_rows"), "gpt") &&
           Refuse("embedding_width", block_.Has("embedding_width"), "gpt") &&
           Refuse("norm", block_.GetText("norm") == "post", "gpt") &&
           Refuse("activation", block_.Has("activation") && !ActivationIs("silu"), "gpt");
  }

  bool ShapeOfGpt() {
    const int64_t seq_len = block_.GetInt("seq_len");
    const int64_t rows = block_.GetIntOr("position_rows", seq_len);
    if (!HeadsDivideHidden()) return false;
    if (rows >= seq_len) return true;
    return Report("position_rows",
                  absl::StrCat("sequences of ", seq_len, " tokens need as many position rows, not ", rows), "seq_len");
  }

  bool ShapeOfLlama() {
    const int64_t heads = block_.GetInt("heads");
    const int64_t kv_heads = block_.GetIntOr("kv_heads", heads);
    if (!block_.Has("feed_forward")) {
      return Report("family", "family llama needs `feed_forward`: its inner width follows from no other attribute",
                    "hidden");
    }
    if (!block_.Has("head_dim") && !HeadsDivideHidden()) return false;
    if (heads % kv_heads != 0) {
      return Report("kv_heads", absl::StrCat(heads, " heads cannot be divided among ", kv_heads, " key-value heads"),
                    "heads");
    }
    const int64_t head_dim = block_.GetIntOr("head_dim", block_.GetInt("hidden") / heads);
    if (head_dim % 2 != 0) {
      return Report("head_dim", absl::StrCat("rotary positions turn pairs; a head is ", head_dim, " wide"), "heads");
    }
    if (head_dim <= kLargestAttention / heads) return true;
    return Report("head_dim",
                  absl::StrCat(heads, " heads of ", head_dim, " are more than ", kLargestAttention, " wide"), "heads");
  }

  bool HeadsDivideHidden() {
    const int64_t hidden = block_.GetInt("hidden");
    const int64_t heads = block_.GetInt("heads");
    if (hidden % heads == 0) return true;
    return Report("heads", absl::StrCat("hidden ", hidden, " cannot be divided into ", heads, " heads"), "hidden");
  }

  bool ActivationIs(absl::string_view word) const {
    return block_.Has("activation") && block_.GetText("activation") == word;
  }

  // True unless `is_refused`: what was written belongs to another family.
  bool Refuse(const char* attribute, bool is_refused, absl::string_view owner) {
    if (!is_refused) return true;
    const std::string written = absl::string_view(attribute) == "activation" || absl::string_view(attribute) == "norm"
                                    ? absl::StrCat(attribute, " = ", block_.GetText(attribute))
                                    : attribute;
    return Report(attribute,
                  absl::StrCat("`", written, "` is of family ", owner, ", not of ", block_.GetText("family")), "family",
                  {absl::StrCat("remove it, or write `family = ", owner, "`")});
  }

  bool Report(const char* attribute, std::string message, const char* other, std::vector<std::string> helps = {}) {
    sink_.Report({.code = DiagnosticCode::kModelShape,
                  .message = std::move(message),
                  .primary = {block_.RangeOf(attribute), ""},
                  .secondary = {{block_.RangeOf(other), ""}},
                  .notes = {},
                  .helps = std::move(helps)});
    return false;
  }

  const CheckedBlock& block_;
  DiagnosticSink& sink_;
};

}  // namespace

std::optional<ir::Model> LowerModel(const CheckedBlock& block, DiagnosticSink& sink) {
  return ModelLowering(block, sink).Lower();
}

}  // namespace sail
