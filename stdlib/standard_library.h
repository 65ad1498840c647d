// The files under stdlib/, embedded in the compiler at build time. A package is a folder (`std/gcp`), a version a file
// in it (`2026.11`); a version that was released never changes, so that an upgrade of the compiler changes no price.
#pragma once

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace sail {

struct StandardFile {
  const char* package;  // "std/gcp"
  const char* version;  // whole numbers and dots: "2026.11"
  absl::string_view text;
};

// Sorted by package, then version, oldest first.
absl::Span<const StandardFile> StandardLibrary();

// Null if there is none.
const StandardFile* FindStandardFile(absl::string_view package, absl::string_view version);
const StandardFile* NewestStandardFile(absl::string_view package);

// Compares versions number by number: 9 < 10, 1 < 1.1. Requires whole numbers and dots.
bool IsOlderVersion(absl::string_view version, absl::string_view other);

}  // namespace sail
