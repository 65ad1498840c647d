#include "compiler/ir/model.h"

#include "gtest/gtest.h"

namespace sail::ir {
namespace {

Model Gpt2() {
  return {.name = "gpt2",
          .blocks = 12,
          .hidden = 768,
          .heads = 12,
          .feed_forward = 3072,
          .seq_len = 1024,
          .vocab = 50257,
          .embedding_width = 768,
          .position_rows = 1024};
}

TEST(Model, Gpt2HasItsPublishedParameterCount) { EXPECT_EQ(TotalParameters(Gpt2()), 124'439'808); }

// Case params-buffers: causal masks are buffers of a checkpoint file, never parameters of the model.
TEST(Model, CausalMasksAreNoParameters) { EXPECT_NE(TotalParameters(Gpt2()), 137'022'720); }

TEST(Model, LayersAreEmbeddingBlocksHead) {
  EXPECT_EQ(Gpt2().layer_count(), 14);
  EXPECT_EQ(Gpt2().kind(0), LayerKind::kEmbedding);
  EXPECT_EQ(Gpt2().kind(12), LayerKind::kBlock);
  EXPECT_EQ(Gpt2().kind(13), LayerKind::kHead);
}

// Shards and replicas of any degree hold the same parameters as one rank: degree · sharded + replicated.
TEST(Model, ShardsAddUpToTheLayer) {
  const LayerParameters whole = ParametersOnRank(Gpt2(), LayerKind::kBlock, 1, 1);
  for (const int degree : {2, 4}) {
    const LayerParameters part = ParametersOnRank(Gpt2(), LayerKind::kBlock, degree, degree);
    EXPECT_EQ(part.sharded * degree + part.replicated, whole.total());
  }
}

// Case vocab-250682-8.
TEST(PaddedVocab, RoundsUpToTheDegree) {
  Model model = Gpt2();
  model.vocab = 250'682;
  EXPECT_EQ(PaddedVocab(model, 8), 250'688);
}

// Case vocab-double: a vocabulary that already divides is not padded again.
TEST(PaddedVocab, LeavesADivisibleVocabularyAlone) {
  Model model = Gpt2();
  model.vocab = 151'936;
  EXPECT_EQ(PaddedVocab(model, 2), 151'936);
  EXPECT_EQ(ParametersOnRank(model, LayerKind::kEmbedding, 2, 2).sharded, 75'968 * 768);
}

// A forward pass costs about 2 · parameters · tokens (Kaplan et al. 2020); attention scores add s/(6h) of it.
TEST(ForwardFlops, AgreesWithTwoFlopsPerParameterAndToken) {
  const Model model = Gpt2();
  double flops = ForwardFlopsPerSample(model, LayerKind::kHead);
  for (int i = 0; i < model.blocks; ++i) flops += ForwardFlopsPerSample(model, LayerKind::kBlock);
  const double scores = 12 * 4.0 * 1024 * 1024 * 768;
  const double by_parameters = 2.0 * static_cast<double>(TotalParameters(model) - 1024 * 768) * 1024;
  EXPECT_NEAR((flops - scores) / by_parameters, 1.0, 0.001);
}

}  // namespace
}  // namespace sail::ir
