// Files in memory, for front-end tests.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/file_system.h"

namespace sail {

class MemoryFileSystem : public FileSystem {
 public:
  void Add(std::string path, std::string contents) { files_[std::move(path)] = std::move(contents); }

  absl::StatusOr<std::string> Read(const std::string& path, int64_t max_bytes) const override {
    const auto found = files_.find(path);
    if (found == files_.end()) return absl::NotFoundError(absl::StrCat("no file '", path, "'"));
    if (static_cast<int64_t>(found->second.size()) > max_bytes) {
      return absl::InvalidArgumentError(absl::StrCat("'", path, "' is larger than ", max_bytes, " bytes"));
    }
    return found->second;
  }
  bool Exists(const std::string& path) const override { return files_.count(path) > 0; }

 private:
  std::map<std::string, std::string> files_;
};

}  // namespace sail
