#include "runtime/elastic/run_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/file_system.h"

namespace sail::rt {
namespace {

// The process number in a lock file; 0 if its holder has not written it yet.
int HolderOf(int fd) {
  char text[32];
  const ssize_t size = pread(fd, text, sizeof(text), 0);
  int pid = 0;
  return size > 0 && absl::SimpleAtoi(absl::string_view(text, static_cast<size_t>(size)), &pid) ? pid : 0;
}

absl::Status HeldByAnother(const std::string& path, int holder) {
  const std::string who = holder > 0 ? absl::StrCat("process ", holder) : "another process";
  return absl::FailedPreconditionError(absl::StrCat("another sailrun writes here: ", who, " holds '", path, "'"));
}

// Whether `path` still is the file that was opened: a holder removes its file when it ends.
bool IsAt(const std::string& path, int fd) {
  struct stat opened, present;
  return fstat(fd, &opened) == 0 && stat(path.c_str(), &present) == 0 && opened.st_dev == present.st_dev &&
         opened.st_ino == present.st_ino;
}

}  // namespace

std::string RunDirectory(absl::string_view bundle) { return absl::StrCat(JoinPath(bundle, ""), ".run"); }

absl::Status OpenRunDirectory(const std::string& directory, absl::string_view bundle) {
  const std::string path = directory.empty() ? "." : directory;
  if (JoinPath(path, "") == RunDirectory(bundle) && mkdir(path.c_str(), 0777) != 0 && errno != EEXIST) {
    return ErrnoStatus(errno, "create", path);
  }
  struct stat info;
  if (stat(path.c_str(), &info) != 0) return ErrnoStatus(errno, "write to directory", path);
  if (!S_ISDIR(info.st_mode)) return ErrnoStatus(ENOTDIR, "write to directory", path);
  return absl::OkStatus();
}

absl::StatusOr<LockFile> LockFile::Take(const std::string& path) {
  while (true) {  // again only if a holder ended at this moment
    const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
    if (fd < 0) return ErrnoStatus(errno, "write", path);
    LockFile file("", fd);  // closes the file, but removes it only once it is ours
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
      return errno == EWOULDBLOCK ? HeldByAnother(path, HolderOf(fd)) : ErrnoStatus(errno, "lock", path);
    }
    if (!IsAt(path, fd)) continue;
    file.path_ = path;
    const std::string holder = absl::StrCat(getpid(), "\n");
    if (ftruncate(fd, 0) != 0 || pwrite(fd, holder.data(), holder.size(), 0) < 0) {
      return ErrnoStatus(errno, "write", path);
    }
    return file;
  }
}

LockFile::LockFile(LockFile&& other) noexcept : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)) {}

LockFile::~LockFile() {
  if (fd_ < 0) return;
  if (!path_.empty()) unlink(path_.c_str());  // before the hold ends: afterwards it may be another's
  close(fd_);
}

}  // namespace sail::rt
