#include "compiler/ir/model.h"

#include "compiler/base/check.h"

namespace sail::ir {

int64_t PaddedVocab(const Model& model, int multiple) { return (model.vocab + multiple - 1) / multiple * multiple; }

// Derivations (h hidden, f feed-forward, v padded vocabulary, e embedding width, p position rows, t tensor degree):
//   embedding  word table v·e sharded by rows; positions p·h replicated; e->h projection replicated when e != h.
//   block      two norms 4h replicated; qkv weight 3h² and bias 3h sharded by heads; attention output weight h² sharded
//              by rows, bias h replicated; up weight h·f and bias f sharded; down weight f·h sharded, bias h
//              replicated.
//   head       final norm 2h replicated (pre-norm only); h->e projection replicated when e != h; table v·e sharded.
LayerParameters ParametersOnRank(const Model& model, LayerKind kind, int tensor, int vocab_multiple) {
  const int64_t h = model.hidden;
  const int64_t f = model.feed_forward;
  const int64_t table = PaddedVocab(model, vocab_multiple) * model.embedding_width;
  const int64_t projection = model.embedding_width == h ? 0 : h * model.embedding_width;
  switch (kind) {
    case LayerKind::kEmbedding:
      return {.sharded = table / tensor, .replicated = model.position_rows * h + projection};
    case LayerKind::kHead:
      return {.sharded = table / tensor, .replicated = (model.norm == NormPlacement::kPre ? 2 * h : 0) + projection};
    case LayerKind::kBlock: {
      const int64_t sharded = 4 * h * h + (model.qkv_bias ? 3 * h : 0) + 2 * h * f + f;
      return {.sharded = sharded / tensor, .replicated = 4 * h + 2 * h};
    }
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
  switch (kind) {
    case LayerKind::kEmbedding:
      return projection;
    case LayerKind::kBlock:
      return 2 * s * (4 * h * h + 2 * h * static_cast<double>(model.feed_forward)) + 4 * s * s * h;
    case LayerKind::kHead:
      return 2 * s * static_cast<double>(model.vocab) * e + projection;
  }
  SAIL_CHECK(false) << "layer kind " << static_cast<int>(kind);
}

}  // namespace sail::ir
