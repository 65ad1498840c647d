// Checks a spec that is given as text.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/source.h"
#include "compiler/passes/analysis.h"
#include "compiler/passes/pipeline.h"
#include "tests/support/memory_file_system.h"

namespace sail::test {

struct Checked {
  absl::StatusOr<CheckedSpec> spec = absl::UnknownError("not run");
  std::vector<std::string> diagnostics;  // "SAIL0204 3:17 message", in the order shown
};

// The main file is "dir/job.sail"; `others` are further files.
inline Checked CheckSource(const std::string& text, const std::map<std::string, std::string>& others = {},
                           const SpecInputs& inputs = {}) {
  MemoryFileSystem files;
  files.Add("dir/job.sail", text);
  for (const auto& [path, contents] : others) files.Add(path, contents);
  SourceManager sources;
  DiagnosticSink sink;
  Checked checked;
  checked.spec = CheckFile("dir/job.sail", files, ParseLimits(), sources, sink, inputs);
  for (const Diagnostic& diagnostic : sink.Sorted()) {
    const SourceRange range = diagnostic.primary.range;
    const LineColumn place = sources.Get(range.file).Locate(range.begin);
    checked.diagnostics.push_back(
        absl::StrCat(CodeText(diagnostic.code), " ", place.line, ":", place.column, " ", diagnostic.message));
  }
  return checked;
}

// The value of `let x = EXPR` as it would be written, or "SAIL… message" of the first diagnostic. `before` are further
// items of the file.
inline std::string Evaluated(const std::string& expr, const std::string& before = "",
                             const std::map<std::string, std::string>& others = {}) {
  MemoryFileSystem files;
  files.Add("dir/job.sail", absl::StrCat("sail 1\n", before, "\nlet x = ", expr, "\n"));
  for (const auto& [path, contents] : others) files.Add(path, contents);
  SourceManager sources;
  DiagnosticSink sink;
  const SpecView view = ViewFile("dir/job.sail", files, ParseLimits(), sources, sink);
  for (const Diagnostic& diagnostic : sink.Sorted()) {
    if (SeverityOf(diagnostic.code) == Severity::kError)
      return absl::StrCat(CodeText(diagnostic.code), " ", diagnostic.message);
  }
  if (view.analysis == nullptr) return "no analysis";
  const Binding& binding = view.analysis->modules.main().top.names.at("x");
  return binding.value ? FormatValue(*binding.value) : "no value";
}

}  // namespace sail::test
