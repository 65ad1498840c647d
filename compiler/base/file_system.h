// Files, behind an interface so that front-end tests read from memory (tests/support/memory_file_system.h).
// All errors name the path. Writing is always: write beside, fsync, rename; equal bytes are not rewritten.
#pragma once

#include <csignal>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace sail {

class FileSystem {
 public:
  virtual ~FileSystem() = default;
  // Regular files only. NotFound if absent; Unavailable if it is anything else or larger than `max_bytes`.
  virtual absl::StatusOr<std::string> Read(const std::string& path, int64_t max_bytes) const = 0;
  virtual bool Exists(const std::string& path) const = 0;
};

class RealFileSystem : public FileSystem {
 public:
  absl::StatusOr<std::string> Read(const std::string& path, int64_t max_bytes) const override;
  bool Exists(const std::string& path) const override;
};

// While one lives, signals that end the process (hangup, interrupt, quit, terminate) wait on this thread, so that what
// is begun beside an output is moved into its place or removed first. Nothing helps against SIGKILL.
class EndingSignalsHeld {
 public:
  EndingSignalsHeld();
  ~EndingSignalsHeld();
  EndingSignalsHeld(const EndingSignalsHeld&) = delete;
  EndingSignalsHeld& operator=(const EndingSignalsHeld&) = delete;
  // Whether one waits: time to give up and clean up.
  bool IsOneWaiting() const;

 private:
  sigset_t held_;
  sigset_t before_;
};

// Replaces the file `path`, or the one it links to, atomically. When it already holds `contents` nothing is touched.
// Unavailable if it is a directory, device or pipe. A signal that ends the process waits until it is done.
absl::Status WriteFileAtomically(const std::string& path, absl::string_view contents);

// Whether both paths name one existing file, by whatever spelling or link.
bool IsSameFile(const std::string& a, const std::string& b);

// "cannot <action> '<path>': <what errno `error` means>", without the path if that is empty. NotFound if a file or
// directory is missing, else Unavailable.
absl::Status ErrnoStatus(int error, absl::string_view action, absl::string_view path = "");

// "a/b" + "c" = "a/b/c"; an absolute `relative` is returned as it is; "." and ".." are folded.
std::string JoinPath(absl::string_view directory, absl::string_view relative);
std::string DirectoryOf(absl::string_view path);  // "" when there is none

}  // namespace sail
