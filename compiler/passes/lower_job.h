// Phase 6: `model` and `job` to the IR, and the checks that need several of them at once. All functions report to
// the sink and keep going; nullopt or false means that something was reported.
#pragma once

#include <optional>
#include <vector>

#include "compiler/base/diagnostic.h"
#include "compiler/base/file_system.h"
#include "compiler/ir/job.h"
#include "compiler/ir/model.h"
#include "compiler/passes/checked_block.h"
#include "compiler/passes/convert.h"
#include "compiler/passes/evaluate.h"
#include "compiler/passes/lower_cluster.h"
#include "compiler/passes/pipeline.h"

namespace sail {

// Defaults that depend on other attributes (feed_forward = 4 * hidden, …) and the shape of the model (SAIL0420).
std::optional<ir::Model> LowerModel(const CheckedBlock& model, DiagnosticSink& sink);

// Batch, candidates, precision, optimizer, steps, seed and the names of data files; not the objective.
ir::Job LowerJob(const CheckedBlock& job);

// Objective and constraints (lower_objective.cc). Constraints are sorted by name; their ranges go to `ranges` by
// name. A `peak_memory` limit also becomes job.memory_limit.
bool LowerObjective(const CheckedBlock& block, Evaluator& evaluator, ir::Job& job,
                    std::map<std::string, SourceRange>& ranges, DiagnosticSink& sink);

// Measured profiles of the gpus in the cluster. A key that names no gpu at all is SAIL0304.
std::vector<ProfileSource> LowerProfiles(const CheckedBlock& model, const ir::Cluster& cluster,
                                         const CheckedBlocks& blocks, DiagnosticSink& sink);

// What is inconsistent between a job, its model and its cluster (check_job.cc).
struct JobParts {
  const CheckedBlock& block;
  const CheckedBlock& model_block;
  const ir::Job& job;
  const ir::Model& model;
  const LoweredCluster& cluster;
  const std::vector<ProfileSource>& profiles;
};
void CheckTensorDegrees(const JobParts& parts, DiagnosticSink& sink);   // SAIL0413
void CheckPipelineDepths(const JobParts& parts, DiagnosticSink& sink);  // SAIL0414
// Byte counts of the largest stage the job could ask for must fit 62 bits, so that no later sum can overflow
// (SAIL0214).
bool CheckSizes(const JobParts& parts, DiagnosticSink& sink);
void CheckPeaks(const JobParts& parts, DiagnosticSink& sink);  // SAIL0421

// No combination of micro-batches makes up the global batch (SAIL0412). Needs only the job.
void CheckMicroBatches(const CheckedBlock& block, const ir::Job& job, DiagnosticSink& sink);
// True if `total` is a sum of values of `parts` (ascending, positive), each used any number of times.
// O(parts.size() · parts[0]) time and O(parts[0]) memory.
bool IsSumOf(int64_t total, const std::vector<int>& parts);

// Text files exist, are UTF-8 and hold at least one sample (SAIL0422; check_data.cc). Paths in `job` are relative to
// the directory of the main file.
void CheckData(const CheckedBlock& block, const ir::Job& job, const ir::Model& model, const ModuleSet& modules,
               const FileSystem& files, DiagnosticSink& sink);

}  // namespace sail
