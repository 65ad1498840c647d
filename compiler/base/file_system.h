// Files, behind an interface so that front-end tests read from memory (tests/support/memory_file_system.h).
// All errors name the path. Writing is always: write beside, fsync, rename; equal bytes are not rewritten.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace sail {

class FileSystem {
 public:
  virtual ~FileSystem() = default;
  // NotFound if absent; InvalidArgument if it is a directory or larger than `max_bytes`.
  virtual absl::StatusOr<std::string> Read(const std::string& path, int64_t max_bytes) const = 0;
  virtual bool Exists(const std::string& path) const = 0;
};

class RealFileSystem : public FileSystem {
 public:
  absl::StatusOr<std::string> Read(const std::string& path, int64_t max_bytes) const override;
  bool Exists(const std::string& path) const override;
};

// Replaces `path` atomically. When the file already holds `contents` nothing is touched.
absl::Status WriteFileAtomically(const std::string& path, absl::string_view contents);

// "a/b" + "c" = "a/b/c"; an absolute `relative` is returned as it is; "." and ".." are folded.
std::string JoinPath(absl::string_view directory, absl::string_view relative);
std::string DirectoryOf(absl::string_view path);  // "" when there is none

}  // namespace sail
