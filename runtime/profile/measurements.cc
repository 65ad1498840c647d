#include "runtime/profile/measurements.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "compiler/base/check.h"
#include "compiler/base/json.h"
#include "compiler/base/status_macros.h"
#include "compiler/ir/names.h"

namespace sail::rt {
namespace {

// The gpus of pools with quota, in the order of the cluster.
std::vector<ir::GpuId> GpusInUse(const ir::Problem& problem) {
  std::set<ir::GpuId> used;
  for (size_t p = 0; p < problem.cluster.pools.size(); ++p) {
    const ir::PoolId pool(static_cast<int>(p));
    if (problem.cluster.pool(pool).quota > 0) used.insert(problem.cluster.gpu_id(pool));
  }
  return {used.begin(), used.end()};
}

std::string NamesOf(const ir::Problem& problem, const std::vector<ir::GpuId>& gpus) {
  return absl::StrJoin(gpus, ", ", [&](std::string* out, ir::GpuId gpu) {
    absl::StrAppend(out, problem.cluster.gpus[gpu.index()].name);
  });
}

double Quantile(const std::vector<double>& sorted, double share) {
  return sorted[static_cast<size_t>(share * static_cast<double>(sorted.size() - 1) + 0.5)];
}

ProfileEntry MakeEntry(ir::LayerKind layer, const ProfileCase& size, const std::vector<LayerSeconds>& samples) {
  std::vector<double> forward, backward, optimizer, both;
  for (const LayerSeconds& sample : samples) {
    forward.push_back(sample.forward);
    backward.push_back(sample.backward);
    optimizer.push_back(sample.optimizer);
    both.push_back(sample.forward + sample.backward);
  }
  std::sort(both.begin(), both.end());
  return {.layer = layer,
          .size = size,
          .seconds = {.forward = TrimmedMean(std::move(forward)),
                      .backward = TrimmedMean(std::move(backward)),
                      .optimizer = TrimmedMean(std::move(optimizer))},
          .spread = (Quantile(both, 0.75) - Quantile(both, 0.25)) / Median(both)};
}

}  // namespace

std::vector<ProfileCase> CasesOf(const ir::Problem& problem, const std::vector<ir::GpuId>& gpus) {
  int largest_node = 0;
  for (size_t p = 0; p < problem.cluster.pools.size(); ++p) {
    const ir::PoolId pool(static_cast<int>(p));
    if (problem.cluster.pool(pool).quota < 1) continue;
    if (std::find(gpus.begin(), gpus.end(), problem.cluster.gpu_id(pool)) == gpus.end()) continue;
    largest_node = std::max(largest_node, problem.cluster.machine(pool).gpus_per_node);
  }
  std::vector<ProfileCase> cases;
  for (const int tensor : problem.job.tensor_degrees) {
    if (tensor > largest_node) continue;
    for (const int micro_batch : problem.job.micro_batches) {
      cases.push_back({.tensor = tensor, .micro_batch = micro_batch});
    }
  }
  return cases;
}

absl::StatusOr<std::vector<ir::GpuId>> GpusToProfile(const ir::Problem& problem, absl::string_view names) {
  const std::vector<ir::GpuId> used = GpusInUse(problem);
  std::vector<ir::GpuId> gpus;
  if (names.empty()) {
    if (used.size() != 1) {
      return absl::InvalidArgumentError(absl::StrCat("the plan's pools have the gpus ", NamesOf(problem, used),
                                                     "; --gpu says which of them this machine is"));
    }
    gpus = used;
  } else {
    for (const absl::string_view name : absl::StrSplit(names, ',')) {
      const auto it = std::find_if(used.begin(), used.end(),
                                   [&](ir::GpuId gpu) { return problem.cluster.gpus[gpu.index()].name == name; });
      if (it == used.end()) {
        return absl::InvalidArgumentError(
            absl::StrCat("--gpu: no pool of the plan has a gpu '", name, "'; its gpus are ", NamesOf(problem, used)));
      }
      if (std::find(gpus.begin(), gpus.end(), *it) != gpus.end()) {
        return absl::InvalidArgumentError(absl::StrCat("--gpu: '", name, "' is listed twice"));
      }
      gpus.push_back(*it);
    }
  }
  for (const ir::GpuId gpu : gpus) {
    if (problem.cluster.gpus[gpu.index()].backend == ir::Backend::kCpu) continue;
    return absl::InvalidArgumentError(absl::StrCat("gpu '", problem.cluster.gpus[gpu.index()].name,
                                                   "' has backend cuda; this sailrun computes on the CPU only"));
  }
  return gpus;
}

std::string PrintRoundSamples(const RoundSamples& samples) {
  Json json = {{"tensor", samples.size.tensor}, {"micro_batch", samples.size.micro_batch}};
  for (const auto& [kind, list] : samples.layers) {
    Json& out = json[std::string(ir::ToString(kind))] = Json::array();
    for (const LayerSeconds& s : list) out.push_back({s.forward, s.backward, s.optimizer});
  }
  return json.dump() + "\n";
}

absl::StatusOr<RoundSamples> ParseRoundSamples(absl::string_view line) {
  SAIL_ASSIGN_OR_RETURN(const Json json, ParseJson(line, "samples"));
  ObjectReader reader(json, "samples");
  RoundSamples samples;
  reader.Get("tensor", &samples.size.tensor);
  reader.Get("micro_batch", &samples.size.micro_batch);
  const auto is_time = [](const Json& value) {
    return value.is_number() && value.get<double>() >= 0 &&
           value.get<double>() < std::numeric_limits<double>::infinity();
  };
  for (const auto& [kind, name] : ir::kLayerKinds) {
    if (!reader.Has(name)) continue;
    const Json& list = reader.Raw(name);
    if (!list.is_array()) return absl::InvalidArgumentError(absl::StrCat(reader.PathOf(name), ": expected a list"));
    for (const Json& item : list) {
      if (!item.is_array() || item.size() != 3 || !std::all_of(item.begin(), item.end(), is_time)) {
        return absl::InvalidArgumentError(absl::StrCat(reader.PathOf(name), ": expected lists of three times"));
      }
      samples.layers[kind].push_back(
          {.forward = item[0].get<double>(), .backward = item[1].get<double>(), .optimizer = item[2].get<double>()});
    }
  }
  SAIL_RETURN_IF_ERROR(reader.Finish());
  return samples;
}

double Median(std::vector<double> values) {
  SAIL_CHECK(!values.empty()) << "the median of nothing";
  std::sort(values.begin(), values.end());
  return (values[values.size() / 2] + values[(values.size() - 1) / 2]) / 2;
}

double TrimmedMean(std::vector<double> values) {
  SAIL_CHECK(!values.empty()) << "the mean of nothing";
  std::sort(values.begin(), values.end());
  const auto dropped = static_cast<std::ptrdiff_t>(values.size() / 10);
  const auto kept = static_cast<double>(values.size()) - 2.0 * static_cast<double>(dropped);
  return std::accumulate(values.begin() + dropped, values.end() - dropped, 0.0) / kept;
}

std::vector<ProfileEntry> EntriesOf(const std::vector<RoundSamples>& samples) {
  std::map<std::pair<ir::LayerKind, ProfileCase>, std::vector<LayerSeconds>> pooled;
  for (const RoundSamples& round : samples) {
    for (const auto& [kind, list] : round.layers) {
      std::vector<LayerSeconds>& all = pooled[{kind, round.size}];
      all.insert(all.end(), list.begin(), list.end());
    }
  }
  std::vector<ProfileEntry> entries;
  for (const auto& [key, list] : pooled) entries.push_back(MakeEntry(key.first, key.second, list));
  return entries;
}

std::string ProfileText(const ir::Problem& problem, ir::GpuId gpu, const std::vector<ProfileEntry>& entries) {
  const ir::Model& model = problem.model;
  Json list = Json::array();
  for (const ProfileEntry& entry : entries) {
    list.push_back({{"layer", std::string(ir::ToString(entry.layer))},
                    {"tensor", entry.size.tensor},
                    {"micro_batch", entry.size.micro_batch},
                    {"forward_s", entry.seconds.forward},
                    {"backward_s", entry.seconds.backward},
                    {"optimizer_s", entry.seconds.optimizer}});
  }
  return DumpJson({{"format", "1.0"},
                   {"kind", "sailprofile"},
                   {"gpu", problem.cluster.gpus[gpu.index()].name},
                   {"precision", std::string(ir::ToString(problem.job.precision))},
                   {"model",
                    {{"hidden", model.hidden},
                     {"heads", model.heads},
                     {"feed_forward", model.feed_forward},
                     {"seq_len", model.seq_len},
                     {"vocab", model.vocab},
                     {"embedding_width", model.embedding_width}}},
                   {"entries", std::move(list)}});
}

}  // namespace sail::rt
