// The neural network as the planner, the simulator and the runtime see it: a list of layers, the smallest units a plan
// can cut at. Layer 0 is the embedding, layers 1..blocks are transformer blocks, the last layer is final norm + head.
//
// Shapes:  hidden h, heads a, feed-forward f, sequence s (tokens), vocabulary v, word embedding width e (usually h).
// Parameter counts are exact (docs/models.md derives them); all counts are of parameters, not bytes.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace sail::ir {

enum class ModelFamily { kGpt };
enum class LayerKind { kEmbedding, kBlock, kHead };
enum class Activation { kGelu, kRelu };
enum class NormPlacement { kPre, kPost };  // post: no final norm (OPT-350M)

absl::string_view ToString(LayerKind kind);  // "embedding", "block", "head"

struct Model {
  std::string name;
  ModelFamily family = ModelFamily::kGpt;
  int blocks = 0;
  int64_t hidden = 0;
  int64_t heads = 0;
  int64_t feed_forward = 0;
  int64_t seq_len = 0;         // tokens a sample trains on (inputs = shifted targets = seq_len)
  int64_t vocab = 0;
  int64_t embedding_width = 0; // e; when e != h there are e->h and h->e projections without bias
  int64_t position_rows = 0;   // rows of the learned position table (seq_len for GPT-2, seq_len + 2 for OPT)
  bool tied_head = true;       // head weight = word embedding
  bool qkv_bias = true;        // false for GPT-Neo
  Activation activation = Activation::kGelu;
  NormPlacement norm = NormPlacement::kPre;

  int layer_count() const { return blocks + 2; }
  LayerKind kind(int layer) const {
    return layer == 0 ? LayerKind::kEmbedding : layer == blocks + 1 ? LayerKind::kHead : LayerKind::kBlock;
  }
  friend bool operator==(const Model&, const Model&) = default;
};

// Parameters of one layer on one rank of a tensor group of degree `tensor`, with the vocabulary padded to a multiple of
// `vocab_multiple` (a multiple of `tensor`). `sharded` is divided among the group, `replicated` is the same on each rank
// (norms, row-parallel biases, positions, e->h projections). A tied head counts its copy of the word embedding here:
// that is what a rank holds when embedding and head live on different stages.
struct LayerParameters {
  int64_t sharded = 0;
  int64_t replicated = 0;
  int64_t total() const { return sharded + replicated; }
};
LayerParameters ParametersOnRank(const Model& model, LayerKind kind, int tensor, int vocab_multiple);

// Parameters of the whole model, tied weights once, vocabulary not padded: the published count.
int64_t TotalParameters(const Model& model);

// Floating-point operations of one sample's forward pass through a layer, a multiply-add counted as two.
//   block: 2·s·(4h² + 2hf) + 4·s²·h (scores and their sum over values, not halved for causality)
//   head:  2·s·v·e (+ 2·s·h·e when e != h);   embedding: lookups are memory traffic, 0 (+ 2·s·e·h when e != h)
// Source: Narayanan et al. 2021, appendix; cross-checked in tests against 6·params·tokens.
double ForwardFlopsPerSample(const Model& model, LayerKind kind);

// Smallest multiple of `multiple` that holds the vocabulary.
int64_t PaddedVocab(const Model& model, int multiple);

}  // namespace sail::ir
