// The front end from a file to an ir::Problem. pipeline.cc holds the ordered list of phases and is the only place that
// decides their order.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/file_system.h"
#include "compiler/base/source.h"
#include "compiler/frontend/parse.h"
#include "compiler/ir/problem.h"
#include "compiler/passes/spec_inputs.h"

namespace sail {

struct Analysis;
struct CheckedBlock;

// The most of one text file that is read as training data.
inline constexpr int64_t kMaxTextBytes = int64_t{1} << 30;

// A measured profile that the model names for a gpu; read by the driver, since profiles belong to the simulator.
struct ProfileSource {
  ir::GpuId gpu = ir::GpuId(-1);
  std::string path;   // as written, relative to the spec's directory
  SourceRange range;  // of the path in the spec
};

// Measured transfers that a link rule names, for each direction between two zones that it holds for.
struct LinkSource {
  ir::ZoneId from = ir::ZoneId(-1);
  ir::ZoneId to = ir::ZoneId(-1);
  std::string path;  // as in ProfileSource
  SourceRange range;
};

// One job of a spec, checked and lowered. `problem.profile` is still empty.
struct LoweredJob {
  ir::Problem problem;
  std::vector<ProfileSource> profiles;
  std::vector<LinkSource> links;
  // Where things were said, for diagnostics of later phases: the objective, each constraint by name, model, resources,
  // pools by name ("pool.fast"), the batch, data ("data").
  SourceRange objective;
  SourceRange job;
  const CheckedBlock* block = nullptr;  // of CheckedSpec::analysis
  std::map<std::string, SourceRange> ranges;
};

struct CheckedSpec {
  std::vector<LoweredJob> jobs;  // in source order
  std::shared_ptr<Analysis> analysis;

  const ast::Spec& tree() const;
};

// What was learnt about a file, whether or not it has errors: what editors ask. Null where it could not even be parsed.
struct SpecView {
  absl::Status status;
  std::shared_ptr<Analysis> analysis;
};

// Reads, parses, resolves and checks `path` and what it imports. Errors are in the sink (DiagnosedError); any other
// status is an environment error (the file cannot be read). A file without jobs is fine: a catalogue. `sources`,
// `files` and `sink` must outlive the analysis.
absl::StatusOr<CheckedSpec> CheckFile(const std::string& path, const FileSystem& files, const ParseLimits& limits,
                                      SourceManager& sources, DiagnosticSink& sink, const SpecInputs& inputs = {});
SpecView ViewFile(const std::string& path, const FileSystem& files, const ParseLimits& limits, SourceManager& sources,
                  DiagnosticSink& sink, const SpecInputs& inputs = {});

}  // namespace sail
