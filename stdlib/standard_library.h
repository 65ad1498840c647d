// The files under stdlib/, embedded in the compiler at build time. Sorted by name.
#pragma once

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace sail {

struct StandardFile {
  const char* name;  // what `import` says: "std/gcp"
  absl::string_view text;
};

absl::Span<const StandardFile> StandardLibrary();
const StandardFile* FindStandardFile(absl::string_view name);  // null if there is none

}  // namespace sail
