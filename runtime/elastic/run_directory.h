// The directory that a run writes to: metrics and logs. Two runs in one directory would overwrite each other's files.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace sail::rt {

// "BUNDLE.run": where a run writes unless it is told otherwise.
std::string RunDirectory(absl::string_view bundle);

// OK if `directory` exists; RunDirectory(bundle) is created, no other one. NotFound or Unavailable naming the
// directory.
absl::Status OpenRunDirectory(const std::string& directory, absl::string_view bundle);

// A file that at most one process holds, for as long as the object lives. The kernel ends the hold with the process,
// whatever ends that one: a file that was left behind blocks nobody.
class LockFile {
 public:
  // Never waits. FailedPrecondition naming the process that holds the file; Unavailable or NotFound if it cannot be
  // written.
  static absl::StatusOr<LockFile> Take(const std::string& path);
  LockFile(LockFile&& other) noexcept;
  LockFile& operator=(LockFile&&) = delete;
  ~LockFile();  // removes the file

 private:
  LockFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}

  std::string path_;
  int fd_;
};

}  // namespace sail::rt
