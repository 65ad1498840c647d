#include "compiler/passes/pipeline.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/status_macros.h"
#include "compiler/passes/checked_block.h"
#include "compiler/passes/evaluate.h"
#include "compiler/passes/lint_catalogue.h"
#include "compiler/passes/lower_cluster.h"
#include "compiler/passes/lower_job.h"
#include "compiler/passes/modules.h"

namespace sail {
namespace {

// What phase 6 needs of the others.
struct Compilation {
  const ModuleSet& modules;
  const CheckedBlocks& blocks;
  const std::map<const CheckedBlock*, std::optional<LoweredCluster>>& clusters;
  const std::map<const CheckedBlock*, std::optional<ir::Model>>& models;
  const FileSystem& files;
  Evaluator& evaluator;
  DiagnosticSink& sink;
};

void RecordRanges(const CheckedBlock& job, const LoweredCluster& cluster, LoweredJob& lowered) {
  lowered.job = job.header;
  lowered.objective = job.objective->range;
  lowered.ranges["model"] = job.RangeOf("model");
  lowered.ranges["resources"] = job.RangeOf("resources");
  lowered.ranges["batch"] = job.Child("batch")->header;
  if (const CheckedBlock* data = job.Child("data")) lowered.ranges["data"] = data->header;
  for (const CheckedBlock* pool : cluster.pools) {
    lowered.ranges[absl::StrCat("pool.", pool->label)] = pool->label_range;
  }
}

// A broken model does not hide what is wrong with the resources, and the other way round: each part is checked as far
// as what it needs is sound.
std::optional<LoweredJob> LowerOneJob(const CheckedBlock& job, const Compilation& compilation) {
  DiagnosticSink& sink = compilation.sink;
  const auto followed = [&](const char* attribute) -> const CheckedBlock* {
    const auto found = job.attributes.find(attribute);
    if (found == job.attributes.end() || !found->second.value) return nullptr;
    const CheckedBlock* block = compilation.blocks.Follow(job, attribute);
    return block != nullptr && block->is_sound ? block : nullptr;
  };
  const CheckedBlock* model_block = followed("model");
  const CheckedBlock* resources = followed("resources");
  const auto model = model_block != nullptr ? compilation.models.at(model_block) : std::nullopt;
  const auto cluster = resources != nullptr ? compilation.clusters.at(resources) : std::nullopt;

  LoweredJob lowered;
  ir::Job ir_job;
  if (job.is_sound) {
    ir_job = LowerJob(job);
    CheckMicroBatches(job, ir_job, sink);
    if (model) CheckData(job, ir_job, *model, compilation.modules, compilation.files, sink);
  }
  const bool has_objective =
      job.objective != nullptr && LowerObjective(job, compilation.evaluator, ir_job, lowered.ranges, sink);
  if (!job.is_sound || !model || !cluster) return std::nullopt;

  lowered.profiles = LowerProfiles(*model_block, cluster->cluster, compilation.blocks, sink);
  const JobParts parts{job, *model_block, ir_job, *model, *cluster, lowered.profiles};
  CheckTensorDegrees(parts, sink);
  CheckPipelineDepths(parts, sink);
  CheckPeaks(parts, sink);
  if (!CheckSizes(parts, sink) || !has_objective) return std::nullopt;
  RecordRanges(job, *cluster, lowered);
  lowered.problem.job = std::move(ir_job);
  lowered.problem.model = *model;
  lowered.problem.cluster = cluster->cluster;
  return lowered;
}

// Every sound block of a kind is lowered once, whether or not a job uses it: a shared file has no jobs.
template <class Lowered, class Lower>
std::map<const CheckedBlock*, std::optional<Lowered>> LowerAll(absl::string_view kind, const CheckedBlocks& blocks,
                                                               Lower lower) {
  std::map<const CheckedBlock*, std::optional<Lowered>> lowered;
  for (const auto& block : blocks.top) {
    if (kind == block->kind->name && block->is_sound) lowered.emplace(block.get(), lower(*block));
  }
  return lowered;
}

}  // namespace

absl::StatusOr<CheckedSpec> CheckFile(const std::string& path, const FileSystem& files, const ParseLimits& limits,
                                      SourceManager& sources, DiagnosticSink& sink) {
  // 1. Files: the main file and, transitively, its imports.
  SAIL_ASSIGN_OR_RETURN(ModuleSet modules, LoadModules(path, files, limits, sources, sink));
  // 2. Names.
  BindNames(modules, sink);
  // 3. Structure of every block, against the schema.
  Evaluator evaluator(modules, sink);
  CheckedBlocks blocks = BuildBlocks(modules, evaluator, sink);
  // 4. Units, types and defaults of every attribute.
  CheckAttributes(blocks, evaluator, sink);
  LintCatalogue(blocks, sink);
  // 5. Resources to clusters (topology, prices, links) and models to shapes.
  const auto clusters = LowerAll<LoweredCluster>(
      "resources", blocks, [&](const CheckedBlock& block) { return LowerCluster(block, blocks, sink); });
  const auto models =
      LowerAll<ir::Model>("model", blocks, [&](const CheckedBlock& block) { return LowerModel(block, sink); });
  // 6. Jobs, and whether the three fit together.
  const Compilation compilation{modules, blocks, clusters, models, files, evaluator, sink};
  CheckedSpec checked;
  for (const auto& block : blocks.top) {
    if (absl::string_view(block->kind->name) != "job" || block->module != &modules.main()) continue;
    if (auto job = LowerOneJob(*block, compilation)) checked.jobs.push_back(*std::move(job));
  }
  if (sink.has_errors()) return DiagnosedError();
  checked.spec = std::move(modules.modules.front()->spec);
  return checked;
}

}  // namespace sail
