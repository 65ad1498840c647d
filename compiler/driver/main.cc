// sailc: from .sail sources to plans, forecasts and launch bundles.
#include <csignal>
#include <variant>

#include "compiler/driver/options.h"
#include "compiler/driver/subcommands/subcommands.h"

int main(int argc, char** argv) {
  using sail::driver::Command;
  using sail::driver::ExitCode;
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of its write
  const std::variant<Command, ExitCode> parsed = sail::driver::ParseCommandLine(argc, argv);
  if (const ExitCode* code = std::get_if<ExitCode>(&parsed)) return static_cast<int>(*code);
  const auto run = [](const auto& options) { return sail::driver::Run(options); };
  return static_cast<int>(std::visit(run, std::get<Command>(parsed)));
}
