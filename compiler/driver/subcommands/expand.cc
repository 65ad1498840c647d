#include "compiler/base/json.h"
#include "compiler/driver/compilation.h"
#include "compiler/driver/reporter.h"
#include "compiler/driver/resolved.h"
#include "compiler/driver/subcommands/subcommands.h"

namespace sail::driver {

ExitCode Run(const ExpandOptions& options) {
  Reporter reporter(options.common);
  const RealFileSystem files;
  Compilation compilation{options.file, options.spec, {}, {}};
  const absl::StatusOr<CheckedSpec> spec = Check(compilation, files);
  reporter.ShowDiagnostics(compilation.sink, compilation.sources);
  if (!spec.ok()) return reporter.Finish(reporter.Fail(spec.status()));
  reporter.Print(options.json ? DumpJson(ResolvedJson(*spec, compilation.sources))
                              : PrintResolved(*spec, compilation.sources, options.why));
  return reporter.Finish(ExitCode::kDone);
}

}  // namespace sail::driver
