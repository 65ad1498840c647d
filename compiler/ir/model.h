// The neural network as the planner, the simulator and the runtime see it: a list of layers, the smallest units a plan
// can cut at. Layer 0 is the embedding, layers 1..blocks are transformer blocks, the last layer is final norm + head.
//
// Shapes:  hidden h, heads a of width d, key-value heads g, feed-forward f, sequence s (tokens), vocabulary v, word
// embedding width e (usually h). Attention is w = a·d wide, keys and values k = g·d each.
// Parameter counts are exact (docs/models.md derives them); all counts are of parameters, not bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace sail::ir {

// gpt: learned positions, layer norms with bias, inner layer of two matrices, biases.
// llama: rotary positions, RMS norms, gated inner layer of three matrices, grouped-query attention, no biases but those
// of queries, keys and values if asked for. e = h, pre-norm.
enum class ModelFamily { kGpt, kLlama };
enum class LayerKind { kEmbedding, kBlock, kHead };
enum class Activation { kGelu, kRelu, kSilu };
enum class NormPlacement { kPre, kPost };  // post: no final norm (OPT-350M)

absl::string_view ToString(LayerKind kind);  // "embedding", "block", "head"

struct Model {
  std::string name;
  ModelFamily family = ModelFamily::kGpt;
  int blocks = 0;
  int64_t hidden = 0;
  int64_t heads = 0;
  std::optional<int64_t> kv_heads;  // llama; absent: one for each head
  std::optional<int64_t> head_dim;  // llama; absent: hidden / heads
  int64_t feed_forward = 0;
  int64_t seq_len = 0;  // tokens a sample trains on (inputs = shifted targets = seq_len)
  int64_t vocab = 0;
  int64_t embedding_width = 0;  // e; when e != h there are e->h and h->e projections without bias
  int64_t position_rows = 0;    // of the learned table (seq_len for GPT-2, seq_len + 2 for OPT); llama: 0
  bool tied_head = true;        // head weight = word embedding
  bool qkv_bias = true;         // false for GPT-Neo and most of llama
  bool qk_norm = false;         // llama: an RMS norm of each query and key head (Qwen3)
  Activation activation = Activation::kGelu;
  NormPlacement norm = NormPlacement::kPre;

  int64_t head_width() const { return head_dim ? *head_dim : hidden / heads; }
  int64_t kv_head_count() const { return kv_heads.value_or(heads); }
  int64_t attention_width() const { return head_dim ? heads * *head_dim : hidden; }
  int64_t key_width() const { return kv_heads ? *kv_heads * head_width() : attention_width(); }  // and of the values
  int layer_count() const { return blocks + 2; }
  LayerKind kind(int layer) const {
    return layer == 0 ? LayerKind::kEmbedding : layer == blocks + 1 ? LayerKind::kHead : LayerKind::kBlock;
  }
  friend bool operator==(const Model&, const Model&) = default;
};

// Parameters of one layer on one rank of a tensor group of degree `tensor`, with the vocabulary padded to a multiple of
// `vocab_multiple` (a multiple of `tensor`). `sharded` is divided among the group, `replicated` is the same on each
// rank (norms, row-parallel biases, positions, e->h projections). Key-value heads are divided, never repeated. A tied
// head counts its copy of the word embedding here: that is what a rank holds when embedding and head live on different
// stages.
struct LayerParameters {
  int64_t sharded = 0;
  int64_t replicated = 0;
  int64_t total() const { return sharded + replicated; }
};
// Requires CanDivide(model, tensor).
LayerParameters ParametersOnRank(const Model& model, LayerKind kind, int tensor, int vocab_multiple);

// Parameters of the whole model, tied weights once, vocabulary not padded: the published count.
int64_t TotalParameters(const Model& model);

// Floating-point operations of one sample's forward pass through a layer, a multiply-add counted as two.
//   block: 2·s·(2hw + 2hk + n·hf) + 4·s²·w, n = 2 matrices, llama 3 (scores and their sum over values, not halved for
//          causality; rotation, norms and activation are memory traffic); for gpt 2·s·(4h² + 2hf) + 4·s²·h
//   head:  2·s·v·e (+ 2·s·h·e when e != h);   embedding: lookups are memory traffic, 0 (+ 2·s·e·h when e != h)
// Source: Narayanan et al. 2021, appendix; cross-checked in tests against 6·params·tokens.
double ForwardFlopsPerSample(const Model& model, LayerKind kind);

// Whether a tensor group of this degree can hold a block: it divides heads, key-value heads and the inner width.
bool CanDivide(const Model& model, int64_t tensor);

// Smallest multiple of `multiple` that holds the vocabulary.
int64_t PaddedVocab(const Model& model, int multiple);

}  // namespace sail::ir
