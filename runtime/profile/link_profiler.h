// Measures what two ranks of this machine need to send a tensor and to sum one. No Torch types here.
#pragma once

#include <functional>

#include "absl/status/status.h"
#include "runtime/profile/layer_profiler.h"
#include "simulator/link_fit.h"

namespace sail::rt {

inline constexpr int kLinkSizes = 7;  // 4 KiB to 16 MiB, each four times the one before

// Both operations at each size, with the runtime's own communicator. `on_sample` is called on rank 0; others take part.
// Requires two ranks. Errors: see TrainRank.
absl::Status ProfileLink(const ProfileRank& self, const std::function<absl::Status(const sim::LinkSample&)>& on_sample);

}  // namespace sail::rt
