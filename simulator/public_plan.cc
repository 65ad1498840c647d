#include "simulator/public_plan.h"

#include "absl/strings/str_cat.h"
#include "compiler/base/status_macros.h"
#include "simulator/public_data.h"

namespace sail::sim {
namespace {

constexpr int kLargest = 1 << 20;     // samples, layers
constexpr int kMostGroups = 1 << 16;  // of a stage

template <class... Parts>
absl::Status Fault(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

absl::Status ReadNumber(const Json& json, int least, const std::string& where, int* out) {
  const bool is_number = json.is_number_integer() && json.get<int64_t>() >= least && json.get<int64_t>() <= kLargest;
  if (!is_number) return Fault(where, ": expected a number from ", least, " to ", kLargest);
  *out = json.get<int>();
  return absl::OkStatus();
}

absl::Status ReadText(const Json& json, const std::string& where, std::string* out) {
  if (!json.is_string()) return Fault(where, ": expected a name");
  *out = json.get<std::string>();
  return absl::OkStatus();
}

Json Member(const Json& json, const char* key) { return json.is_object() ? json.value(key, Json()) : Json(); }

// One replica, `count` times.
absl::Status AddReplicas(const Json& json, const std::string& where, PublicPlan::Stage& stage) {
  PublicPlan::Group group;
  int count = 1;
  if (json.is_array()) {
    if (json.size() != 3) return Fault(where, ": expected [gpu, GPUs per node, tensor degree]");
    SAIL_RETURN_IF_ERROR(ReadText(json[0], where, &group.gpu));
    SAIL_RETURN_IF_ERROR(ReadNumber(json[1], 1, where, &group.gpus_per_node));
    SAIL_RETURN_IF_ERROR(ReadNumber(json[2], 1, where, &group.tensor));
  } else {
    SAIL_RETURN_IF_ERROR(ReadText(Member(json, "gpu"), where + ".gpu", &group.gpu));
    SAIL_RETURN_IF_ERROR(ReadNumber(Member(json, "tensor"), 1, where + ".tensor", &group.tensor));
    if (json.contains("zone")) SAIL_RETURN_IF_ERROR(ReadText(json["zone"], where + ".zone", &group.zone));
    if (json.contains("count")) SAIL_RETURN_IF_ERROR(ReadNumber(json["count"], 1, where + ".count", &count));
  }
  if (stage.replicas.size() + count > kMostGroups) return Fault(where, ": more than ", kMostGroups, " replicas");
  stage.replicas.insert(stage.replicas.end(), count, group);
  return absl::OkStatus();
}

absl::Status ReadStage(const Json& json, const std::string& where, PublicPlan::Stage& stage) {
  const Json layers = Member(json, "layers");
  if (!layers.is_array() || layers.size() != 2) return Fault(where, ".layers: expected [first, last]");
  SAIL_RETURN_IF_ERROR(ReadNumber(layers[0], 0, where + ".layers", &stage.first_layer));
  SAIL_RETURN_IF_ERROR(ReadNumber(layers[1], 0, where + ".layers", &stage.last_layer));
  const Json replicas = Member(json, "replicas");
  if (!replicas.is_array() || replicas.empty()) return Fault(where, ".replicas: expected a list with entries");
  for (size_t i = 0; i < replicas.size(); ++i) {
    SAIL_RETURN_IF_ERROR(AddReplicas(replicas[i], absl::StrCat(where, ".replicas[", i, "]"), stage));
  }
  return absl::OkStatus();
}

// GPUs of each node of each pool that are taken.
class Nodes {
 public:
  explicit Nodes(const ir::Cluster& cluster) : cluster_(cluster), taken_(cluster.pools.size()) {}

  absl::StatusOr<ir::TensorGroup> Take(const PublicPlan::Group& group) {
    bool exists = false;
    for (size_t p = 0; p < cluster_.pools.size(); ++p) {
      const ir::PoolId pool(static_cast<int>(p));
      if (!IsOf(pool, group)) continue;
      exists = true;
      const int gpus_per_node = cluster_.machine(pool).gpus_per_node;
      for (int node = 0; node < cluster_.pool(pool).quota && group.tensor <= gpus_per_node; ++node) {
        if (node == static_cast<int>(taken_[p].size())) taken_[p].push_back(0);
        int& taken = taken_[p][node];
        if (taken + group.tensor > gpus_per_node) continue;
        ir::TensorGroup placed{.pool = pool, .node = node};
        for (int i = 0; i < group.tensor; ++i) placed.gpus.push_back(taken++);
        return placed;
      }
    }
    const std::string machines =
        group.gpus_per_node > 0 ? absl::StrCat(" with ", group.gpus_per_node, " per node") : "";
    const std::string zone = group.zone.empty() ? "" : absl::StrCat(" in zone ", group.zone);
    if (!exists) return absl::NotFoundError(absl::StrCat("no pool has gpu ", group.gpu, machines, zone));
    return absl::NotFoundError(absl::StrCat("no node is left for ", group.tensor, " ", group.gpu, machines, zone));
  }

 private:
  bool IsOf(ir::PoolId pool, const PublicPlan::Group& group) const {
    const std::string& zone = cluster_.zones[cluster_.pool(pool).zone.index()].name;
    return PublicName(cluster_.gpu(pool).name) == PublicName(group.gpu) &&
           (group.zone.empty() || PublicName(group.zone) == PublicName(zone)) &&
           (group.gpus_per_node == 0 || group.gpus_per_node == cluster_.machine(pool).gpus_per_node);
  }

  const ir::Cluster& cluster_;
  std::vector<std::vector<int>> taken_;
};

}  // namespace

absl::StatusOr<PublicPlan> ReadPublicPlan(const Json& json, const std::string& what) {
  PublicPlan plan;
  SAIL_RETURN_IF_ERROR(ReadNumber(Member(json, "micro_batch"), 1, what + ": micro_batch", &plan.micro_batch));
  const Json global_batch = Member(json, "global_batch");
  if (!global_batch.is_null()) {
    SAIL_RETURN_IF_ERROR(ReadNumber(global_batch, 1, what + ": global_batch", &plan.global_batch));
  }
  const Json stages = Member(json, "stages");
  if (!stages.is_array() || stages.empty()) return Fault(what, ": stages: expected a list with entries");
  for (size_t s = 0; s < stages.size(); ++s) {
    const std::string place = absl::StrCat(what, ": stages[", s, "]");
    PublicPlan::Stage& stage = plan.stages.emplace_back();
    SAIL_RETURN_IF_ERROR(ReadStage(stages[s], place, stage));
    if (stage.replicas.size() != plan.stages.front().replicas.size()) {
      return Fault(place, " has ", stage.replicas.size(), " replicas, the first stage has ", plan.replicas(),
                   ": they form no pipelines");
    }
  }
  return plan;
}

absl::StatusOr<int> MicroBatchesOf(const PublicPlan& plan, int64_t global_batch) {
  const int64_t samples = static_cast<int64_t>(plan.replicas()) * plan.micro_batch;
  if (global_batch % samples == 0) return static_cast<int>(global_batch / samples);
  return Fault("a global batch of ", global_batch, " is no multiple of ", plan.replicas(), " replicas · micro-batch ",
               plan.micro_batch);
}

absl::StatusOr<ir::Plan> ImportPlan(const PublicPlan& plan, const ir::Problem& problem) {
  if (plan.global_batch != 0 && plan.global_batch != problem.job.global_batch) {
    return Fault("the plan is for a global batch of ", plan.global_batch, ", job ", problem.job.name, " has ",
                 problem.job.global_batch);
  }
  SAIL_ASSIGN_OR_RETURN(const int micro_batches, MicroBatchesOf(plan, problem.job.global_batch));
  ir::Plan result;
  result.pipelines.assign(plan.replicas(), {.micro_batch = plan.micro_batch, .micro_batches = micro_batches});
  Nodes nodes(problem.cluster);
  for (size_t s = 0; s < plan.stages.size(); ++s) {
    for (int d = 0; d < plan.replicas(); ++d) {
      absl::StatusOr<ir::TensorGroup> group = nodes.Take(plan.stages[s].replicas[d]);
      if (!group.ok()) return Annotate(group.status(), absl::StrCat("stage ", s, ", replica ", d));
      result.pipelines[d].stages.push_back({.first_layer = plan.stages[s].first_layer,
                                            .last_layer = plan.stages[s].last_layer,
                                            .group = *std::move(group)});
    }
  }
  return result;
}

}  // namespace sail::sim
