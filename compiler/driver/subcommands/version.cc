#include "absl/strings/str_cat.h"
#include "compiler/base/json.h"
#include "compiler/driver/reporter.h"
#include "compiler/driver/subcommands/subcommands.h"

namespace sail::driver {

ExitCode Run(const VersionOptions& options) {
  Reporter reporter({});
  reporter.Print(options.json ? DumpJson({{"name", "sailc"}, {"version", SAIL_VERSION}})
                              : absl::StrCat("sailc ", SAIL_VERSION, "\n"));
  return reporter.Finish(ExitCode::kDone);
}

}  // namespace sail::driver
