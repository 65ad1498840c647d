// The parameters of each layer by name: shapes of the whole model, how they are cut, how they start. One list for
// model, gradient groups, optimizer and tests. No LibTorch here.
//
// Of the gpt family, with hidden h, feed-forward f, vocabulary v, position rows p (block i, counted from 0):
//   layer      name                          shape     cut along
//   embedding  wte.weight                    [v, h]    0  (padded to a multiple of the layer's shards; padding is zero)
//              wpe.weight                    [p, h]    -
//   block      h.i.ln_1.{weight,bias}        [h]       -
//              h.i.attn.qkv.{weight,bias}    [3, h, h], [3, h]   1: heads, whole heads stay together
//              h.i.attn.proj.{weight,bias}   [h, h], [h]         1, -
//              h.i.ln_2.{weight,bias}        [h]       -
//              h.i.mlp.up.{weight,bias}      [f, h], [f]         0, 0
//              h.i.mlp.down.{weight,bias}    [h, f], [h]         1, -
//   head       ln_f.{weight,bias}            [h]       -
//              lm_head.weight                [v, h]    0; when tied: wte.weight instead
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ir/model.h"
#include "compiler/ir/placement.h"

namespace sail::rt {

enum class Initial { kZero, kOne, kNormal };

struct ParameterSpec {
  std::string name;
  ir::GradientScope scope = ir::GradientScope::kLayerReplicated;
  int layer = 0;               // of its gradient group: a tied head names the embedding layer here
  std::vector<int64_t> shape;  // whole, vocabulary not padded
  int cut_dim = -1;            // -1: every tensor rank holds it whole
  Initial initial = Initial::kZero;
  double deviation = 0;  // standard deviation of kNormal
  bool decays = false;   // weight decay applies: matrices, not norms and biases
};

// In the order of the table. Requires a model that CheckTrainable accepts.
std::vector<ParameterSpec> ParametersOfLayer(const ir::Model& model, int layer);

// The initial value of one element, a function of (seed, name, index in the whole row-major tensor) alone: no plan,
// rank or order of evaluation enters. GPT-2's distribution: normal with deviation 0.02, divided by sqrt(2·blocks) for
// the two projections that add to the residual stream.
class InitialValues {
 public:
  InitialValues(const ParameterSpec& spec, uint64_t seed);
  double At(int64_t index) const;

 private:
  Initial initial_;
  double deviation_;
  uint64_t key_;
};

}  // namespace sail::rt
