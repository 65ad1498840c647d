// Standard output, whose failures count: a run whose results could not be printed does not end with 0.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace sail::rt {

// Writes all of `text`, unbuffered. While nobody reads (a paused terminal) it waits, but not once a stop signal has
// come. Unavailable with the reason if the text cannot be written.
absl::Status WriteStandardOutput(absl::string_view text);

// Whether a short text can be written without waiting.
bool StandardOutputIsReady();

// Occupies those of the descriptors 0, 1 and 2 that are closed, so that no file gets their numbers, and with them what
// is printed. Writing to them still fails.
void OccupyStandardDescriptors();

}  // namespace sail::rt
