#include "compiler/ir/model.h"

#include "compiler/base/check.h"

namespace sail::ir {
namespace {

// Matrices of h × f: up and down; with a gate beside up in llama.
int64_t InnerMatrices(const Model& model) { return model.family == ModelFamily::kLlama ? 3 : 2; }

// Weights of queries, keys, values and output (h·w, 2·h·k, w·h), sharded by heads.
int64_t AttentionWeights(const Model& model) {
  return 2 * model.hidden * (model.attention_width() + model.key_width());
}

LayerParameters BlockParameters(const Model& model, int tensor) {
  const int64_t h = model.hidden;
  const int64_t f = model.feed_forward;
  int64_t sharded = AttentionWeights(model) + InnerMatrices(model) * h * f;
  if (model.qkv_bias) sharded += model.attention_width() + 2 * model.key_width();
  if (model.family == ModelFamily::kLlama) {
    return {.sharded = sharded / tensor, .replicated = 2 * h + (model.qk_norm ? 2 * model.head_width() : 0)};
  }
  return {.sharded = (sharded + f) / tensor, .replicated = 4 * h + 2 * h};
}

}  // namespace

bool CanDivide(const Model& model, int64_t tensor) {
  return model.heads % tensor == 0 && model.kv_head_count() % tensor == 0 && model.feed_forward % tensor == 0;
}

int64_t PaddedVocab(const Model& model, int multiple) { return (model.vocab + multiple - 1) / multiple * multiple; }

// Derivations (h hidden, w attention, k keys, d head width, f feed-forward, v padded vocabulary, e embedding width,
// p position rows, t tensor degree). gpt has w = k = h:
//   embedding  word table v·e sharded by rows; positions p·h replicated; e->h projection replicated when e != h.
//   block      two norms 4h replicated; qkv weight 3h² and bias 3h sharded by heads; attention output weight h² sharded
//              by rows, bias h replicated; up weight h·f and bias f sharded; down weight f·h sharded, bias h
//              replicated.
//   head       final norm 2h replicated (pre-norm only); h->e projection replicated when e != h; table v·e sharded.
// llama, p = 0 and e = h:
//   block      two norm weights 2h replicated, two of query and key heads 2d; q weight h·w, k and v weights h·k, output
//              weight w·h, biases w + 2k if any, sharded by heads; gate and up h·f, down f·h sharded.
//   head       final norm h replicated; table v·h sharded.
LayerParameters ParametersOnRank(const Model& model, LayerKind kind, int tensor, int vocab_multiple) {
  const int64_t h = model.hidden;
  const int64_t final_norm = model.norm == NormPlacement::kPost ? 0 : model.family == ModelFamily::kLlama ? h : 2 * h;
  const int64_t table = PaddedVocab(model, vocab_multiple) * model.embedding_width;
  const int64_t projection = model.embedding_width == h ? 0 : h * model.embedding_width;
  switch (kind) {
    case LayerKind::kEmbedding:
      return {.sharded = table / tensor, .replicated = model.position_rows * h + projection};
    case LayerKind::kHead:
      return {.sharded = table / tensor, .replicated = final_norm + projection};
    case LayerKind::kBlock:
      return BlockParameters(model, tensor);
  }
  SAIL_CHECK(false) << "layer kind " << static_cast<int>(kind);
}

int64_t TotalParameters(const Model& model) {
  const int64_t embedding = ParametersOnRank(model, LayerKind::kEmbedding, 1, 1).total();
  const int64_t block = ParametersOnRank(model, LayerKind::kBlock, 1, 1).total();
  const int64_t head = ParametersOnRank(model, LayerKind::kHead, 1, 1).total();
  const int64_t tied = model.tied_head ? model.vocab * model.embedding_width : 0;
  return embedding + model.blocks * block + head - tied;
}

double ForwardFlopsPerSample(const Model& model, LayerKind kind) {
  const double s = static_cast<double>(model.seq_len);
  const double h = static_cast<double>(model.hidden);
  const double e = static_cast<double>(model.embedding_width);
  const double projection = model.embedding_width == model.hidden ? 0 : 2 * s * h * e;
  const auto weights =
      static_cast<double>(AttentionWeights(model) + InnerMatrices(model) * model.hidden * model.feed_forward);
  switch (kind) {
    case LayerKind::kEmbedding:
      return projection;
    case LayerKind::kBlock:
      return 2 * s * weights + 4 * s * s * static_cast<double>(model.attention_width());
    case LayerKind::kHead:
      return 2 * s * static_cast<double>(model.vocab) * e + projection;
  }
  SAIL_CHECK(false) << "layer kind " << static_cast<int>(kind);
}

}  // namespace sail::ir
