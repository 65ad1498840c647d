#include "runtime/bundle/manifest.h"

#include <algorithm>
#include <filesystem>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace sail::rt {
namespace {

absl::Status ManifestError(absl::string_view problem) {
  return absl::FailedPreconditionError(absl::StrCat(kManifest, ": ", problem));
}

}  // namespace

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

absl::Status CheckNamesBundle(const FileHashes& hashes) {
  for (const absl::string_view required : {kBundleJson, kTokens}) {
    if (!hashes.contains(std::string(required))) return ManifestError(absl::StrCat("does not name '", required, "'"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::set<std::string>> ListFiles(const std::string& directory) {
  namespace fs = std::filesystem;
  std::set<std::string> paths;
  std::error_code error;
  for (fs::recursive_directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    if (!it->is_directory(error) || it->is_symlink(error)) paths.insert(it->path().lexically_relative(directory));
  }
  if (error) return absl::UnavailableError(absl::StrCat("cannot read '", directory, "': ", error.message()));
  return paths;
}

}  // namespace sail::rt
