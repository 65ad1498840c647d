// Exit codes of sailrun; the same numbers mean the same for sailc (docs/thread_model.md has the table).
#pragma once

#include "absl/status/status.h"

namespace sail::rt {

inline constexpr int kExitDone = 0;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitBundle = 6;  // the bundle is corrupt, incomplete or of another version
// Files, ports, processes; a rank that failed; another run in the same directory. Also a run that was trained to its
// end but could not print: the metrics in their file are complete then.
inline constexpr int kExitEnvironment = 7;
inline constexpr int kExitInternal = 70;  // a failed SAIL_CHECK, here or in a worker
inline constexpr int kExitSignal = 128;   // plus the number of the signal that stopped the run

// Of a status from ReadBundle.
inline int BundleExitCode(const absl::Status& status) {
  return absl::IsFailedPrecondition(status) || absl::IsInvalidArgument(status) ? kExitBundle : kExitEnvironment;
}

}  // namespace sail::rt
