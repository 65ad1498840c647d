#include "runtime/model/parameter_spec.h"

#include <cmath>
#include <numbers>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/check.h"
#include "compiler/base/rng.h"

namespace sail::rt {
namespace {

constexpr double kDeviation = 0.02;

// Collects the parameters of one layer.
class Lister {
 public:
  explicit Lister(int layer) : layer_(layer) {}

  void Matrix(std::string name, std::vector<int64_t> shape, int cut_dim, double deviation = kDeviation) {
    Add({.name = std::move(name),
         .shape = std::move(shape),
         .cut_dim = cut_dim,
         .initial = Initial::kNormal,
         .deviation = deviation,
         .decays = true});
  }
  void Bias(std::string name, std::vector<int64_t> shape, int cut_dim) {
    Add({.name = std::move(name), .shape = std::move(shape), .cut_dim = cut_dim, .initial = Initial::kZero});
  }
  void Norm(const std::string& name, int64_t hidden) {
    Add({.name = name + ".weight", .shape = {hidden}, .initial = Initial::kOne});
    Bias(name + ".bias", {hidden}, -1);
  }
  std::vector<ParameterSpec> Take() { return std::move(specs_); }

 private:
  void Add(ParameterSpec spec) {
    spec.layer = layer_;
    spec.scope = spec.cut_dim < 0 ? ir::GradientScope::kLayerReplicated : ir::GradientScope::kLayerSharded;
    specs_.push_back(std::move(spec));
  }

  int layer_;
  std::vector<ParameterSpec> specs_;
};

// The table is one parameter with one gradient group, wherever its copies lie.
void ListWordTable(const ir::Model& model, const std::string& name, Lister& list) {
  list.Matrix(name, {model.vocab, model.hidden}, 0);
}
void MarkTied(std::vector<ParameterSpec>& specs) {
  for (ParameterSpec& spec : specs) {
    if (spec.name != "wte.weight") continue;
    spec.scope = ir::GradientScope::kTiedEmbedding;
    spec.layer = 0;
  }
}

void ListBlock(const ir::Model& model, int block, Lister& list) {
  const int64_t h = model.hidden;
  const int64_t f = model.feed_forward;
  const std::string prefix = absl::StrCat("h.", block, ".");
  const double residual_deviation = kDeviation / std::sqrt(2.0 * model.blocks);
  list.Norm(prefix + "ln_1", h);
  list.Matrix(prefix + "attn.qkv.weight", {3, h, h}, 1);
  if (model.qkv_bias) list.Bias(prefix + "attn.qkv.bias", {3, h}, 1);
  list.Matrix(prefix + "attn.proj.weight", {h, h}, 1, residual_deviation);
  list.Bias(prefix + "attn.proj.bias", {h}, -1);
  list.Norm(prefix + "ln_2", h);
  list.Matrix(prefix + "mlp.up.weight", {f, h}, 0);
  list.Bias(prefix + "mlp.up.bias", {f}, 0);
  list.Matrix(prefix + "mlp.down.weight", {h, f}, 1, residual_deviation);
  list.Bias(prefix + "mlp.down.bias", {h}, -1);
}

}  // namespace

std::vector<ParameterSpec> ParametersOfLayer(const ir::Model& model, int layer) {
  Lister list(layer);
  switch (model.kind(layer)) {
    case ir::LayerKind::kEmbedding:
      ListWordTable(model, "wte.weight", list);
      list.Matrix("wpe.weight", {model.position_rows, model.hidden}, -1);
      break;
    case ir::LayerKind::kBlock:
      ListBlock(model, layer - 1, list);
      break;
    case ir::LayerKind::kHead:
      list.Norm("ln_f", model.hidden);
      ListWordTable(model, model.tied_head ? "wte.weight" : "lm_head.weight", list);
      break;
  }
  std::vector<ParameterSpec> specs = list.Take();
  if (model.tied_head) MarkTied(specs);
  return specs;
}

InitialValues::InitialValues(const ParameterSpec& spec, uint64_t seed)
    : initial_(spec.initial), deviation_(spec.deviation), key_(Mix64(Mix64(seed) ^ HashName(spec.name))) {}

double InitialValues::At(int64_t index) const {
  switch (initial_) {
    case Initial::kZero:
      return 0;
    case Initial::kOne:
      return 1;
    case Initial::kNormal: {
      // Box and Muller 1958; 1 - u lies in (0, 1], so its logarithm is finite.
      Rng rng(Mix64(key_ ^ static_cast<uint64_t>(index)));
      const double radius = std::sqrt(-2 * std::log(1 - rng.Uniform()));
      return deviation_ * radius * std::cos(2 * std::numbers::pi * rng.Uniform());
    }
  }
  SAIL_CHECK(false) << "initial " << static_cast<int>(initial_);
}

}  // namespace sail::rt
