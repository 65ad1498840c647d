#include "compiler/base/file_system.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "compiler/base/status_macros.h"

namespace sail {
namespace {

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor() {
    if (fd_ >= 0) close(fd_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return fd_; }
  // Closes now; a delayed write error can show up only here.
  int Close() { return close(std::exchange(fd_, -1)); }

 private:
  int fd_;
};

absl::Status WriteAll(FileDescriptor& file, absl::string_view contents, const std::string& path) {
  while (!contents.empty()) {
    const ssize_t written = write(file.get(), contents.data(), contents.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return ErrnoStatus(errno, "write", path);
    }
    contents.remove_prefix(static_cast<size_t>(written));
  }
  if (fsync(file.get()) != 0) return ErrnoStatus(errno, "write", path);
  if (file.Close() != 0) return ErrnoStatus(errno, "write", path);
  return absl::OkStatus();
}

bool HoldsExactly(const std::string& path, absl::string_view contents) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0 || info.st_size != static_cast<off_t>(contents.size())) return false;
  const absl::StatusOr<std::string> current = RealFileSystem().Read(path, info.st_size);
  return current.ok() && *current == contents;
}

}  // namespace

absl::Status ErrnoStatus(int error, absl::string_view action, absl::string_view path) {
  const std::string object = path.empty() ? "" : absl::StrCat(" '", path, "'");
  const std::string message = absl::StrCat("cannot ", action, object, ": ", std::strerror(error));
  return error == ENOENT || error == ENOTDIR ? absl::NotFoundError(message) : absl::UnavailableError(message);
}

EndingSignalsHeld::EndingSignalsHeld() {
  sigemptyset(&held_);
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM}) sigaddset(&held_, signal);
  pthread_sigmask(SIG_BLOCK, &held_, &before_);
}

EndingSignalsHeld::~EndingSignalsHeld() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

bool EndingSignalsHeld::IsOneWaiting() const {
  sigset_t waiting, held_here;
  sigpending(&waiting);
  sigandset(&held_here, &waiting, &held_);
  return sigisemptyset(&held_here) == 0;
}

absl::StatusOr<std::string> RealFileSystem::Read(const std::string& path, int64_t max_bytes) const {
  // Without blocking: opening a pipe that nobody writes would wait for ever.
  FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return ErrnoStatus(errno, "read", path);
  struct stat info;
  if (fstat(file.get(), &info) != 0) return ErrnoStatus(errno, "read", path);
  if (S_ISDIR(info.st_mode)) return absl::UnavailableError(absl::StrCat("'", path, "' is a directory"));
  if (!S_ISREG(info.st_mode)) return absl::UnavailableError(absl::StrCat("'", path, "' is not a regular file"));
  // Read up to one byte past the limit rather than trusting the size: files in /proc report none.
  std::string contents;
  char buffer[1 << 16];
  while (true) {
    const ssize_t got = read(file.get(), buffer, sizeof(buffer));
    if (got < 0) {
      if (errno == EINTR) continue;
      return ErrnoStatus(errno, "read", path);
    }
    if (got == 0) return contents;
    contents.append(buffer, static_cast<size_t>(got));
    if (static_cast<int64_t>(contents.size()) > max_bytes) {
      return absl::UnavailableError(absl::StrCat("'", path, "' is larger than ", max_bytes, " bytes"));
    }
  }
}

bool RealFileSystem::Exists(const std::string& path) const { return access(path.c_str(), F_OK) == 0; }

absl::Status WriteFileAtomically(const std::string& link, absl::string_view contents) {
  // A link is followed, and what is no file is left alone: a rename would replace the link or the device itself.
  std::error_code error;
  std::string path = link;
  if (std::filesystem::is_symlink(std::filesystem::symlink_status(link, error))) {
    path = std::filesystem::weakly_canonical(link, error).string();
  }
  struct stat target;
  if (stat(path.c_str(), &target) == 0 && !S_ISREG(target.st_mode)) {
    return absl::UnavailableError(absl::StrCat("cannot write '", link, "': it is not a regular file"));
  }
  if (HoldsExactly(path, contents)) return absl::OkStatus();
  const EndingSignalsHeld held;
  std::string temporary = path + ".XXXXXX";
  FileDescriptor file(mkostemp(temporary.data(), O_CLOEXEC));
  if (file.get() < 0) return ErrnoStatus(errno, "write", path);
  // mkostemp creates 0600; give the file the permissions any new file would get.
  const mode_t mask = umask(0);
  umask(mask);
  fchmod(file.get(), 0666 & ~mask);
  absl::Status status = WriteAll(file, contents, path);
  if (status.ok() && std::rename(temporary.c_str(), path.c_str()) != 0) status = ErrnoStatus(errno, "write", path);
  if (!status.ok()) unlink(temporary.c_str());
  return status;
}

bool IsSameFile(const std::string& a, const std::string& b) {
  std::error_code absent;  // of either: then they are not
  return std::filesystem::equivalent(a, b, absent);
}

std::string JoinPath(absl::string_view directory, absl::string_view relative) {
  const bool absolute = (!relative.empty() && relative[0] == '/') || (!directory.empty() && directory[0] == '/');
  const std::string joined =
      !relative.empty() && relative[0] == '/' ? std::string(relative) : absl::StrCat(directory, "/", relative);
  std::vector<absl::string_view> parts;
  for (const absl::string_view part : absl::StrSplit(joined, '/', absl::SkipEmpty())) {
    if (part == ".") continue;
    if (part == ".." && !parts.empty() && parts.back() != "..") {
      parts.pop_back();
    } else if (part != ".." || !absolute) {
      parts.push_back(part);
    }
  }
  if (parts.empty()) return absolute ? "/" : ".";
  return absl::StrCat(absolute ? "/" : "", absl::StrJoin(parts, "/"));
}

std::string DirectoryOf(absl::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash == absl::string_view::npos) return "";
  return std::string(path.substr(0, slash == 0 ? 1 : slash));
}

}  // namespace sail
