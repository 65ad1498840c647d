// The end of a process's log, to show beside an error.
#pragma once

#include <string>

namespace sail::rt {

// At most 8 last lines and 2000 bytes of a file, whole lines, empty if the file is empty or cannot be read.
std::string LogTail(const std::string& path);

}  // namespace sail::rt
