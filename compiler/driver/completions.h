// Completion scripts of shells, made from the description of the command line: nothing is listed twice.
#pragma once

#include <string>
#include <vector>

#include "compiler/driver/options.h"

namespace sail::driver {

std::string CompletionScript(Shell shell, const std::vector<CommandDescription>& commands);

}  // namespace sail::driver
