// One function per subcommand: options in, exit code out. Each is a straight line of steps that others implement; on
// any error nothing is written.
#pragma once

#include "compiler/driver/options.h"

namespace sail::driver {

ExitCode Run(const CheckOptions& options);
ExitCode Run(const FmtOptions& options);
ExitCode Run(const PlanOptions& options);
ExitCode Run(const SimulateOptions& options);
ExitCode Run(const ReplanOptions& options);
ExitCode Run(const ReportOptions& options);
ExitCode Run(const BuildOptions& options);
ExitCode Run(const ImportOptions& options);
ExitCode Run(const ExplainOptions& options);
ExitCode Run(const CompletionsOptions& options);
ExitCode Run(const VersionOptions& options);
ExitCode Run(const SchemaOptions& options);
ExitCode Run(const LspOptions& options);
ExitCode Run(const ExpandOptions& options);

}  // namespace sail::driver
