#include "compiler/passes/pipeline.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/status_macros.h"
#include "compiler/passes/analysis.h"
#include "compiler/passes/assertions.h"
#include "compiler/passes/check_attributes.h"
#include "compiler/passes/lint_catalogue.h"
#include "compiler/passes/lint_spec.h"
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
  if (const auto keeps = job.Below("keep"); !keeps.empty()) lowered.ranges["keep"] = keeps.front()->header;
  if (const CheckedBlock* data = job.Child("data")) lowered.ranges["data"] = data->header;
  for (const CheckedBlock* pool : cluster.pools) {
    lowered.ranges[absl::StrCat("pool.", pool->label)] = pool->label_range;
  }
}

// Resources without pools are there to be extended.
void ReportNoPool(const CheckedBlock& job, const CheckedBlock& resources, DiagnosticSink& sink) {
  sink.Report(DiagnosticCode::kMissingAttribute, job.RangeOf("resources"),
              absl::StrCat("resources `", resources.label, "` has no pool"),
              {"add `pool NAME { machine = …, quota = … nodes }` to a zone"}, {{resources.header, "declared here"}});
}

// A broken model does not hide what is wrong with the resources, and the other way round: each part is checked as far
// as what it needs is sound.
std::optional<LoweredJob> LowerOneJob(const CheckedBlock& job, const Compilation& compilation) {
  DiagnosticSink& sink = compilation.sink;
  const auto followed = [&](const char* attribute) -> const CheckedBlock* {
    const auto found = job.attributes.find(attribute);
    if (found == job.attributes.end() || !found->second.value) return nullptr;
    const CheckedBlock* block = job.Follow(attribute);
    return block != nullptr && block->is_sound ? block : nullptr;
  };
  const CheckedBlock* model_block = followed("model");
  const CheckedBlock* resources = followed("resources");
  const auto model = model_block != nullptr ? compilation.models.at(model_block) : std::nullopt;
  const auto cluster = resources != nullptr ? compilation.clusters.at(resources) : std::nullopt;
  if (resources != nullptr && resources->Below("pool").empty()) ReportNoPool(job, *resources, sink);

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
  lowered.links = cluster->links;
  const JobParts parts{job, *model_block, ir_job, *model, *cluster, lowered.profiles};
  CheckTensorDegrees(parts, sink);
  CheckPipelineDepths(parts, sink);
  CheckPeaks(parts, sink);
  if (!CheckSizes(parts, sink) || !has_objective) return std::nullopt;
  RecordRanges(job, *cluster, lowered);
  lowered.problem.job = std::move(ir_job);
  lowered.problem.model = *model;
  lowered.problem.cluster = cluster->cluster;
  lowered.block = &job;
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

// Params from the command line: those of the file first, so that -D has the last word.
absl::StatusOr<std::vector<Definition>> ReadDefinitions(const SpecInputs& inputs, const FileSystem& files,
                                                        const ParseLimits& limits, SourceManager& sources,
                                                        DiagnosticSink& sink) {
  constexpr int64_t kMaxParamsBytes = 8 << 20;
  std::vector<Definition> definitions;
  // Each name once in each source; a -D holds one assignment.
  const auto parse = [&](std::string name, std::string text, size_t most) {
    const SourceId source = sources.Add(std::move(name), std::move(text));
    auto parsed = ParseAssignments(sources, source, limits, sink);
    if (!parsed.ok()) return parsed.status();
    std::map<std::string, SourceRange> names;
    for (size_t i = 0; i < parsed->size(); ++i) {
      Definition& definition = (*parsed)[i];
      const ast::Identifier& target = definition.target.parts.front();
      const auto [first, is_new] = names.emplace(target.text, target.range);
      if (!is_new) {
        sink.Report(DiagnosticCode::kDuplicateAttribute, target.range, absl::StrCat("`", target.text, "` is set twice"),
                    {"keep one"}, {{first->second, "first set here"}});
      } else if (i >= most) {
        sink.Report(DiagnosticCode::kSyntax, definition.range, "one -D sets one param",
                    {absl::StrCat("pass another `-D ", target.text, "=…`")});
      }
      definitions.push_back(std::move(definition));
    }
    return absl::OkStatus();
  };
  if (!inputs.params_file.empty()) {
    SAIL_ASSIGN_OR_RETURN(std::string text, files.Read(inputs.params_file, kMaxParamsBytes));
    SAIL_RETURN_IF_ERROR(parse(inputs.params_file, std::move(text), SIZE_MAX));
  }
  for (const std::string& definition : inputs.definitions) SAIL_RETURN_IF_ERROR(parse("-D", definition, 1));
  return definitions;
}

// Phases 1 to 4.
absl::Status Analyze(const std::string& path, const FileSystem& files, const ParseLimits& limits,
                     SourceManager& sources, DiagnosticSink& sink, const SpecInputs& inputs, Analysis& analysis) {
  // 1. Files: the main file and, transitively, its imports.
  SAIL_ASSIGN_OR_RETURN(analysis.modules, LoadModules(path, files, limits, sources, sink));
  SAIL_ASSIGN_OR_RETURN(analysis.definitions, ReadDefinitions(inputs, files, limits, sources, sink));
  CheckDefinitions(analysis.modules.main(), analysis.definitions, sink);
  // 2. Names.
  BindNames(analysis.modules, sink);
  // 3. Expansion: loops, bases, overrides; the structure of every block, against the schema.
  analysis.evaluator = std::make_unique<Evaluator>(analysis.modules, sources, files, analysis.definitions, sink);
  analysis.expander = std::make_unique<Expander>(analysis.modules, sources, *analysis.evaluator, sink);
  analysis.evaluator->set_blocks(analysis.expander.get());
  analysis.blocks = analysis.expander->Expand();
  // 4. Units, types and defaults of every attribute; assertions that need no plan; what looks wrong.
  CheckAttributes(analysis.blocks, *analysis.evaluator, sink);
  CheckAssertions(analysis, sources, sink);
  LintCatalogue(analysis.blocks, sink);
  LintMachines(analysis.blocks, sink);
  LintPrices(analysis.blocks, inputs.today, sink);
  LintInert(analysis.blocks, sink);
  return absl::OkStatus();
}

// Phases 5 and 6.
std::vector<LoweredJob> LowerJobs(Analysis& analysis, const FileSystem& files, DiagnosticSink& sink) {
  const CheckedBlocks& blocks = analysis.blocks;
  // 5. Resources to clusters (topology, prices, links) and models to shapes.
  const auto clusters = LowerAll<LoweredCluster>("resources", blocks,
                                                 [&](const CheckedBlock& block) { return LowerCluster(block, sink); });
  const auto models =
      LowerAll<ir::Model>("model", blocks, [&](const CheckedBlock& block) { return LowerModel(block, sink); });
  // 6. Jobs, and whether the three fit together.
  const Compilation compilation{analysis.modules, blocks, clusters, models, files, *analysis.evaluator, sink};
  std::vector<LoweredJob> jobs;
  for (const auto& block : blocks.top) {
    if (absl::string_view(block->kind->name) != "job" || block->module != &analysis.modules.main()) continue;
    if (auto job = LowerOneJob(*block, compilation)) jobs.push_back(*std::move(job));
  }
  // Objectives use names, too. With errors around, what looks unused may be what a misspelt name meant.
  if (!sink.has_errors()) LintUnused(analysis, sink);
  return jobs;
}

}  // namespace

const ast::Spec& CheckedSpec::tree() const { return analysis->modules.main().spec; }

absl::StatusOr<CheckedSpec> CheckFile(const std::string& path, const FileSystem& files, const ParseLimits& limits,
                                      SourceManager& sources, DiagnosticSink& sink, const SpecInputs& inputs) {
  CheckedSpec checked;
  checked.analysis = std::make_shared<Analysis>();
  SAIL_RETURN_IF_ERROR(Analyze(path, files, limits, sources, sink, inputs, *checked.analysis));
  checked.jobs = LowerJobs(*checked.analysis, files, sink);
  if (sink.has_errors()) return DiagnosedError();
  return checked;
}

SpecView ViewFile(const std::string& path, const FileSystem& files, const ParseLimits& limits, SourceManager& sources,
                  DiagnosticSink& sink, const SpecInputs& inputs) {
  SpecView view;
  view.analysis = std::make_shared<Analysis>();
  view.status = Analyze(path, files, limits, sources, sink, inputs, *view.analysis);
  if (!view.status.ok()) {
    view.analysis = nullptr;
    return view;
  }
  LowerJobs(*view.analysis, files, sink);
  if (sink.has_errors()) view.status = DiagnosedError();
  return view;
}

}  // namespace sail
