#include "compiler/ir/verify_plan.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "compiler/base/check.h"
#include "compiler/base/status_macros.h"
#include "compiler/base/tolerance.h"
#include "compiler/ir/names.h"

namespace sail::ir {
namespace {

template <class... Parts>
absl::Status Fault(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

template <class T>
bool Contains(const std::vector<T>& candidates, T value) {
  return std::find(candidates.begin(), candidates.end(), value) != candidates.end();
}

absl::Status VerifyGroup(const Problem& problem, const TensorGroup& group, absl::string_view where) {
  const Cluster& cluster = problem.cluster;
  if (group.pool.index() < 0 || group.pool.index() >= static_cast<int>(cluster.pools.size())) {
    return Fault(where, " names pool ", group.pool.index(), ", the cluster has ", cluster.pools.size());
  }
  const Pool& pool = cluster.pool(group.pool);
  if (group.node < 0 || group.node >= pool.quota) {
    return Fault(where, " uses node ", group.node, " of pool ", pool.name, ", whose quota is ", pool.quota, " nodes");
  }
  if (!Contains(problem.job.tensor_degrees, group.degree())) {
    return Fault(where, " has tensor degree ", group.degree(), ", not a candidate of the job");
  }
  const int gpus_per_node = cluster.machine(group.pool).gpus_per_node;
  for (int i = 0; i < group.degree(); ++i) {
    if (group.gpus[i] < 0 || group.gpus[i] >= gpus_per_node) {
      return Fault(where, " uses GPU ", group.gpus[i], " of a node with ", gpus_per_node, " GPUs");
    }
    if (i > 0 && group.gpus[i] <= group.gpus[i - 1]) return Fault(where, " does not name its GPUs in ascending order");
  }
  const Model& model = problem.model;
  if (!CanDivide(model, group.degree())) {
    return Fault(where, " has tensor degree ", group.degree(), ", which does not divide ", model.heads, " heads, ",
                 model.kv_head_count(), " key-value heads and ", model.feed_forward, " feed-forward units");
  }
  return absl::OkStatus();
}

absl::Status VerifyPipeline(const Problem& problem, const Pipeline& pipeline, absl::string_view where) {
  const int layers = problem.model.layer_count();
  if (!Contains(problem.job.micro_batches, pipeline.micro_batch)) {
    return Fault(where, " has micro-batch ", pipeline.micro_batch, ", not a candidate of the job");
  }
  if (pipeline.micro_batches < 1) return Fault(where, " processes ", pipeline.micro_batches, " micro-batches");
  const int depth = static_cast<int>(pipeline.stages.size());
  if (!Contains(problem.job.pipeline_depths, depth)) {
    return Fault(where, " has ", depth, " stages, not a candidate of the job");
  }
  int covered = 0;
  for (int s = 0; s < depth; ++s) {
    const Stage& stage = pipeline.stages[s];
    const std::string place = absl::StrCat(where, " stage ", s);
    if (stage.first_layer != covered) {
      return Fault(place, " starts at layer ", stage.first_layer, ", the stages before it end at ", covered - 1);
    }
    if (stage.last_layer < stage.first_layer) return Fault(place, " holds no layer");
    covered = stage.last_layer + 1;
    SAIL_RETURN_IF_ERROR(VerifyGroup(problem, stage.group, place));
    if (!Contains(problem.job.recomputes, stage.recompute)) {
      return Fault(place, " has recompute = ", NameOf(kRecomputes, stage.recompute), ", not a candidate of the job");
    }
  }
  if (covered != layers) return Fault(where, ": stage sizes sum to ", covered, " layers, the model has ", layers);
  return absl::OkStatus();
}

// The place of a group that `reach` keeps together, as text: two groups may talk if their places are equal.
std::string PlaceWithin(const Cluster& cluster, const TensorGroup& group, Reach reach) {
  const Pool& pool = cluster.pool(group.pool);
  switch (reach) {
    case Reach::kNode:
      return absl::StrCat("node ", group.node, " of pool ", pool.name);
    case Reach::kZone:
      return absl::StrCat("zone ", cluster.zones[pool.zone.index()].name);
    case Reach::kRegion:
      return absl::StrCat("region ", cluster.regions[cluster.zones[pool.zone.index()].region.index()]);
    case Reach::kAny:
      return "";
  }
  SAIL_CHECK(false) << "reach " << static_cast<int>(reach);
}

absl::Status VerifyReach(const Problem& problem, const Plan& plan) {
  const Keep& keep = problem.job.keep;
  for (size_t p = 0; p < plan.pipelines.size(); ++p) {
    std::set<std::string> places;
    for (const Stage& stage : plan.pipelines[p].stages) {
      places.insert(PlaceWithin(problem.cluster, stage.group, keep.pipeline));
    }
    if (places.size() > 1) {
      return Fault("pipeline ", p, " spans ", *places.begin(), " and ", *places.rbegin(),
                   ", but the job keeps pipelines", " within one ", NameOf(kReaches, keep.pipeline));
    }
  }
  for (int layer = 0; layer < problem.model.layer_count(); ++layer) {
    std::set<std::string> places;
    for (const Pipeline& pipeline : plan.pipelines) {
      for (const Stage& stage : pipeline.stages) {
        const bool holds = stage.first_layer <= layer && layer <= stage.last_layer;
        if (holds) places.insert(PlaceWithin(problem.cluster, stage.group, keep.data));
      }
    }
    if (places.size() > 1) {
      return Fault("the replicas of layer ", layer, " span ", *places.begin(), " and ", *places.rbegin(),
                   ", but the job keeps data parallelism within one ", NameOf(kReaches, keep.data));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status VerifyPlanStructure(const Problem& problem, const Plan& plan) {
  if (plan.pipelines.empty()) return Fault("the plan has no pipeline");
  if (!Contains(problem.job.optimizer_shardings, plan.optimizer_sharding)) {
    return Fault("the plan has optimizer_sharding = ", NameOf(kOptimizerShardings, plan.optimizer_sharding),
                 ", not a candidate of the job");
  }
  int64_t samples = 0;
  std::set<std::tuple<PoolId, int, int>> used;
  std::set<Backend> backends;
  for (size_t p = 0; p < plan.pipelines.size(); ++p) {
    const std::string where = absl::StrCat("pipeline ", p);
    SAIL_RETURN_IF_ERROR(VerifyPipeline(problem, plan.pipelines[p], where));
    samples += plan.pipelines[p].samples();
    for (const Stage& stage : plan.pipelines[p].stages) {
      backends.insert(problem.cluster.gpu(stage.group.pool).backend);
      for (const int gpu : stage.group.gpus) {
        if (!used.insert({stage.group.pool, stage.group.node, gpu}).second) {
          return Fault(where, ": GPU ", gpu, " of node ", stage.group.node, " in pool ",
                       problem.cluster.pool(stage.group.pool).name, " is used twice");
        }
      }
    }
  }
  if (samples != problem.job.global_batch) {
    return Fault("the pipelines process ", samples, " samples per iteration, the global batch is ",
                 problem.job.global_batch);
  }
  if (backends.size() > 1) return Fault("the plan mixes cuda and cpu GPUs in one job");
  return VerifyReach(problem, plan);
}

namespace {

bool WithinLimit(double value, double limit, bool at_most) {
  const double leniency = kLimitRelativeTolerance * std::abs(limit);
  return at_most ? value <= limit + leniency : value >= limit - leniency;
}

absl::Status VerifyStages(const Problem& problem, const Plan& plan, const Report& report) {
  size_t next = 0;
  for (int p = 0; p < static_cast<int>(plan.pipelines.size()); ++p) {
    for (int s = 0; s < static_cast<int>(plan.pipelines[p].stages.size()); ++s, ++next) {
      const std::string where = absl::StrCat("pipeline ", p, " stage ", s);
      if (next >= report.stages.size() || report.stages[next].pipeline != p || report.stages[next].stage != s) {
        return Fault("the report does not describe ", where);
      }
      const StageReport& stage = report.stages[next];
      Bytes sum = Bytes::Zero();
      for (const MemoryTerm& term : stage.memory) sum += term.bytes;
      if (sum != stage.memory_total) {
        return Fault(where, ": memory terms sum to ", sum.value(), " bytes, the total says ",
                     stage.memory_total.value());
      }
      const Gpu& gpu = problem.cluster.gpu(plan.pipelines[p].stages[s].group.pool);
      const double usable = static_cast<double>(gpu.memory.value()) * gpu.usable_memory;
      if (!WithinLimit(static_cast<double>(sum.value()), usable * problem.job.memory_limit, /*at_most=*/true)) {
        return Fault(where, " needs ", sum.value(), " bytes of memory, the limit on ", gpu.name, " is ",
                     static_cast<int64_t>(usable * problem.job.memory_limit));
      }
    }
  }
  if (next != report.stages.size()) return Fault("the report describes more stages than the plan has");
  return absl::OkStatus();
}

absl::Status VerifyCounts(const Plan& plan, const Report& report) {
  std::set<std::pair<PoolId, int>> nodes;
  int gpus = 0;
  for (const Pipeline& pipeline : plan.pipelines) {
    for (const Stage& stage : pipeline.stages) {
      nodes.insert({stage.group.pool, stage.group.node});
      gpus += stage.group.degree();
    }
  }
  if (report.nodes != static_cast<int>(nodes.size()) || report.gpus != gpus) {
    return Fault("the report counts ", report.nodes, " nodes and ", report.gpus, " GPUs, the plan uses ", nodes.size(),
                 " and ", gpus);
  }
  if (!(report.iteration.value() > 0)) return Fault("the report has no iteration time");
  return absl::OkStatus();
}

absl::Status VerifyConstraints(const Job& job, const Report& report) {
  if (report.constraints.size() != job.constraints.size()) {
    return Fault("the report has ", report.constraints.size(), " constraints, the job ", job.constraints.size());
  }
  for (size_t i = 0; i < job.constraints.size(); ++i) {
    const Constraint& constraint = job.constraints[i];
    if (report.constraints[i].name != constraint.name) {
      return Fault("the report lacks constraint '", constraint.name, "'");
    }
    const double value = Value(report, constraint.metric);
    if (!WithinLimit(value, constraint.limit, constraint.at_most)) {
      return Fault("constraint '", constraint.name, "' does not hold: ", ToString(constraint.metric), " is ", value,
                   constraint.at_most ? ", at most " : ", at least ", constraint.limit, " is allowed");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status VerifyPlan(const Problem& problem, const Plan& plan, const Report& report) {
  SAIL_RETURN_IF_ERROR(VerifyPlanStructure(problem, plan));
  SAIL_RETURN_IF_ERROR(VerifyCounts(plan, report));
  SAIL_RETURN_IF_ERROR(VerifyStages(problem, plan, report));
  return VerifyConstraints(problem.job, report);
}

}  // namespace sail::ir
