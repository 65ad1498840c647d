#include <algorithm>
#include <filesystem>
#include <limits>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "compiler/base/file_system.h"
#include "compiler/base/sha256.h"
#include "compiler/base/status_macros.h"
#include "runtime/bundle/bundle.h"
#include "runtime/bundle/bundle_json.h"

namespace sail::rt {
namespace {

namespace fs = std::filesystem;

absl::Status ManifestError(absl::string_view problem) {
  return absl::FailedPreconditionError(absl::StrCat(kManifest, ": ", problem));
}

// Lines "<64 hexadecimal digits>  <relative path>", ascending by path.
absl::StatusOr<FileHashes> ParseManifest(absl::string_view text) {
  if (text.empty() || text.back() != '\n') return ManifestError("ends in the middle of a line");
  FileHashes hashes;
  text.remove_suffix(1);
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const absl::string_view hash = line.substr(0, 64);
    const bool shaped = line.size() > 66 && line.substr(64, 2) == "  " &&
                        std::all_of(hash.begin(), hash.end(), [](char c) { return absl::ascii_isxdigit(c); });
    if (!shaped) return ManifestError(absl::StrCat("line '", line, "' is not '<sha256>  <path>'"));
    const std::string path(line.substr(66));
    if (!hashes.empty() && path <= hashes.rbegin()->first) return ManifestError("paths are not ascending");
    hashes[path] = std::string(hash);
  }
  return hashes;
}

// Files that the manifest does not name, and whatever is neither file nor directory, are refused.
absl::Status CheckNothingElse(const std::string& directory, const FileHashes& hashes) {
  std::error_code error;
  std::set<std::string> paths;
  for (fs::recursive_directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    if (!it->is_directory(error) || it->is_symlink(error)) paths.insert(it->path().lexically_relative(directory));
  }
  if (error) return absl::UnavailableError(absl::StrCat("cannot read '", directory, "': ", error.message()));
  for (const std::string& path : paths) {
    if (path != kManifest && !hashes.contains(path)) {
      return absl::FailedPreconditionError(absl::StrCat("file '", path, "' is not part of the bundle"));
    }
  }
  for (const auto& [path, hash] : hashes) {
    if (!paths.contains(path)) return absl::FailedPreconditionError(absl::StrCat("file '", path, "' is missing"));
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
  for (const absl::string_view required : {kBundleJson, kTokens}) {
    if (!hashes.contains(std::string(required))) return ManifestError(absl::StrCat("does not name '", required, "'"));
  }
  hashes.erase(std::string(kBundleJson));
  SAIL_ASSIGN_OR_RETURN(Bundle bundle, ParseBundleJson(contents[std::string(kBundleJson)], hashes));
  SAIL_ASSIGN_OR_RETURN(bundle.tokens, ParseTokens(contents[std::string(kTokens)]));
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
