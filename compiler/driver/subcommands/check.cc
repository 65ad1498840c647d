#include <algorithm>

#include "compiler/base/status_macros.h"
#include "compiler/driver/compilation.h"
#include "compiler/driver/print_value.h"
#include "compiler/driver/reporter.h"
#include "compiler/driver/subcommands/subcommands.h"

namespace sail::driver {

namespace {

// What --print asks for. The tree needs no more than a file that parses; every other value a file without errors.
absl::StatusOr<std::string> CheckAndPrint(Compilation& compilation, const FileSystem& files, Print print) {
  if (print == Print::kAst) {
    SAIL_ASSIGN_OR_RETURN(const ast::Spec tree, ParseOnly(compilation, files));
    return PrintAst(tree);
  }
  SAIL_ASSIGN_OR_RETURN(const CheckedSpec spec, Check(compilation, files));
  SAIL_RETURN_IF_ERROR(CheckLinks(compilation, files, spec));
  return PrintSpec(spec, print);
}

}  // namespace

ExitCode Run(const CheckOptions& options) {
  Reporter reporter(options.common);
  const RealFileSystem files;
  ExitCode code = ExitCode::kDone;
  for (const std::string& path : options.files) {
    Compilation compilation{path, options.spec, {}, {}};
    const absl::StatusOr<std::string> value = CheckAndPrint(compilation, files, options.print);
    reporter.ShowDiagnostics(compilation.sink, compilation.sources);
    if (value.ok()) {
      reporter.Print(*value);
    } else {
      code = std::max(code, reporter.Fail(value.status()));
    }
  }
  return reporter.Finish(code);
}

}  // namespace sail::driver
