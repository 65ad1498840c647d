#include "compiler/driver/completions.h"

#include "compiler/driver/reporter.h"
#include "compiler/driver/subcommands/subcommands.h"

namespace sail::driver {

ExitCode Run(const CompletionsOptions& options) {
  Reporter reporter({});
  reporter.Print(CompletionScript(options.shell, DescribeCommandLine()));
  return reporter.Finish(ExitCode::kDone);
}

}  // namespace sail::driver
