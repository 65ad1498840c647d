#include "compiler/driver/reporter.h"
#include "compiler/driver/schema_document.h"
#include "compiler/driver/subcommands/subcommands.h"

namespace sail::driver {

ExitCode Run(const SchemaOptions& options) {
  Reporter reporter(CommonOptions{});
  reporter.Print(options.json ? DumpJson(SchemaDocument()) : SchemaTables());
  return reporter.Finish(ExitCode::kDone);
}

}  // namespace sail::driver
