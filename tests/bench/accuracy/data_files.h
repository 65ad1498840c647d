// Files of the data directory.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/base/json.h"

namespace sail::bench {

absl::StatusOr<std::string> ReadDataFile(const std::string& path);
absl::StatusOr<Json> ReadDataJson(const std::string& path);
// Files of a directory by beginning and end of their names, sorted; none if there is no such directory.
std::vector<std::string> FilesIn(const std::string& directory, const std::string& prefix, const std::string& suffix);

}  // namespace sail::bench
