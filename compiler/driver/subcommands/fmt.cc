#include <iostream>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/driver/compilation.h"
#include "compiler/driver/reporter.h"
#include "compiler/driver/subcommands/subcommands.h"
#include "compiler/driver/unified_diff.h"
#include "compiler/frontend/format.h"

namespace sail::driver {
namespace {

constexpr char kStandardInput[] = "-";

struct Formatted {
  std::string path;
  std::string source;
  std::string text;
  bool differs() const { return source != text; }
};

absl::StatusOr<std::string> ReadSource(const std::string& path, const FileSystem& files) {
  if (path != kStandardInput) return files.Read(path, kMaxSourceBytes);
  return std::string(std::istreambuf_iterator<char>(std::cin), {});
}

std::string NameOf(const std::string& path) { return path == kStandardInput ? "<stdin>" : path; }

// Formats one file in memory and shows its diagnostics.
absl::StatusOr<Formatted> FormatFile(const std::string& path, const FileSystem& files, Reporter& reporter) {
  absl::StatusOr<std::string> source = ReadSource(path, files);
  if (!source.ok()) return source.status();
  Compilation compilation{path, {}, {}, {}};
  const SourceId id = compilation.sources.Add(NameOf(path), *source);
  absl::StatusOr<std::string> text = sail::Format(compilation.sources, id, ParseLimits(), compilation.sink);
  reporter.ShowDiagnostics(compilation.sink, compilation.sources);
  if (!text.ok()) return text.status();
  return Formatted{path, *std::move(source), *std::move(text)};
}

}  // namespace

ExitCode Run(const FmtOptions& options) {
  Reporter reporter(options.common);
  const RealFileSystem files;
  ExitCode code = ExitCode::kDone;
  std::vector<Formatted> results;
  for (const std::string& path : options.files) {
    absl::StatusOr<Formatted> formatted = FormatFile(path, files, reporter);
    if (formatted.ok()) {
      results.push_back(*std::move(formatted));
    } else {
      code = std::max(code, reporter.Fail(formatted.status()));
    }
  }
  if (code != ExitCode::kDone) return reporter.Finish(code);

  for (const Formatted& result : results) {
    if (options.check) {
      if (!result.differs()) continue;
      const std::string name = NameOf(result.path);
      reporter.Print(options.diff ? UnifiedDiff(result.source, result.text, name, name + " (formatted)")
                                  : absl::StrCat(name, "\n"));
      code = ExitCode::kDifference;
    } else if (result.path == kStandardInput) {
      reporter.Print(result.text);
    } else if (const absl::Status written = WriteFileAtomically(result.path, result.text); !written.ok()) {
      return reporter.Finish(reporter.Fail(written));
    }
  }
  return reporter.Finish(code);
}

}  // namespace sail::driver
