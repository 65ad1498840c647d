#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <set>

#include "absl/strings/str_cat.h"
#include "compiler/base/file_system.h"
#include "compiler/base/sha256.h"
#include "compiler/base/status_macros.h"
#include "runtime/bundle/bundle.h"
#include "runtime/bundle/bundle_json.h"
#include "runtime/bundle/fallbacks.h"
#include "runtime/bundle/manifest.h"
#include "runtime/bundle/nodes.h"

namespace sail::rt {
namespace {

namespace fs = std::filesystem;
using Files = std::map<std::string, std::string>;  // relative path -> contents

std::string TokenBytes(const std::vector<uint16_t>& tokens) {
  std::string bytes(tokens.size() * 2, '\0');
  for (size_t i = 0; i < tokens.size(); ++i) {
    bytes[2 * i] = static_cast<char>(tokens[i] & 0xff);
    bytes[2 * i + 1] = static_cast<char>(tokens[i] >> 8);
  }
  return bytes;
}

FileHashes HashesOf(const Files& files) {
  FileHashes hashes;
  for (const auto& [path, contents] : files) hashes[path] = Sha256Hex(contents);
  return hashes;
}

Files RenderFiles(const Bundle& bundle) {
  const ir::Placement placement(bundle.plan);
  const std::vector<Node> nodes = NodesOf(bundle.problem.cluster, placement);
  Files files;
  files[std::string(kTokens)] = TokenBytes(bundle.tokens);
  for (size_t i = 0; i < nodes.size(); ++i) {
    const std::string folder = absl::StrCat("nodes/", nodes[i].name, "/");
    files[folder + "env"] = NodeEnvironment(bundle, placement, nodes, static_cast<int>(i));
    files[folder + "launch.sh"] = LaunchScript(bundle, nodes[i]);
  }
  for (const Fallback& fallback : bundle.fallbacks) {
    if (!fallback.plan_file.empty()) files[FallbackPath(fallback)] = fallback.plan_file;
  }
  files[std::string(kBundleJson)] = PrintBundleJson(bundle, HashesOf(files));
  std::string manifest;
  for (const auto& [path, hash] : HashesOf(files)) absl::StrAppend(&manifest, hash, "  ", path, "\n");
  files[std::string(kManifest)] = manifest;
  return files;
}

bool HoldsExactly(const std::string& directory, const Files& files) {
  const absl::StatusOr<std::set<std::string>> present = ListFiles(directory);
  if (!present.ok() || present->size() != files.size()) return false;
  for (const auto& [path, contents] : files) {
    const auto size = static_cast<int64_t>(contents.size());
    const absl::StatusOr<std::string> on_disk = RealFileSystem().Read(JoinPath(directory, path), size);
    if (!on_disk.ok() || *on_disk != contents) return false;
  }
  return true;
}

// A directory may be replaced only if all it holds was written by WriteBundle: its manifest names every file.
absl::Status CheckReplaceable(const std::string& directory) {
  constexpr int64_t kMaxManifest = int64_t{64} << 20;
  const absl::StatusOr<std::string> manifest = RealFileSystem().Read(JoinPath(directory, kManifest), kMaxManifest);
  const absl::StatusOr<FileHashes> hashes = manifest.ok() ? ParseManifest(*manifest) : manifest.status();
  if (!hashes.ok() || !CheckNamesBundle(*hashes).ok()) {
    return absl::AlreadyExistsError(absl::StrCat("'", directory, "' exists and is not a bundle; not replaced"));
  }
  SAIL_ASSIGN_OR_RETURN(const std::set<std::string> present, ListFiles(directory));
  for (const std::string& path : present) {
    if (path != kManifest && !hashes->contains(path)) {
      return absl::AlreadyExistsError(
          absl::StrCat("'", directory, "' holds '", path, "', which is not part of the bundle; not replaced"));
    }
  }
  return absl::OkStatus();
}

absl::Status SyncDirectory(const std::string& directory) {
  const int fd = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return ErrnoStatus(errno, "open", directory);
  const bool synced = fsync(fd) == 0;
  const absl::Status status = synced ? absl::OkStatus() : ErrnoStatus(errno, "write", directory);
  close(fd);
  return status;
}

// Writes all files below `directory`, the manifest last, each one on disk before the next.
absl::Status WriteFiles(const std::string& directory, const Files& files, const EndingSignalsHeld& held) {
  std::set<std::string> folders = {directory};
  const auto write = [&](const std::string& path, const std::string& contents) -> absl::Status {
    if (held.IsOneWaiting()) return absl::CancelledError("interrupted");
    const std::string full = JoinPath(directory, path);
    const std::string folder = DirectoryOf(full);
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) return absl::UnavailableError(absl::StrCat("cannot create '", folder, "': ", error.message()));
    for (std::string up = folder; up != directory; up = DirectoryOf(up)) folders.insert(up);
    SAIL_RETURN_IF_ERROR(WriteFileAtomically(full, contents));
    if (fs::path(path).extension() == ".sh" && chmod(full.c_str(), 0755) != 0) return ErrnoStatus(errno, "write", full);
    return absl::OkStatus();
  };
  const std::string manifest(kManifest);
  for (const auto& [path, contents] : files) {
    if (path != manifest) SAIL_RETURN_IF_ERROR(write(path, contents));
  }
  SAIL_RETURN_IF_ERROR(write(manifest, files.at(manifest)));
  for (const std::string& folder : folders) SAIL_RETURN_IF_ERROR(SyncDirectory(folder));
  return absl::OkStatus();
}

enum class Present { kNothing, kSameBundle, kOtherBundle };

// What lies at `target`. AlreadyExists if it may not be replaced. Another process may be building to the same place:
// what it moved while we looked is looked at again.
absl::StatusOr<Present> Inspect(const std::string& target, const Files& files) {
  const auto id = [&] {
    struct stat info;
    return lstat(target.c_str(), &info) == 0 ? info.st_ino : 0;
  };
  for (ino_t before = id();;) {
    if (before == 0) return Present::kNothing;
    if (HoldsExactly(target, files)) return Present::kSameBundle;
    const absl::Status status = CheckReplaceable(target);
    if (status.ok()) return Present::kOtherBundle;
    const ino_t after = id();
    if (after == before) return status;
    before = after;
  }
}

// Puts `fresh` in the place of `target`, unless another process has put the same bundle there by now; `fresh` is then
// left. An old bundle is moved aside first. If another process is quicker between the two renames, its bundle is the
// old one of the next attempt.
absl::Status MoveIntoPlace(const std::string& fresh, const std::string& target, const Files& files) {
  constexpr int kAttempts = 100;  // each one lost is a whole bundle that another process has written meanwhile
  const std::string old = fresh + ".old";
  std::error_code ignored;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    SAIL_ASSIGN_OR_RETURN(const Present present, Inspect(target, files));
    if (present == Present::kSameBundle) return absl::OkStatus();
    const bool replace = present == Present::kOtherBundle;
    if (replace && std::rename(target.c_str(), old.c_str()) != 0) {
      if (errno == ENOENT) continue;
      return ErrnoStatus(errno, "replace", target);
    }
    if (std::rename(fresh.c_str(), target.c_str()) == 0) {
      if (replace) fs::remove_all(old, ignored);
      const std::string parent = DirectoryOf(target);
      return SyncDirectory(parent.empty() ? "." : parent);
    }
    const int error = errno;
    if (error == ENOTEMPTY || error == EEXIST) {
      if (replace) fs::remove_all(old, ignored);
      continue;
    }
    if (replace) std::rename(old.c_str(), target.c_str());
    return ErrnoStatus(error, "write", target);
  }
  return absl::UnavailableError(absl::StrCat("another process keeps writing to '", target, "'"));
}

}  // namespace

absl::Status WriteBundle(const Bundle& bundle, const std::string& directory) {
  SAIL_RETURN_IF_ERROR(CheckBundle(bundle));
  const std::string target = JoinPath(directory, "");
  const Files files = RenderFiles(bundle);
  SAIL_ASSIGN_OR_RETURN(const Present present, Inspect(target, files));
  if (present == Present::kSameBundle) return absl::OkStatus();

  const EndingSignalsHeld held;
  std::string fresh = absl::StrCat(target, ".XXXXXX");
  if (mkdtemp(fresh.data()) == nullptr) return ErrnoStatus(errno, "write", target);
  const mode_t mask = umask(0);
  umask(mask);
  chmod(fresh.c_str(), 0777 & ~mask);  // mkdtemp creates 0700
  absl::Status status = WriteFiles(fresh, files, held);
  if (status.ok()) status = MoveIntoPlace(fresh, target, files);
  std::error_code ignored;
  fs::remove_all(fresh, ignored);  // nothing is there after a move
  return Annotate(status, absl::StrCat("writing bundle '", target, "'"));
}

std::vector<uint16_t> TokensOfText(absl::string_view text) {
  std::vector<uint16_t> tokens;
  tokens.reserve(text.size());
  for (const char c : text) tokens.push_back(static_cast<unsigned char>(c));
  return tokens;
}

}  // namespace sail::rt
