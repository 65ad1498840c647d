#include "runtime/model/parameter_spec.h"

#include <cmath>
#include <set>

#include "gtest/gtest.h"
#include "tests/support/builders.h"

namespace sail::rt {
namespace {

int64_t Elements(const ParameterSpec& spec) {
  int64_t product = 1;
  for (const int64_t extent : spec.shape) product *= extent;
  return product;
}

ir::Model Variant(bool tied, bool qkv_bias, int64_t extra_positions) {
  ir::Model model = test::TinyModel();
  model.tied_head = tied;
  model.qkv_bias = qkv_bias;
  model.position_rows = model.seq_len + extra_positions;
  return model;
}

TEST(ParameterSpec, CountsAreThoseOfTheModel) {
  for (const ir::Model& model : {Variant(true, true, 0), Variant(false, true, 2), Variant(true, false, 2)}) {
    for (int layer = 0; layer < model.layer_count(); ++layer) {
      int64_t sharded = 0;
      int64_t replicated = 0;
      for (const ParameterSpec& spec : ParametersOfLayer(model, layer)) {
        (spec.cut_dim < 0 ? replicated : sharded) += Elements(spec);
      }
      const ir::LayerParameters expected = ir::ParametersOnRank(model, model.kind(layer), 1, 1);
      EXPECT_EQ(sharded, expected.sharded) << "layer " << layer;
      EXPECT_EQ(replicated, expected.replicated) << "layer " << layer;
    }
  }
}

TEST(ParameterSpec, Gpt2SmallHasThePublishedCount) {
  ir::Model model = test::TinyModel();
  model.blocks = 12;
  model.hidden = model.embedding_width = 768;
  model.heads = 12;
  model.feed_forward = 3072;
  model.seq_len = model.position_rows = 1024;
  model.vocab = 50257;
  std::set<std::string> names;
  int64_t count = 0;
  for (int layer = 0; layer < model.layer_count(); ++layer) {
    for (const ParameterSpec& spec : ParametersOfLayer(model, layer)) {
      if (names.insert(spec.name).second) count += Elements(spec);  // the tied head repeats the table
    }
  }
  EXPECT_EQ(count, 124'439'808);
}

TEST(ParameterSpec, TiedHeadNamesTheEmbeddingTable) {
  const ir::Model model = test::TinyModel();
  const ParameterSpec first = ParametersOfLayer(model, 0).front();
  const ParameterSpec last = ParametersOfLayer(model, model.layer_count() - 1).back();
  EXPECT_EQ(first.name, last.name);
  EXPECT_EQ(first.scope, ir::GradientScope::kTiedEmbedding);
  EXPECT_EQ(last.scope, ir::GradientScope::kTiedEmbedding);
  EXPECT_EQ(last.layer, 0);
}

TEST(InitialValues, DependOnSeedNameAndIndex) {
  ParameterSpec spec{.name = "a", .shape = {100}, .initial = Initial::kNormal, .deviation = 0.02};
  ParameterSpec other = spec;
  other.name = "b";
  EXPECT_EQ(InitialValues(spec, 1).At(7), InitialValues(spec, 1).At(7));
  EXPECT_NE(InitialValues(spec, 1).At(7), InitialValues(spec, 1).At(8));
  EXPECT_NE(InitialValues(spec, 1).At(7), InitialValues(spec, 2).At(7));
  EXPECT_NE(InitialValues(spec, 1).At(7), InitialValues(other, 1).At(7));
}

TEST(InitialValues, AreNormal) {
  // 100 000 draws with deviation 2: the mean has standard error 2/√n = 0.0063, the variance 4·√(2/n) = 0.018, and the
  // share within one deviation, 0.6827, has 0.0015; each is allowed four of them.
  const InitialValues values({.name = "x", .shape = {1}, .initial = Initial::kNormal, .deviation = 2.0}, 3);
  constexpr int kDraws = 100'000;
  double sum = 0, squares = 0;
  int within = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = values.At(i);
    sum += x;
    squares += x * x;
    within += std::abs(x) < 2 ? 1 : 0;
  }
  EXPECT_NEAR(sum / kDraws, 0, 0.026);
  EXPECT_NEAR(squares / kDraws, 4, 0.072);
  EXPECT_NEAR(within / static_cast<double>(kDraws), 0.6827, 0.006);
}

TEST(InitialValues, ResidualProjectionsAreSmaller) {
  // 0.02 / sqrt(2 · 4 blocks) = 0.00707.
  for (const ParameterSpec& spec : ParametersOfLayer(test::TinyModel(), 1)) {
    if (spec.initial != Initial::kNormal) continue;
    const bool is_residual = spec.name == "h.0.attn.proj.weight" || spec.name == "h.0.mlp.down.weight";
    EXPECT_NEAR(spec.deviation, is_residual ? 0.0070711 : 0.02, 1e-7) << spec.name;
  }
}

}  // namespace
}  // namespace sail::rt
