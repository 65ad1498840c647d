// Strict readers of what print.cc writes.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "compiler/base/status_macros.h"
#include "compiler/ir/names.h"
#include "compiler/ir/print.h"

namespace sail::ir {
namespace {

template <class Enum, size_t N>
void GetEnum(ObjectReader& reader, absl::string_view key, const NameTable<Enum, N>& table, Enum* out) {
  std::string name;
  reader.Get(key, &name);
  if (const std::optional<Enum> value = ValueOf(table, name)) {
    *out = *value;
  } else {
    reader.Fail(key, absl::StrCat("unknown value \"", name, "\""));
  }
}

template <class T>
void GetQuantity(ObjectReader& reader, absl::string_view key, T* out) {
  double value = 0;
  reader.Get(key, &value);
  *out = T(value);
}

void GetBytes(ObjectReader& reader, absl::string_view key, Bytes* out) {
  int64_t value = 0;
  reader.Get(key, &value);
  *out = Bytes(value);
}

// A list of names, at least one, in the order of the enumeration and each once.
template <class Enum, size_t N>
void GetEnums(ObjectReader& reader, absl::string_view key, const NameTable<Enum, N>& table, std::vector<Enum>* out) {
  std::vector<std::string> names;
  reader.Get(key, &names);
  out->clear();
  for (const std::string& name : names) {
    const std::optional<Enum> value = ValueOf(table, name);
    if (!value) return reader.Fail(key, absl::StrCat("unknown value \"", name, "\""));
    if (!out->empty() && *value <= out->back()) return reader.Fail(key, "expected each value once, in order");
    out->push_back(*value);
  }
  if (out->empty()) reader.Fail(key, "expected at least one value");
}

// As in the language.
constexpr int kLargestMicroBatch = 65'536;
constexpr int kLargestDegree = 1024;
constexpr int kDeepestPipeline = 10'002;

// At least one, each once, in order.
void CheckCandidates(ObjectReader& reader, absl::string_view key, const std::vector<int>& values, int most) {
  if (values.empty()) return reader.Fail(key, "expected at least one value");
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] < 1 || values[i] > most) return reader.Fail(key, absl::StrCat("expected 1 to ", most));
    if (i > 0 && values[i] <= values[i - 1]) return reader.Fail(key, "expected each value once, in order");
  }
}

constexpr double kLargest = 1e18;  // of any quantity in base units; keeps sums and products finite

// A finite number above zero: times, and speeds that something is divided by.
template <class T>
void GetPositive(ObjectReader& reader, absl::string_view key, T* out) {
  GetQuantity(reader, key, out);
  if (!(out->value() > 0 && out->value() <= kLargest)) reader.Fail(key, "expected a positive number");
}

void CheckRange(ObjectReader& reader, absl::string_view key, double value, double least, double most) {
  if (!(value >= least && value <= most)) reader.Fail(key, absl::StrCat("expected ", least, " to ", most));
}

// The same, or null.
template <class T>
void GetOptional(ObjectReader& reader, absl::string_view key, std::optional<T>* out) {
  reader.Ignore(key);
  if (!reader.Has(key)) return;
  double value = 0;
  reader.Get(key, &value);
  if (!(value > 0 && value <= kLargest)) reader.Fail(key, "expected a positive number");
  *out = T(value);
}

void GetOptionalBytes(ObjectReader& reader, absl::string_view key, std::optional<Bytes>* out) {
  reader.Ignore(key);
  if (!reader.Has(key)) return;
  GetBytes(reader, key, &out->emplace(Bytes::Zero()));
  CheckRange(reader, key, static_cast<double>((*out)->value()), 0, kLargest);
}

absl::Status ParseEfficiency(ObjectReader& gpu, std::optional<Efficiency>* out) {
  gpu.Ignore("efficiency");
  if (!gpu.Has("efficiency")) return absl::OkStatus();
  Efficiency& efficiency = out->emplace();
  ObjectReader reader(gpu.Raw("efficiency"), gpu.PathOf("efficiency"));
  reader.Get("matmul", &efficiency.matmul);
  GetQuantity(reader, "ramp_s", &efficiency.ramp);
  reader.Get("memory", &efficiency.memory);
  CheckRange(reader, "matmul", efficiency.matmul, 1 / kLargest, 1);
  CheckRange(reader, "ramp_s", efficiency.ramp.value(), 0, kLargest);
  CheckRange(reader, "memory", efficiency.memory, 1 / kLargest, 1);
  return reader.Finish();
}

// The index of the element of `list` whose name is `name`; records an error when there is none.
template <class T>
int FindNamed(ObjectReader& reader, absl::string_view key, const std::vector<T>& list) {
  std::string name;
  reader.Get(key, &name);
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i].name == name) return static_cast<int>(i);
  }
  reader.Fail(key, absl::StrCat("unknown name \"", name, "\""));
  return 0;
}

int GetIndex(ObjectReader& reader, absl::string_view key, size_t size) {
  int index = 0;
  reader.Get(key, &index);
  if (index >= 0 && index < static_cast<int>(size)) return index;
  reader.Fail(key, absl::StrCat("index ", index, " is out of range"));
  return 0;
}

// Calls read(element reader) for every object of a list.
template <class Read>
absl::Status ForEach(ObjectReader& reader, absl::string_view key, Read read) {
  const Json& list = reader.Raw(key);
  if (!list.is_array()) {
    reader.Fail(key, "expected a list");
    return reader.Finish();
  }
  for (size_t i = 0; i < list.size(); ++i) {
    ObjectReader element(list[i], absl::StrCat(reader.PathOf(key), "[", i, "]"));
    SAIL_RETURN_IF_ERROR(read(element));
    SAIL_RETURN_IF_ERROR(element.Finish());
  }
  return absl::OkStatus();
}

absl::Status ParseKeep(const Json& json, std::string path, Keep* keep) {
  ObjectReader reader(json, std::move(path));
  GetEnum(reader, "tensor", kReaches, &keep->tensor);
  GetEnum(reader, "pipeline", kReaches, &keep->pipeline);
  GetEnum(reader, "data", kReaches, &keep->data);
  return reader.Finish();
}

absl::Status ParseOptimizer(const Json& json, std::string path, AdamW* optimizer) {
  ObjectReader reader(json, std::move(path));
  reader.Get("learning_rate", &optimizer->learning_rate);
  reader.Get("beta1", &optimizer->beta1);
  reader.Get("beta2", &optimizer->beta2);
  reader.Get("epsilon", &optimizer->epsilon);
  reader.Get("weight_decay", &optimizer->weight_decay);
  CheckRange(reader, "learning_rate", optimizer->learning_rate, 0, kLargest);
  CheckRange(reader, "beta1", optimizer->beta1, 0, 1);
  CheckRange(reader, "beta2", optimizer->beta2, 0, 1);
  CheckRange(reader, "epsilon", optimizer->epsilon, 0, 1);
  CheckRange(reader, "weight_decay", optimizer->weight_decay, 0, kLargest);
  return reader.Finish();
}

absl::Status ParseTrainer(const Json& json, std::string path, Trainer* trainer) {
  ObjectReader reader(json, std::move(path));
  GetEnum(reader, "attention", kAttentionKernels, &trainer->attention);
  reader.Get("sequence_parallel", &trainer->sequence_parallel);
  reader.Get("overlap_gradients", &trainer->overlap_gradients);
  GetEnum(reader, "gradients", kGradientPrecisions, &trainer->gradients);
  reader.Get("dropout", &trainer->dropout);
  reader.Get("flat_gradients", &trainer->flat_gradients);
  reader.Get("whole_boundaries", &trainer->whole_boundaries);
  reader.Get("paired_sends", &trainer->paired_sends);
  GetOptional(reader, "dispatch_s", &trainer->dispatch);
  return reader.Finish();
}

}  // namespace

absl::StatusOr<Job> ParseJob(const Json& json, std::string path) {
  Job job;
  ObjectReader reader(json, std::move(path));
  reader.Get("name", &job.name);
  reader.Get("global_batch", &job.global_batch);
  reader.Get("micro_batches", &job.micro_batches);
  reader.Get("tensor_degrees", &job.tensor_degrees);
  reader.Get("pipeline_depths", &job.pipeline_depths);
  GetEnums(reader, "recomputes", kRecomputes, &job.recomputes);
  GetEnums(reader, "optimizer_shardings", kOptimizerShardings, &job.optimizer_shardings);
  SAIL_RETURN_IF_ERROR(ParseKeep(reader.Raw("keep"), reader.PathOf("keep"), &job.keep));
  GetEnum(reader, "precision", kPrecisions, &job.precision);
  SAIL_RETURN_IF_ERROR(ParseOptimizer(reader.Raw("optimizer"), reader.PathOf("optimizer"), &job.optimizer));
  SAIL_RETURN_IF_ERROR(ParseTrainer(reader.Raw("trainer"), reader.PathOf("trainer"), &job.trainer));
  reader.Get("steps", &job.steps);
  int64_t seed = 0;
  reader.Get("seed", &seed);
  job.seed = static_cast<uint64_t>(seed);
  reader.Get("memory_limit", &job.memory_limit);
  CheckRange(reader, "global_batch", static_cast<double>(job.global_batch), 1, 1e9);
  CheckRange(reader, "steps", static_cast<double>(job.steps), 1, 1e12);
  CheckRange(reader, "memory_limit", job.memory_limit, 0, 1);
  CheckCandidates(reader, "micro_batches", job.micro_batches, kLargestMicroBatch);
  CheckCandidates(reader, "tensor_degrees", job.tensor_degrees, kLargestDegree);
  CheckCandidates(reader, "pipeline_depths", job.pipeline_depths, kDeepestPipeline);
  SAIL_RETURN_IF_ERROR(ForEach(reader, "objective", [&](ObjectReader& element) {
    ObjectiveTerm& term = job.objective.emplace_back();
    GetEnum(element, "metric", kMetrics, &term.metric);
    element.Get("maximize", &term.maximize);
    return absl::OkStatus();
  }));
  SAIL_RETURN_IF_ERROR(ForEach(reader, "constraints", [&](ObjectReader& element) {
    Constraint& constraint = job.constraints.emplace_back();
    element.Get("name", &constraint.name);
    GetEnum(element, "metric", kMetrics, &constraint.metric);
    element.Get("at_most", &constraint.at_most);
    element.Get("limit", &constraint.limit);
    return absl::OkStatus();
  }));
  if (reader.Has("data")) {
    job.data.emplace();
    ObjectReader data(reader.Raw("data"), reader.PathOf("data"));
    data.Get("text", &job.data->text);
    SAIL_RETURN_IF_ERROR(data.Finish());
  }
  reader.Ignore("data");
  SAIL_RETURN_IF_ERROR(reader.Finish());
  return job;
}

namespace {

constexpr int64_t kLargestExtent = 1 << 24;  // keeps every product of two extents within 64 bits

bool IsSound(const Model& model) {
  if (model.blocks < 1 || model.hidden < 1 || model.heads < 1) return false;
  if (model.family == ModelFamily::kGpt) {
    return model.hidden % model.heads == 0 && model.position_rows >= model.seq_len &&
           model.activation != Activation::kSilu;
  }
  return model.kv_head_count() >= 1 && model.heads % model.kv_head_count() == 0 && model.head_width() >= 1 &&
         model.head_width() <= kLargestExtent / model.heads && model.position_rows == 0 &&
         model.embedding_width == model.hidden && model.norm == NormPlacement::kPre &&
         model.activation == Activation::kSilu;
}

}  // namespace

absl::StatusOr<Model> ParseModel(const Json& json, std::string path) {
  Model model;
  ObjectReader reader(json, std::move(path));
  reader.Get("name", &model.name);
  GetEnum(reader, "family", kModelFamilies, &model.family);
  reader.Get("blocks", &model.blocks);
  reader.Get("hidden", &model.hidden);
  reader.Get("heads", &model.heads);
  reader.Get("feed_forward", &model.feed_forward);
  reader.Get("seq_len", &model.seq_len);
  reader.Get("vocab", &model.vocab);
  reader.Get("embedding_width", &model.embedding_width);
  reader.Get("position_rows", &model.position_rows);
  reader.Get("tied_head", &model.tied_head);
  reader.Get("qkv_bias", &model.qkv_bias);
  GetEnum(reader, "activation", kActivations, &model.activation);
  GetEnum(reader, "norm", kNormPlacements, &model.norm);
  if (model.family == ModelFamily::kLlama) {
    reader.Get("kv_heads", &model.kv_heads.emplace());
    reader.Get("head_dim", &model.head_dim.emplace());
    reader.Get("qk_norm", &model.qk_norm);
  }
  for (const int64_t extent :
       {model.hidden, model.heads, model.feed_forward, model.seq_len, model.vocab, model.embedding_width,
        int64_t{model.blocks}, model.kv_heads.value_or(1), model.head_dim.value_or(1)}) {
    CheckRange(reader, "hidden", static_cast<double>(extent), 1, static_cast<double>(kLargestExtent));
  }
  CheckRange(reader, "position_rows", static_cast<double>(model.position_rows), 0, static_cast<double>(kLargestExtent));
  if (!IsSound(model)) reader.Fail("blocks", "impossible model shape");
  SAIL_RETURN_IF_ERROR(reader.Finish());
  return model;
}

namespace {

absl::Status ParseHardware(ObjectReader& reader, Cluster& cluster) {
  SAIL_RETURN_IF_ERROR(ForEach(reader, "gpus", [&](ObjectReader& element) {
    Gpu& gpu = cluster.gpus.emplace_back();
    element.Get("name", &gpu.name);
    GetEnum(element, "backend", kBackends, &gpu.backend);
    GetBytes(element, "memory_bytes", &gpu.memory);
    element.Get("usable_memory", &gpu.usable_memory);
    CheckRange(element, "memory_bytes", static_cast<double>(gpu.memory.value()), 1, 0x1p50);
    CheckRange(element, "usable_memory", gpu.usable_memory, 0, 1);
    GetOptional(element, "peak_fp32_flop_per_s", &gpu.peak_fp32);
    GetOptional(element, "peak_fp16_flop_per_s", &gpu.peak_fp16);
    GetOptional(element, "peak_bf16_flop_per_s", &gpu.peak_bf16);
    GetOptional(element, "memory_bandwidth_bytes_per_s", &gpu.memory_bandwidth);
    GetOptionalBytes(element, "framework_memory_bytes", &gpu.framework_memory);
    return ParseEfficiency(element, &gpu.efficiency);
  }));
  return ForEach(reader, "machines", [&](ObjectReader& element) {
    Machine& machine = cluster.machines.emplace_back();
    element.Get("name", &machine.name);
    machine.gpu = GpuId(FindNamed(element, "gpu", cluster.gpus));
    element.Get("gpus_per_node", &machine.gpus_per_node);
    CheckRange(element, "gpus_per_node", machine.gpus_per_node, 1, 1024);
    if (machine.gpus_per_node > 1) {
      GetPositive(element, "intra_node_bytes_per_s", &machine.intra_node);
    } else {
      GetQuantity(element, "intra_node_bytes_per_s", &machine.intra_node);
      CheckRange(element, "intra_node_bytes_per_s", machine.intra_node.value(), 0, kLargest);
    }
    GetOptional(element, "nic_bytes_per_s", &machine.nic);
    return absl::OkStatus();
  });
}

absl::Status ParseZones(ObjectReader& reader, Cluster& cluster) {
  reader.Get("regions", &cluster.regions);
  return ForEach(reader, "zones", [&](ObjectReader& element) {
    Zone& zone = cluster.zones.emplace_back();
    element.Get("name", &zone.name);
    std::string region;
    element.Get("region", &region);
    for (size_t i = 0; i < cluster.regions.size(); ++i) {
      if (cluster.regions[i] == region) zone.region = RegionId(static_cast<int>(i));
    }
    if (zone.region.index() < 0) element.Fail("region", absl::StrCat("unknown name \"", region, "\""));
    return absl::OkStatus();
  });
}

absl::Status ParsePools(ObjectReader& reader, Cluster& cluster) {
  return ForEach(reader, "pools", [&](ObjectReader& element) {
    Pool& pool = cluster.pools.emplace_back();
    element.Get("name", &pool.name);
    pool.zone = ZoneId(GetIndex(element, "zone", cluster.zones.size()));
    pool.machine = MachineId(FindNamed(element, "machine", cluster.machines));
    GetEnum(element, "market", kMarkets, &pool.market);
    element.Get("quota_nodes", &pool.quota);
    CheckRange(element, "quota_nodes", pool.quota, 0, 1e6);
    GetQuantity(element, "price_usd_per_s", &pool.price);
    CheckRange(element, "price_usd_per_s", pool.price.value(), 0, kLargest);
    GetOptional(element, "mean_lifetime_s", &pool.mean_lifetime);
    return absl::OkStatus();
  });
}

// Absent, or pairs of bytes and seconds.
void GetCurve(ObjectReader& reader, absl::string_view key, LinkCurve* curve) {
  if (!reader.Has(key)) return;
  const auto is_positive = [](const Json& json) {
    return json.is_number() && json.get<double>() > 0 && json.get<double>() <= kLargest;
  };
  const Json& points = reader.Raw(key);
  if (!points.is_array()) return reader.Fail(key, "expected a list");
  for (const Json& point : points) {
    if (!point.is_array() || point.size() != 2 || !is_positive(point[0]) || !is_positive(point[1])) {
      return reader.Fail(key, "expected pairs of positive numbers");
    }
    const LinkPoint next{.bytes = point[0].get<double>(), .seconds = Seconds(point[1].get<double>())};
    if (!curve->empty() && (next.bytes <= curve->back().bytes || next.seconds < curve->back().seconds)) {
      return reader.Fail(key, "expected sizes that ascend and times that do not fall");
    }
    curve->push_back(next);
  }
}

absl::Status ParseLinks(ObjectReader& reader, Cluster& cluster) {
  const size_t zones = cluster.zones.size();
  cluster.links.assign(zones, std::vector<Link>(zones));
  std::vector<bool> seen(zones * zones, false);
  SAIL_RETURN_IF_ERROR(ForEach(reader, "links", [&](ObjectReader& element) {
    const int from = GetIndex(element, "from", zones);
    const int to = GetIndex(element, "to", zones);
    if (zones == 0) return absl::OkStatus();
    Link& link = cluster.links[from][to];
    GetPositive(element, "bandwidth_bytes_per_s", &link.bandwidth);
    GetQuantity(element, "latency_s", &link.latency);
    CheckRange(element, "latency_s", link.latency.value(), 0, 1e6);
    GetQuantity(element, "egress_usd_per_byte", &link.egress);
    CheckRange(element, "egress_usd_per_byte", link.egress.value(), 0, 1);
    GetEnum(element, "per", kLinkShares, &link.share);
    GetCurve(element, "sends", &link.sends);
    GetCurve(element, "all_reduces", &link.all_reduces);
    seen[from * zones + to] = true;
    return absl::OkStatus();
  }));
  for (size_t i = 0; i < seen.size(); ++i) {
    if (!seen[i]) reader.Fail("links", absl::StrCat("no link from zone ", i / zones, " to zone ", i % zones));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Cluster> ParseCluster(const Json& json, std::string path) {
  Cluster cluster;
  ObjectReader reader(json, std::move(path));
  reader.Get("name", &cluster.name);
  SAIL_RETURN_IF_ERROR(ParseHardware(reader, cluster));
  SAIL_RETURN_IF_ERROR(ParseZones(reader, cluster));
  SAIL_RETURN_IF_ERROR(ParsePools(reader, cluster));
  SAIL_RETURN_IF_ERROR(ParseLinks(reader, cluster));
  SAIL_RETURN_IF_ERROR(reader.Finish());
  return cluster;
}

absl::StatusOr<Profile> ParseProfile(const Json& json, const Cluster& cluster, std::string path) {
  Profile profile;
  if (!json.is_array()) return absl::InvalidArgumentError(absl::StrCat(path, ": expected a list"));
  for (size_t i = 0; i < json.size(); ++i) {
    ObjectReader element(json[i], absl::StrCat(path, "[", i, "]"));
    ProfileKey key;
    LayerTime time;
    GetEnum(element, "layer", kLayerKinds, &key.kind);
    key.gpu = GpuId(FindNamed(element, "gpu", cluster.gpus));
    element.Get("tensor", &key.tensor);
    element.Get("micro_batch", &key.micro_batch);
    CheckRange(element, "tensor", key.tensor, 1, 1024);
    CheckRange(element, "micro_batch", key.micro_batch, 1, kLargestMicroBatch);
    GetPositive(element, "forward_s", &time.forward);
    // An embedding may have no backward worth measuring, and a measured profile no optimizer (simulator/profiles.h).
    GetQuantity(element, "backward_s", &time.backward);
    CheckRange(element, "backward_s", time.backward.value(), 0, kLargest);
    GetQuantity(element, "optimizer_s", &time.optimizer);
    CheckRange(element, "optimizer_s", time.optimizer.value(), 0, kLargest);
    GetOptionalBytes(element, "activation_bytes", &time.activations);
    GetEnum(element, "provenance", kProvenances, &time.provenance);
    SAIL_RETURN_IF_ERROR(element.Finish());
    profile.Set(key, time);
  }
  return profile;
}

absl::StatusOr<Problem> ParseProblem(const Json& json, std::string path) {
  ObjectReader reader(json, path);
  Problem problem;
  SAIL_ASSIGN_OR_RETURN(problem.job, ParseJob(reader.Raw("job"), reader.PathOf("job")));
  SAIL_ASSIGN_OR_RETURN(problem.model, ParseModel(reader.Raw("model"), reader.PathOf("model")));
  SAIL_ASSIGN_OR_RETURN(problem.cluster, ParseCluster(reader.Raw("cluster"), reader.PathOf("cluster")));
  SAIL_ASSIGN_OR_RETURN(problem.profile,
                        ParseProfile(reader.Raw("profile"), problem.cluster, reader.PathOf("profile")));
  SAIL_RETURN_IF_ERROR(reader.Finish());
  return problem;
}

absl::StatusOr<Plan> ParsePlan(const Json& json, const Cluster& cluster, std::string path) {
  Plan plan;
  ObjectReader reader(json, std::move(path));
  GetEnum(reader, "schedule", kSchedules, &plan.schedule);
  GetEnum(reader, "optimizer_sharding", kOptimizerShardings, &plan.optimizer_sharding);
  SAIL_RETURN_IF_ERROR(ForEach(reader, "pipelines", [&](ObjectReader& element) {
    Pipeline& pipeline = plan.pipelines.emplace_back();
    element.Get("micro_batch", &pipeline.micro_batch);
    element.Get("micro_batches", &pipeline.micro_batches);
    return ForEach(element, "stages", [&](ObjectReader& item) {
      Stage& stage = pipeline.stages.emplace_back();
      std::vector<int> layers;
      item.Get("layers", &layers);
      if (layers.size() == 2) {
        stage.first_layer = layers[0];
        stage.last_layer = layers[1];
      } else {
        item.Fail("layers", "expected [first, last]");
      }
      stage.group.pool = PoolId(FindNamed(item, "pool", cluster.pools));
      item.Get("node", &stage.group.node);
      item.Get("gpus", &stage.group.gpus);
      GetEnum(item, "recompute", kRecomputes, &stage.recompute);
      return absl::OkStatus();
    });
  }));
  SAIL_RETURN_IF_ERROR(reader.Finish());
  return plan;
}

absl::StatusOr<std::vector<FrontPoint>> ParseFront(const Json& json, std::string path) {
  std::vector<FrontPoint> front;
  if (!json.is_array()) return absl::InvalidArgumentError(absl::StrCat(path, ": expected a list"));
  for (size_t i = 0; i < json.size(); ++i) {
    ObjectReader element(json[i], absl::StrCat(path, "[", i, "]"));
    FrontPoint& point = front.emplace_back();
    GetPositive(element, "iteration_s", &point.iteration);
    GetQuantity(element, "cost_usd_per_iteration", &point.cost_per_iteration);
    element.Get("goodput_iters_per_s", &point.goodput);
    element.Get("nodes", &point.nodes);
    element.Get("gpus", &point.gpus);
    element.Get("chosen", &point.chosen);
    CheckRange(element, "cost_usd_per_iteration", point.cost_per_iteration.value(), 0, kLargest);
    CheckRange(element, "goodput_iters_per_s", point.goodput, 0, kLargest);
    CheckRange(element, "nodes", point.nodes, 1, 1e9);
    CheckRange(element, "gpus", point.gpus, 1, 1e9);
    SAIL_RETURN_IF_ERROR(element.Finish());
  }
  return front;
}

}  // namespace sail::ir
