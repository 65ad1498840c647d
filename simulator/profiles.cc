#include "simulator/profiles.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/base/json.h"
#include "compiler/base/status_macros.h"
#include "compiler/ir/names.h"
#include "simulator/compute_cost.h"

namespace sail::sim {
namespace {

constexpr absl::string_view kFormat = "1.0";
constexpr absl::string_view kKind = "sailprofile";

absl::Status CheckText(absl::string_view name, absl::string_view field, absl::string_view found,
                       absl::string_view expected) {
  if (found == expected) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("profile '", name, "': ", field, " is \"", found, "\", expected \"", expected, "\""));
}

// Times hold for one shape of layers; the number of blocks and what is tied do not matter to a single layer.
absl::Status CheckModelShape(const Json& json, absl::string_view name, const ir::Model& model) {
  ObjectReader reader(json, absl::StrCat("profile '", name, "': model"));
  std::vector<std::pair<const char*, int64_t>> fields = {
      {"hidden", model.hidden},   {"heads", model.heads}, {"feed_forward", model.feed_forward},
      {"seq_len", model.seq_len}, {"vocab", model.vocab}, {"embedding_width", model.embedding_width}};
  if (model.family == ir::ModelFamily::kLlama) {
    fields.emplace_back("kv_heads", model.kv_head_count());
    fields.emplace_back("head_dim", model.head_width());
  }
  for (const auto& [field, expected] : fields) {
    int64_t measured = expected;
    reader.Get(field, &measured);
    if (measured != expected) {
      return absl::InvalidArgumentError(absl::StrCat("profile '", name, "' was measured for ", field, " ", measured,
                                                     ", model ", model.name, " has ", expected));
    }
  }
  return reader.Finish();
}

absl::Status AddEntry(const Json& json, const std::string& path, ir::GpuId gpu, ir::Profile& profile) {
  ObjectReader reader(json, path);
  std::string layer;
  ir::ProfileKey key{.gpu = gpu};
  double forward = 0;
  double backward = 0;
  double optimizer = 0;
  reader.Get("layer", &layer);
  reader.Get("tensor", &key.tensor);
  reader.Get("micro_batch", &key.micro_batch);
  reader.Get("forward_s", &forward);
  reader.Get("backward_s", &backward);
  reader.Get("optimizer_s", &optimizer);
  std::optional<int64_t> activations;
  if (reader.Has("activation_bytes")) reader.Get("activation_bytes", &activations.emplace());
  SAIL_RETURN_IF_ERROR(reader.Finish());
  const std::optional<ir::LayerKind> kind = ir::ValueOf(ir::kLayerKinds, layer);
  if (!kind) return absl::InvalidArgumentError(absl::StrCat(path, ".layer: unknown layer \"", layer, "\""));
  key.kind = *kind;
  // Keys become indices of tables; no machine has more GPUs, no micro-batch more samples.
  constexpr int kLargestKey = 1 << 16;
  if (key.tensor < 1 || key.micro_batch < 1 || key.tensor > kLargestKey || key.micro_batch > kLargestKey) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": tensor and micro_batch must lie in 1..", kLargestKey));
  }
  const auto is_time = [](double seconds) { return seconds >= 0 && seconds < std::numeric_limits<double>::infinity(); };
  const bool needs_backward = key.kind != ir::LayerKind::kEmbedding;
  if (!is_time(forward) || !is_time(backward) || !is_time(optimizer) || forward == 0 ||
      (backward == 0 && needs_backward)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": times must be positive and finite (optimizer and an embedding's backward may be 0)"));
  }
  constexpr int64_t kMostBytes = int64_t{1} << 50;
  if (activations && (*activations < 0 || *activations > kMostBytes)) {
    return absl::InvalidArgumentError(absl::StrCat(path, ".activation_bytes must lie in 0..", kMostBytes));
  }
  if (profile.Find(key) != nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": a second entry for ", layer, ", tensor ", key.tensor, ", micro-batch ", key.micro_batch));
  }
  profile.Set(key, {.forward = Seconds(forward),
                    .backward = Seconds(backward),
                    .optimizer = Seconds(optimizer),
                    .provenance = ir::Provenance::kMeasured,
                    .activations = activations ? std::optional(Bytes(*activations)) : std::nullopt});
  return absl::OkStatus();
}

}  // namespace

absl::Status AddMeasuredProfile(absl::string_view text, absl::string_view name, ir::GpuId gpu, ir::Problem& problem) {
  SAIL_ASSIGN_OR_RETURN(const Json json, ParseJson(text, absl::StrCat("profile '", name, "'")));
  ObjectReader reader(json, absl::StrCat("profile '", name, "'"));
  std::string format;
  std::string kind;
  std::string gpu_name;
  std::string precision;
  reader.Get("format", &format);
  reader.Get("kind", &kind);
  reader.Get("gpu", &gpu_name);
  reader.Get("precision", &precision);
  const Json& shape = reader.Raw("model");
  const Json& entries = reader.Raw("entries");
  SAIL_RETURN_IF_ERROR(reader.Finish());
  SAIL_RETURN_IF_ERROR(CheckText(name, "format", format, kFormat));
  SAIL_RETURN_IF_ERROR(CheckText(name, "kind", kind, kKind));
  SAIL_RETURN_IF_ERROR(CheckText(name, "gpu", gpu_name, problem.cluster.gpus[gpu.index()].name));
  SAIL_RETURN_IF_ERROR(CheckText(name, "precision", precision, ir::ToString(problem.job.precision)));
  SAIL_RETURN_IF_ERROR(CheckModelShape(shape, name, problem.model));
  if (!entries.is_array() || entries.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("profile '", name, "': entries: expected a list with entries"));
  }
  ir::Profile profile = problem.profile;  // replaced only when the whole file is good
  for (size_t i = 0; i < entries.size(); ++i) {
    SAIL_RETURN_IF_ERROR(AddEntry(entries[i], absl::StrCat("profile '", name, "': entries[", i, "]"), gpu, profile));
  }
  problem.profile = std::move(profile);
  return absl::OkStatus();
}

namespace {

// What a problem asks of one gpu type.
struct GpuUse {
  int largest_node = 0;  // GPUs of its largest machine with quota
  std::vector<const ir::Machine*> machines;
};

std::vector<GpuUse> UsesOf(const ir::Cluster& cluster) {
  std::vector<GpuUse> uses(cluster.gpus.size());
  for (const ir::Pool& pool : cluster.pools) {
    if (pool.quota < 1) continue;
    const ir::Machine& machine = cluster.machines[pool.machine.index()];
    GpuUse& use = uses[machine.gpu.index()];
    use.largest_node = std::max(use.largest_node, machine.gpus_per_node);
    use.machines.push_back(&machine);
  }
  return uses;
}

// Profiles know gpu types, not machines: where machines of one gpu differ, the slowest that holds the group counts.
BytesPerSecond IntraNodeOf(const GpuUse& use, int tensor) {
  BytesPerSecond slowest(std::numeric_limits<double>::infinity());
  for (const ir::Machine* machine : use.machines) {
    if (machine->gpus_per_node >= tensor && machine->gpus_per_node > 1)
      slowest = std::min(slowest, machine->intra_node);
  }
  return slowest;
}

ir::LayerTime Interpolate(const ir::LayerTime& a, const ir::LayerTime& b, double share) {
  const auto between = [share](Seconds x, Seconds y) { return x + (y - x) * share; };
  std::optional<Bytes> kept;
  if (a.activations && b.activations) {
    const double more = share * static_cast<double>((*b.activations - *a.activations).value());
    kept = *a.activations + Bytes(static_cast<int64_t>(more));
  }
  return {.forward = between(a.forward, b.forward),
          .backward = between(a.backward, b.backward),
          .optimizer = between(a.optimizer, b.optimizer),
          .provenance = ir::Provenance::kMeasured,
          .activations = kept};
}

}  // namespace

absl::StatusOr<ir::LayerTime> MeasuredTime(const ir::Profile& measured, const ir::ProfileKey& key,
                                           const ir::Cluster& cluster) {
  // Keys are ordered by micro-batch last, so the neighbours of an absent key are its neighbours in the map.
  const auto above = measured.times().lower_bound(key);
  const auto is_same_layer = [&](const ir::ProfileKey& other) {
    return other.kind == key.kind && other.gpu == key.gpu && other.tensor == key.tensor;
  };
  if (above != measured.times().end() && above->first == key) return above->second;
  if (above != measured.times().end() && is_same_layer(above->first) && above != measured.times().begin()) {
    const auto below = std::prev(above);
    if (is_same_layer(below->first)) {
      const double span = above->first.micro_batch - below->first.micro_batch;
      return Interpolate(below->second, above->second, (key.micro_batch - below->first.micro_batch) / span);
    }
  }
  return measured.Get(key, cluster);
}

absl::Status CompleteProfile(ir::Problem& problem) {
  const std::vector<GpuUse> uses = UsesOf(problem.cluster);
  const ir::Profile measured = problem.profile;
  std::vector<bool> is_measured(uses.size(), false);
  for (const auto& [key, time] : measured.times()) {
    if (time.provenance == ir::Provenance::kMeasured) is_measured[key.gpu.index()] = true;
  }

  ir::Profile complete = measured;
  for (size_t g = 0; g < uses.size(); ++g) {
    const ir::GpuId gpu(static_cast<int>(g));
    for (const auto& [kind, name] : ir::kLayerKinds) {
      for (const int tensor : problem.job.tensor_degrees) {
        if (tensor > uses[g].largest_node) continue;
        for (const int micro_batch : problem.job.micro_batches) {
          const ir::ProfileKey key{.kind = kind, .gpu = gpu, .tensor = tensor, .micro_batch = micro_batch};
          if (is_measured[g]) {
            SAIL_ASSIGN_OR_RETURN(const ir::LayerTime time, MeasuredTime(measured, key, problem.cluster));
            complete.Set(key, time);
          } else {
            SAIL_ASSIGN_OR_RETURN(
                const ir::LayerTime time,
                DeriveLayerTime(problem.model, problem.job, problem.cluster.gpus[g], IntraNodeOf(uses[g], tensor),
                                {.kind = kind, .tensor = tensor, .micro_batch = micro_batch}));
            complete.Set(key, time);
          }
        }
      }
    }
  }
  problem.profile = std::move(complete);
  return absl::OkStatus();
}

}  // namespace sail::sim
