#include "compiler/driver/memory_relief.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/status_macros.h"
#include "compiler/driver/answer.h"
#include "compiler/ir/names.h"
#include "planner/infeasible.h"
#include "simulator/profiles.h"
#include "simulator/sail_cost_model.h"

namespace sail::driver {
namespace {

using Reliefs = std::vector<Relief>;

// The job with one more value among the candidates of an attribute, which stay in ascending order.
template <class Value, class Text>
Relief With(const ir::Problem& problem, std::vector<Value> ir::Job::*candidates, Value value, absl::string_view block,
            absl::string_view attribute, Text text) {
  Relief relief{.text = "", .problem = problem};
  std::vector<Value>& list = relief.problem.job.*candidates;
  list.insert(std::upper_bound(list.begin(), list.end(), value), value);
  std::vector<std::string> words;
  for (const Value candidate : list) words.push_back(text(candidate));
  relief.text = absl::StrCat(block, " { ", attribute, " = [", absl::StrJoin(words, ", "), "] }");
  return relief;
}

Relief WithNumber(const ir::Problem& problem, std::vector<int> ir::Job::*candidates, int value, absl::string_view block,
                  absl::string_view attribute) {
  return With(problem, candidates, value, block, attribute, [](int number) { return absl::StrCat(number); });
}

template <class Enum, size_t N>
Reliefs WithWords(const ir::Problem& problem, std::vector<Enum> ir::Job::*candidates,
                  const ir::NameTable<Enum, N>& names, absl::string_view attribute) {
  Reliefs reliefs;
  const std::vector<Enum>& allowed = problem.job.*candidates;
  for (const auto& [value, name] : names) {
    if (std::find(allowed.begin(), allowed.end(), value) != allowed.end()) continue;
    reliefs.push_back(With(problem, candidates, value, "parallelism", attribute,
                           [&](Enum word) { return std::string(ir::NameOf(names, word)); }));
  }
  return reliefs;
}

Reliefs SmallerMicroBatches(const ir::Problem& problem) {
  Reliefs reliefs;
  for (int size = problem.job.micro_batches.front() / 2; size > 0; size /= 2) {
    reliefs.push_back(WithNumber(problem, &ir::Job::micro_batches, size, "batch", "micro"));
  }
  return reliefs;
}

// As many as there are GPUs and layers for.
Reliefs DeeperPipelines(const ir::Problem& problem) {
  int64_t most = 0;
  for (const ir::Pool& pool : problem.cluster.pools) {
    most += int64_t{pool.quota} * problem.cluster.machines[pool.machine.index()].gpus_per_node;
  }
  most = std::min<int64_t>(most, problem.model.layer_count());
  Reliefs reliefs;
  const int64_t deepest = problem.job.pipeline_depths.back();
  for (int64_t depth = deepest; depth < most;) {
    depth = std::min(2 * depth, most);
    reliefs.push_back(
        WithNumber(problem, &ir::Job::pipeline_depths, static_cast<int>(depth), "parallelism", "pipeline"));
  }
  return reliefs;
}

// Powers of two, as large as a node and as the heads can be divided.
Reliefs HigherDegrees(const ir::Problem& problem) {
  int most = 0;
  for (const ir::Pool& pool : problem.cluster.pools) {
    if (pool.quota > 0) most = std::max(most, problem.cluster.machines[pool.machine.index()].gpus_per_node);
  }
  Reliefs reliefs;
  for (int degree = 2 * problem.job.tensor_degrees.back(); degree <= most; degree *= 2) {
    if (problem.model.heads % degree != 0 || problem.model.kv_head_count() % degree != 0) break;
    reliefs.push_back(WithNumber(problem, &ir::Job::tensor_degrees, degree, "parallelism", "tensor"));
  }
  return reliefs;
}

// What the stage of the closest miss needs: no plan has a lower peak (planner/infeasible.h), so less helps no more.
// Rounded up to an eighth of a GiB, which the language can write: whole bytes.
Reliefs LargerGpu(const ir::Problem& problem, const planner::ConflictingLimit& memory) {
  if (!memory.gpu) return {};
  constexpr double kGibibyte = int64_t{1} << 30;
  Relief relief{.text = "", .problem = problem};
  ir::Gpu& gpu = relief.problem.cluster.gpus[memory.gpu->index()];
  const double share = gpu.usable_memory * problem.job.memory_limit;
  const double gibibytes = std::ceil(8 * (memory.limit + memory.best) / share / kGibibyte) / 8;
  gpu.memory = Bytes(static_cast<int64_t>(gibibytes * kGibibyte));
  relief.text = absl::StrCat("gpu ", gpu.name, " { memory = ", gibibytes, " GiB }");
  return {std::move(relief)};
}

// Whether the changed job has a plan: one that the closed form accepts at all, then the answer to it.
absl::StatusOr<bool> Helps(Relief& relief) {
  // Measured profiles may lack what the change asks for: it cannot be planned then.
  if (!sim::CompleteProfile(relief.problem).ok()) return false;
  SAIL_ASSIGN_OR_RETURN(const bool has_plan, planner::HasPlan(relief.problem, *sim::MakeSailCostModel(relief.problem)));
  if (!has_plan) return false;
  SAIL_ASSIGN_OR_RETURN(const Answer answer, FindAnswer(relief.problem, {.bound_work = 0}));
  return std::holds_alternative<planner::Feasible>(answer.outcome);
}

// Adds the first that helps.
absl::Status AddLeast(Reliefs tries, Reliefs& reliefs) {
  for (Relief& relief : tries) {
    SAIL_ASSIGN_OR_RETURN(const bool helps, Helps(relief));
    if (!helps) continue;
    reliefs.push_back(std::move(relief));
    break;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<Relief>> FindMemoryRelief(const ir::Problem& problem,
                                                     const planner::ConflictingLimit& memory) {
  Reliefs reliefs;
  Reliefs ways[] = {SmallerMicroBatches(problem), DeeperPipelines(problem), HigherDegrees(problem),
                    WithWords(problem, &ir::Job::recomputes, ir::kRecomputes, "recompute"),
                    WithWords(problem, &ir::Job::optimizer_shardings, ir::kOptimizerShardings, "optimizer_sharding")};
  for (Reliefs& way : ways) {
    if (reliefs.size() < kMostReliefs) SAIL_RETURN_IF_ERROR(AddLeast(std::move(way), reliefs));
  }
  SAIL_RETURN_IF_ERROR(AddLeast(LargerGpu(problem, memory), reliefs));
  return reliefs;
}

}  // namespace sail::driver
