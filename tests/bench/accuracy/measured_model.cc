#include "tests/bench/accuracy/measured_model.h"

#include "absl/strings/str_cat.h"
#include "compiler/base/status_macros.h"
#include "simulator/import_profile.h"

namespace sail::bench {

absl::StatusOr<ir::Model> ModelOf(const sim::PublicModel& measured, int tensor) {
  SAIL_ASSIGN_OR_RETURN(ir::Model model, sim::ShapeOf(measured));
  const std::vector<sim::PublicLayerSize>* sizes = measured.Sizes(tensor);
  if (sizes == nullptr)
    return absl::InvalidArgumentError(absl::StrCat("no sizes of ", measured.name, " at tensor degree ", tensor));
  const int64_t rows = sizes->front().parameters / model.hidden;  // of the tables on one rank
  if (sim::HasVocabularyProduct(measured, model)) {
    model.vocab = (rows - model.position_rows) * tensor;
  } else {
    model.position_rows = rows - 1;
  }
  return model;
}

ir::Profile ProfileOf(const sim::PublicModel& model, const ir::Cluster& cluster, double step_traffic) {
  ir::Profile profile;
  for (size_t g = 0; g < cluster.gpus.size(); ++g) {
    for (const auto& [key, times] : model.times) {
      const std::vector<sim::PublicLayerSize>* sizes = model.Sizes(key.tensor);
      if (key.gpu != cluster.gpus[g].name || sizes == nullptr) continue;
      const auto set = [&](ir::LayerKind kind, const sim::PublicLayerTime& time, const sim::PublicLayerSize& size) {
        const double traffic = step_traffic * static_cast<double>(size.parameters);
        profile.Set(
            {.kind = kind, .gpu = ir::GpuId(static_cast<int>(g)), .tensor = key.tensor, .micro_batch = key.micro_batch},
            {.forward = Seconds(time.forward),
             .backward = Seconds(time.backward),
             .optimizer = Seconds(traffic / cluster.gpus[g].memory_bandwidth->value()),
             .provenance = ir::Provenance::kMeasured,
             .activations = Bytes(4 * size.kept * key.micro_batch)});
      };
      const int block = model.block_layer();
      set(ir::LayerKind::kEmbedding, times[0], (*sizes)[0]);
      set(ir::LayerKind::kBlock, times[block], (*sizes)[block]);
      set(ir::LayerKind::kHead, model.Head(times), model.Head(*sizes));
    }
  }
  return profile;
}

}  // namespace sail::bench
