// file: URIs and paths.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace sail::lsp {

// The path of a "file:///…" URI, with percent escapes resolved and "." and ".." folded. Any other URI (a buffer
// without a file) is its own path: it can be checked, but nothing beside it can be imported.
std::string PathOfUri(absl::string_view uri);
std::string UriOfPath(absl::string_view path);

}  // namespace sail::lsp
