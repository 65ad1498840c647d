// How two texts differ, as `diff -u` shows it and `patch` applies it.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace sail::driver {

// Empty if the texts are equal; otherwise a header with the two names and hunks with three lines of context. The fewest
// changed lines (Myers 1986) up to kMaxEdits; beyond, everything between the first and the last difference.
// O(lines · edits) time, O(edits²) space.
inline constexpr int kMaxEdits = 2000;
std::string UnifiedDiff(absl::string_view before, absl::string_view after, absl::string_view before_name,
                        absl::string_view after_name);

}  // namespace sail::driver
