#include <algorithm>
#include <filesystem>
#include <limits>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/file_system.h"
#include "compiler/base/sha256.h"
#include "compiler/base/status_macros.h"
#include "runtime/bundle/bundle.h"
#include "runtime/bundle/bundle_json.h"
#include "runtime/bundle/fallbacks.h"
#include "runtime/bundle/manifest.h"

namespace sail::rt {
namespace {

namespace fs = std::filesystem;

// Files that the manifest does not name, and whatever is neither file nor directory, are refused.
absl::Status CheckNothingElse(const std::string& directory, const FileHashes& hashes) {
  SAIL_ASSIGN_OR_RETURN(const std::set<std::string> paths, ListFiles(directory));
  for (const std::string& path : paths) {
    if (path != kManifest && !hashes.contains(path)) {
      return absl::FailedPreconditionError(absl::StrCat("file '", path, "' is not part of the bundle"));
    }
  }
  for (const auto& [path, hash] : hashes) {
    if (!paths.contains(path)) return absl::FailedPreconditionError(absl::StrCat("file '", path, "' is missing"));
    std::error_code error;
    if (!fs::is_regular_file(fs::symlink_status(JoinPath(directory, path), error))) {
      return absl::FailedPreconditionError(absl::StrCat("file '", path, "' is not a regular file"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<uint16_t>> ParseTokens(absl::string_view bytes) {
  if (bytes.size() % 2 != 0) return absl::InvalidArgumentError(absl::StrCat(kTokens, ": odd number of bytes"));
  std::vector<uint16_t> tokens(bytes.size() / 2);
  for (size_t i = 0; i < tokens.size(); ++i) {
    tokens[i] = static_cast<uint16_t>(static_cast<unsigned char>(bytes[2 * i]) |
                                      static_cast<unsigned char>(bytes[2 * i + 1]) << 8);
  }
  return tokens;
}

// Puts the contents of the plan files in the place of their paths.
absl::Status LoadFallbacks(std::map<std::string, std::string>& contents, Bundle& bundle) {
  size_t listed = 0;
  for (Fallback& fallback : bundle.fallbacks) {
    if (fallback.plan_file.empty()) continue;
    const auto file = contents.find(fallback.plan_file);
    if (file == contents.end()) {
      return absl::FailedPreconditionError(absl::StrCat("file '", fallback.plan_file, "' is missing"));
    }
    fallback.plan_file = file->second;
    ++listed;
  }
  const auto present = std::count_if(contents.begin(), contents.end(),
                                     [](const auto& file) { return absl::StartsWith(file.first, kFallbackDirectory); });
  if (static_cast<size_t>(present) == listed) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("bundle.fallbacks: names ", listed, " plan files, there are ", present));
}

absl::StatusOr<Bundle> Read(const std::string& directory) {
  const RealFileSystem files;
  constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();
  if (!files.Exists(JoinPath(directory, kManifest))) {
    return absl::FailedPreconditionError(
        absl::StrCat(kManifest, " is missing: not a bundle, or not written completely"));
  }
  SAIL_ASSIGN_OR_RETURN(const std::string manifest, files.Read(JoinPath(directory, kManifest), kNoLimit));
  SAIL_ASSIGN_OR_RETURN(FileHashes hashes, ParseManifest(manifest));
  SAIL_RETURN_IF_ERROR(CheckNothingElse(directory, hashes));
  std::map<std::string, std::string> contents;
  for (const auto& [path, hash] : hashes) {
    SAIL_ASSIGN_OR_RETURN(contents[path], files.Read(JoinPath(directory, path), kNoLimit));
    if (Sha256Hex(contents[path]) != hash) {
      return absl::FailedPreconditionError(absl::StrCat("file '", path, "' does not match its hash"));
    }
  }
  SAIL_RETURN_IF_ERROR(CheckNamesBundle(hashes));
  hashes.erase(std::string(kBundleJson));
  SAIL_ASSIGN_OR_RETURN(Bundle bundle, ParseBundleJson(contents[std::string(kBundleJson)], hashes));
  SAIL_ASSIGN_OR_RETURN(bundle.tokens, ParseTokens(contents[std::string(kTokens)]));
  SAIL_RETURN_IF_ERROR(LoadFallbacks(contents, bundle));
  SAIL_RETURN_IF_ERROR(CheckBundle(bundle));
  return bundle;
}

}  // namespace

absl::StatusOr<Bundle> ReadBundle(const std::string& directory) {
  std::error_code error;
  if (!fs::is_directory(directory, error)) {
    return absl::NotFoundError(absl::StrCat("bundle '", directory, "' does not exist or is not a directory"));
  }
  absl::StatusOr<Bundle> bundle = Read(directory);
  if (!bundle.ok()) return Annotate(bundle.status(), absl::StrCat("bundle '", directory, "'"));
  return bundle;
}

}  // namespace sail::rt
