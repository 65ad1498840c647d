#include <iostream>

#include "compiler/base/file_system.h"
#include "compiler/driver/lsp/server.h"
#include "compiler/driver/subcommands/subcommands.h"

namespace sail::driver {

ExitCode Run(const LspOptions&) {
  std::ios::sync_with_stdio(false);
  const RealFileSystem disk;
  lsp::Transport transport(std::cin, std::cout);
  // The protocol knows two ends: asked for, or not.
  return lsp::Server(disk, transport).Run() ? ExitCode::kDone : ExitCode::kSourceErrors;
}

}  // namespace sail::driver
