#include "tests/bench/accuracy/data_files.h"

#include <algorithm>
#include <filesystem>

#include "absl/strings/match.h"
#include "compiler/base/file_system.h"
#include "compiler/base/status_macros.h"

namespace sail::bench {

absl::StatusOr<std::string> ReadDataFile(const std::string& path) {
  constexpr int64_t kMaxBytes = int64_t{1} << 30;
  return RealFileSystem().Read(path, kMaxBytes);
}

absl::StatusOr<Json> ReadDataJson(const std::string& path) {
  SAIL_ASSIGN_OR_RETURN(const std::string text, ReadDataFile(path));
  return ParseJson(text, path);
}

std::vector<std::string> FilesIn(const std::string& directory, const std::string& prefix, const std::string& suffix) {
  std::vector<std::string> files;
  std::error_code absent;
  for (const auto& entry : std::filesystem::directory_iterator(directory, absent)) {
    const std::string name = entry.path().filename().string();
    if (absl::StartsWith(name, prefix) && absl::EndsWith(name, suffix)) files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace sail::bench
