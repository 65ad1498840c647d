// bundle.json, and what must hold of a bundle before it is written and after it is read.
#pragma once

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/bundle/bundle.h"

namespace sail::rt {

inline constexpr absl::string_view kBundleJson = "bundle.json";
inline constexpr absl::string_view kManifest = "MANIFEST.sha256";
inline constexpr absl::string_view kTokens = "data/tokens.bin";

// path -> sha256 of the other files of the bundle, bundle.json and the manifest excluded.
using FileHashes = std::map<std::string, std::string>;

std::string PrintBundleJson(const Bundle& bundle, const FileHashes& files);

// Everything but the tokens and the texts of the fallbacks' plan files, of which those that are listed have the path.
// InvalidArgument naming the field; FailedPrecondition if the file list is not `files`. A rank table that names more
// processes than a node has GPUs, or differs from the plan's, is refused.
absl::StatusOr<Bundle> ParseBundleJson(absl::string_view text, const FileHashes& files);

// InvalidArgument: unsound plan, a model the runtime does not train, no or too little text, tokens outside the
// vocabulary, pool names that cannot be file names, limits that are not positive.
absl::Status CheckBundle(const Bundle& bundle);

}  // namespace sail::rt
