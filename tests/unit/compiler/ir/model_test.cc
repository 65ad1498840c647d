#include "compiler/ir/model.h"

#include "compiler/ir/print.h"
#include "gtest/gtest.h"
#include "tests/support/builders.h"

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

// q 8·16, k and v 2·8·8, output 16·8: 384; gate, up and down 3·8·12 = 288; two norms 2·8.
TEST(Llama, CountsEachTensorOfABlock) {
  Model model = test::TinyLlama();
  const LayerParameters block = ParametersOnRank(model, LayerKind::kBlock, 1, 1);
  EXPECT_EQ(block.sharded, 672);
  EXPECT_EQ(block.replicated, 16);
  const LayerParameters half = ParametersOnRank(model, LayerKind::kBlock, 2, 2);
  EXPECT_EQ(half.sharded, 336);
  EXPECT_EQ(half.replicated, 16);
  model.qkv_bias = true;  // 16 + 8 + 8
  EXPECT_EQ(ParametersOnRank(model, LayerKind::kBlock, 1, 1).sharded, 672 + 32);
  model.qk_norm = true;  // one weight of a head for the queries, one for the keys
  EXPECT_EQ(ParametersOnRank(model, LayerKind::kBlock, 1, 1).replicated, 16 + 8);
}

// Embedding 10·8, two blocks of 688, final norm 8, head 10·8; no positions.
TEST(Llama, TiedHeadCountsOnce) {
  Model model = test::TinyLlama();
  EXPECT_EQ(TotalParameters(model), 80 + 2 * 688 + 8 + 80);
  model.tied_head = true;
  EXPECT_EQ(TotalParameters(model), 80 + 2 * 688 + 8);
}

// Two operations for each of the 672 weights and 8 tokens; scores and values 4·8²·16; head 2·8·10·8.
TEST(Llama, FlopsCountTheWidthOfTheAttention) {
  const Model model = test::TinyLlama();
  EXPECT_EQ(ForwardFlopsPerSample(model, LayerKind::kBlock), 2 * 8 * 672 + 4096);
  EXPECT_EQ(ForwardFlopsPerSample(model, LayerKind::kHead), 1280);
  EXPECT_EQ(ForwardFlopsPerSample(model, LayerKind::kEmbedding), 0);
}

// A llama with a key-value head for each head, heads that make up hidden, and two thirds of the inner width has the
// matrices of a gpt.
TEST(Llama, WithoutItsDifferencesItHasTheMatricesOfAGpt) {
  Model llama = test::TinyLlama();
  llama.kv_heads.reset();
  llama.head_dim.reset();
  Model gpt = llama;
  gpt.family = ModelFamily::kGpt;
  gpt.feed_forward = 18;
  EXPECT_EQ(ForwardFlopsPerSample(llama, LayerKind::kBlock), ForwardFlopsPerSample(gpt, LayerKind::kBlock));
}

TEST(Llama, KeyValueHeadsAreNotDividedFurther) {
  Model model = test::TinyLlama();
  EXPECT_TRUE(CanDivide(model, 2));
  EXPECT_FALSE(CanDivide(model, 4));
  model.kv_heads = 4;
  EXPECT_TRUE(CanDivide(model, 4));
  model.feed_forward = 10;
  EXPECT_FALSE(CanDivide(model, 4));
}

TEST(ModelJson, IsReadBack) {
  Model llama = test::TinyLlama();
  llama.qk_norm = true;
  for (const Model& model : {Gpt2(), llama}) {
    const absl::StatusOr<Model> read = ParseModel(ToJson(model), "m");
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(*read, model);
  }
  EXPECT_FALSE(ToJson(Gpt2()).contains("kv_heads"));
}

TEST(ModelJson, ImpossibleShapesAreRefused) {
  for (const auto& [field, value] :
       {std::pair("kv_heads", 3), std::pair("kv_heads", 0), std::pair("head_dim", 0), std::pair("head_dim", 1 << 23),
        std::pair("position_rows", 8), std::pair("embedding_width", 4)}) {
    Json json = ToJson(test::TinyLlama());
    json[field] = value;
    EXPECT_FALSE(ParseModel(json, "m").ok()) << field << " " << value;
  }
  Json gpt = ToJson(Gpt2());
  gpt["activation"] = "silu";
  EXPECT_FALSE(ParseModel(gpt, "m").ok());
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
