#include "simulator/import_profile.h"

#include <cmath>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/status_macros.h"

namespace sail::sim {
namespace {

constexpr int kFloatBytes = 4;
constexpr int kProfiledBlocks = 2;  // of the model that was profiled

absl::Status NoGpt(const PublicModel& model, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("model ", model.name, " is not a gpt: ", why));
}

// h from 12h² + k·h parameters, 9 ≤ k ≤ 13: two norms, and biases of which some models lack some. 0: there is none.
int64_t HiddenOf(int64_t parameters) {
  const auto hidden = static_cast<int64_t>(std::sqrt(static_cast<double>(parameters) / 12));
  const int64_t vectors = hidden == 0 ? 0 : (parameters - 12 * hidden * hidden) / hidden;
  const bool fits = hidden > 0 && (parameters - 12 * hidden * hidden) % hidden == 0 && vectors >= 9 && vectors <= 13;
  return fits ? hidden : 0;
}

// What tensor parallelism divides of a token's kept floats is c·h + a·s, and next to nothing besides; c is 8 to 14 in
// known implementations.
int64_t HeadsOf(int64_t divided, int64_t hidden, int64_t seq_len) {
  const int64_t tolerance = hidden / 50;
  for (const int64_t width : {64, 80, 96, 128, 256}) {
    if (hidden % width != 0) continue;
    const int64_t rest = divided - hidden / width * seq_len + tolerance;
    if (rest >= 8 * hidden && rest % hidden <= 2 * tolerance) return hidden / width;
  }
  return 0;
}

Json EntryOf(absl::string_view layer, const PublicModel::Key& key, const PublicLayerTime& time,
             const PublicLayerSize* size, double share) {
  Json entry = {{"layer", std::string(layer)}, {"tensor", key.tensor},        {"micro_batch", key.micro_batch},
                {"forward_s", time.forward},   {"backward_s", time.backward}, {"optimizer_s", time.update * share}};
  if (size != nullptr) entry["activation_bytes"] = size->kept * kFloatBytes * key.micro_batch;
  return entry;
}

// The three entries of one degree and micro-batch.
void AddEntries(const PublicModel& model, const PublicModel::Key& key, const std::vector<PublicLayerTime>& times,
                Json& entries) {
  const std::vector<PublicLayerSize>* sizes = model.Sizes(key.tensor);
  const int block = model.block_layer();
  if (sizes == nullptr) {
    entries.push_back(EntryOf("embedding", key, times[0], nullptr, 0));
    entries.push_back(EntryOf("block", key, times[block], nullptr, 0));
    entries.push_back(EntryOf("head", key, model.Head(times), nullptr, 0));
    return;
  }
  const PublicLayerSize head = model.Head(*sizes);
  const PublicLayerSize& embedding = sizes->front();
  const auto total =
      static_cast<double>(embedding.parameters + kProfiledBlocks * (*sizes)[block].parameters + head.parameters);
  const auto share = [&](const PublicLayerSize& size) {
    return total > 0 ? static_cast<double>(size.parameters) / total : 0;
  };
  entries.push_back(EntryOf("embedding", key, times[0], &embedding, share(embedding)));
  entries.push_back(EntryOf("block", key, times[block], &(*sizes)[block], share((*sizes)[block])));
  entries.push_back(EntryOf("head", key, model.Head(times), &head, share(head)));
}

// Rows of the word table, also where ShapeOf counts them as positions.
int64_t VocabularyOf(const ir::Model& shape) { return shape.vocab + shape.position_rows - shape.seq_len; }

std::vector<std::string> NotesOf(const PublicModel& model, const ir::Model& shape, const std::set<int>& odd_degrees,
                                 const std::set<int>& without_sizes) {
  std::vector<std::string> notes = {
      absl::StrCat("block is layer ", model.block_layer(), "; the other ", model.blocks - 1,
                   " are dropped: layer 1 was measured by itself, later ones repeat layer 2"),
      absl::StrCat("optimizer_s is the update of a model of ", kProfiledBlocks,
                   " blocks, divided among its layers by parameters"),
      absl::StrCat("vocab ", VocabularyOf(shape), " is the padded vocabulary that was profiled, the head is not tied")};
  if (!HasVocabularyProduct(model, shape)) {
    notes.push_back("the head that was profiled is a norm without a product with the vocabulary: its times lack that");
  }
  if (!odd_degrees.empty()) {
    notes.push_back(absl::StrCat("dropped tensor degree ", absl::StrJoin(odd_degrees, ", "), ": no power of two"));
  }
  if (!without_sizes.empty()) {
    notes.push_back(absl::StrCat("tensor degree ", absl::StrJoin(without_sizes, ", "),
                                 " has no sizes: its entries have no activation_bytes and optimizer_s 0"));
  }
  return notes;
}

}  // namespace

absl::StatusOr<ir::Model> ShapeOf(const PublicModel& model) {
  const std::vector<PublicLayerSize>* whole = model.Sizes(1);
  const std::vector<PublicLayerSize>* halves = model.Sizes(2);
  if (whole == nullptr || halves == nullptr) return NoGpt(model, "its sizes at degree 1 and 2 are needed");
  const int block = model.block_layer();
  const PublicLayerSize& size = (*whole)[block];
  const int64_t hidden = HiddenOf(size.parameters);
  if (hidden == 0) return NoGpt(model, absl::StrCat("a block has ", size.parameters, " parameters"));
  if (size.output == 0 || size.output % hidden != 0) {
    return NoGpt(model, absl::StrCat("a block puts out ", size.output, " floats, hidden is ", hidden));
  }
  const int64_t seq_len = size.output / hidden;
  const int64_t rows = whole->front().parameters / hidden;  // of tables in the embedding
  if (rows <= seq_len || whole->front().parameters % hidden != 0) {
    return NoGpt(model, absl::StrCat("its embedding has ", whole->front().parameters, " parameters"));
  }
  const int64_t heads = HeadsOf(2 * (size.kept - (*halves)[block].kept) / seq_len, hidden, seq_len);
  if (heads == 0)
    return NoGpt(model, absl::StrCat("a block keeps ", size.kept, " floats, of which no number of heads follows"));
  ir::Model shape{.name = PublicName(model.name),
                  .blocks = model.blocks,
                  .hidden = hidden,
                  .heads = heads,
                  .feed_forward = 4 * hidden,
                  .seq_len = seq_len,
                  .vocab = rows - seq_len,
                  .embedding_width = hidden,
                  .position_rows = seq_len,
                  .tied_head = false};
  if (!HasVocabularyProduct(model, shape)) {
    shape.vocab = 1;
    shape.position_rows = rows - 1;
  }
  return shape;
}

bool HasVocabularyProduct(const PublicModel& model, const ir::Model& shape) {
  constexpr int64_t kVectors = 4;  // a norm has two
  return model.Head(*model.Sizes(1)).parameters > kVectors * shape.hidden;
}

absl::StatusOr<ImportedProfile> ImportProfile(const PublicModel& model, absl::string_view gpu) {
  SAIL_ASSIGN_OR_RETURN(const ir::Model shape, ShapeOf(model));
  Json entries = Json::array();
  std::set<int> odd_degrees;
  std::set<int> without_sizes;
  std::set<std::string> gpus;
  for (const auto& [key, times] : model.times) {
    gpus.insert(key.gpu);
    if (key.gpu != PublicName(gpu)) continue;
    if ((key.tensor & (key.tensor - 1)) != 0) {
      odd_degrees.insert(key.tensor);
      continue;
    }
    if (model.Sizes(key.tensor) == nullptr) without_sizes.insert(key.tensor);
    AddEntries(model, key, times, entries);
  }
  if (entries.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("model ", model.name, " was not measured on ", gpu, ", it was on ", absl::StrJoin(gpus, ", ")));
  }
  const Json file = {{"format", "1.0"},
                     {"kind", "sailprofile"},
                     {"gpu", PublicName(gpu)},
                     {"precision", "fp32"},
                     {"model",
                      {{"hidden", shape.hidden},
                       {"heads", shape.heads},
                       {"feed_forward", shape.feed_forward},
                       {"seq_len", shape.seq_len},
                       {"vocab", VocabularyOf(shape)},
                       {"embedding_width", shape.embedding_width}}},
                     {"entries", std::move(entries)}};
  return ImportedProfile{DumpJson(file), NotesOf(model, shape, odd_degrees, without_sizes)};
}

}  // namespace sail::sim
