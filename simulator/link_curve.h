// Measured transfers over a link: `profile = "link.json"` of a link rule (docs/profile_format.md).
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "compiler/ir/cluster.h"

namespace sail::sim {

// Seconds of a transfer of `bytes`: linear between measured sizes; below the smallest its time, since what is left
// there is latency; above the largest at its rate. O(log points); `curve` must not be empty.
double CurveSeconds(const ir::LinkCurve& curve, double bytes);

// Sets link.sends and link.all_reduces to the samples of a measured link. A time below that of fewer bytes is raised
// to it: it is noise. `name` is the file as people see it. InvalidArgument: no measured link, sizes or times that are
// not positive, a size that is measured twice.
absl::Status AddLinkCurves(absl::string_view text, absl::string_view name, ir::Link& link);

}  // namespace sail::sim
