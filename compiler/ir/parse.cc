// Strict readers of what print.cc writes: problems, but for their cluster and profile (parse_cluster.cc), and plans.
#include "compiler/ir/parse_fields.h"
#include "compiler/ir/print.h"

namespace sail::ir {
namespace {

// As in the language.
constexpr int kLargestDegree = 1024;
constexpr int kDeepestPipeline = 10'002;

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

// At least one, each once, in order.
void CheckCandidates(ObjectReader& reader, absl::string_view key, const std::vector<int>& values, int most) {
  if (values.empty()) return reader.Fail(key, "expected at least one value");
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] < 1 || values[i] > most) return reader.Fail(key, absl::StrCat("expected 1 to ", most));
    if (i > 0 && values[i] <= values[i - 1]) return reader.Fail(key, "expected each value once, in order");
  }
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
