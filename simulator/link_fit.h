// Measured transfers over a link, and the latency and bandwidth that follow: the one writer of the files that
// link_curve.h reads.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace sail::sim {

// kSend: one stage hands a tensor to the next. kAllReduce: two replicas sum their gradients, packing included.
enum class LinkOp { kSend, kAllReduce };
absl::string_view ToString(LinkOp op);  // "send", "all_reduce"

struct LinkSample {
  LinkOp op = LinkOp::kSend;
  double bytes = 0;
  double seconds = 0;  // median of the repetitions
  friend bool operator==(const LinkSample&, const LinkSample&) = default;
};
std::string PrintLinkSample(const LinkSample& sample);  // one line of JSON, with line end
absl::StatusOr<LinkSample> ParseLinkSample(absl::string_view line);

// One `link` rule serves both operations, as the simulator charges them (docs/cost_model.md §3, §4):
//
//   send  α + bytes / β          all-reduce of two  2·α + bytes / β
//
// The α and 1/β that minimise the sum of squared relative errors over all samples. A fit with α < 0 gets α = 0.
struct LinkFit {
  double latency = 0;      // α, seconds
  double bandwidth = 0;    // β, bytes per second
  double worst_error = 0;  // largest |fitted / measured − 1|
};
// FailedPrecondition unless there are samples of two sizes at least and times grow with bytes.
absl::StatusOr<LinkFit> FitLink(const std::vector<LinkSample>& samples);

// {"format", "kind": "saillink", "latency_s", "bandwidth_bytes_per_s", "samples": [{"op", "bytes", "seconds"}]}
std::string LinkText(const LinkFit& fit, const std::vector<LinkSample>& samples);

}  // namespace sail::sim
