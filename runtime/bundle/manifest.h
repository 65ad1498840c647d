// The list of a bundle's files and what lies on disk; shared by the reader and by the writer, which replaces a
// directory only if it is a bundle and nothing else.
#pragma once

#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/bundle/bundle_json.h"

namespace sail::rt {

// Lines "<64 hexadecimal digits>  <relative path>", ascending by path. FailedPrecondition for any other text.
absl::StatusOr<FileHashes> ParseManifest(absl::string_view text);

// FailedPrecondition unless the manifest names the files without which a directory is no bundle.
absl::Status CheckNamesBundle(const FileHashes& hashes);

// Paths of everything below `directory` that is not a directory, relative to it. Unavailable if any of it cannot be
// read.
absl::StatusOr<std::set<std::string>> ListFiles(const std::string& directory);

}  // namespace sail::rt
