#include "simulator/import_link.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "compiler/base/status_macros.h"
#include "simulator/link_curve.h"
#include "simulator/link_fit.h"

namespace sail::sim {
namespace {

constexpr int64_t kSmallest = int64_t{64} << 10;
constexpr int64_t kLargest = int64_t{1} << 30;

std::string NameOf(const LinkEnd& end) { return absl::StrCat(end.zone, "/", end.gpu, "/", end.gpus); }

struct Clamped {
  std::vector<LinkSample> samples;  // from the largest size down
  std::vector<int64_t> fast;        // sizes at which the fit is faster than was seen
  std::vector<int64_t> slow;        // sizes at which it gives no time, or more than for a larger one
};

Clamped Clamp(const LinkCurve& curve) {
  Clamped clamped;
  for (int64_t size = kLargest; size >= kSmallest; size /= 2) {
    const auto bytes = static_cast<double>(size);
    const double least = bytes / curve.largest.value();
    const double next = clamped.samples.empty() ? least : clamped.samples.back().seconds;
    double seconds = curve.FittedSeconds(bytes);
    if (!std::isfinite(seconds) || seconds <= 0 || (seconds > next && !clamped.samples.empty())) {
      clamped.slow.push_back(size);
      seconds = next;
    } else if (seconds < least) {
      clamped.fast.push_back(size);
      seconds = least;
    }
    clamped.samples.push_back({.op = LinkOp::kSend, .bytes = bytes, .seconds = seconds});
  }
  std::reverse(clamped.samples.begin(), clamped.samples.end());
  std::reverse(clamped.fast.begin(), clamped.fast.end());
  std::reverse(clamped.slow.begin(), clamped.slow.end());
  return clamped;
}

std::vector<std::string> NotesOf(const LinkCurve& curve, const Clamped& clamped, const LinkFit& fit, int gpus) {
  std::vector<std::string> notes = {
      absl::StrFormat("link rule: latency = %.1f us, bandwidth = %.2f Gbps (off by %.0f %% at most)", fit.latency * 1e6,
                      fit.bandwidth * 8e-9, fit.worst_error * 100),
      absl::StrCat("sends of ", kSmallest, " to ", kLargest, " bytes at the fitted rate of ", gpus,
                   gpus == 1 ? " GPU" : " GPUs together", "; all-reduces were not measured")};
  if (!clamped.fast.empty()) {
    notes.push_back(absl::StrFormat("clamped to the largest rate that was seen, %.2f Gbps, at %s bytes",
                                    curve.largest.value() * 8e-9, absl::StrJoin(clamped.fast, ", ")));
  }
  if (!clamped.slow.empty()) {
    notes.push_back(absl::StrCat("clamped to the time of the next larger size at ", absl::StrJoin(clamped.slow, ", "),
                                 " bytes, where the fit gives none or a longer one"));
  }
  return notes;
}

}  // namespace

absl::StatusOr<LinkEnd> ParseLinkEnd(absl::string_view text) {
  const std::vector<std::string> parts = absl::StrSplit(text, '/');
  int gpus = 0;
  if (parts.size() != 3 || parts[0].empty() || parts[1].empty() || !absl::SimpleAtoi(parts[2], &gpus) || gpus < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "' is no end of a link, expected ZONE/GPU/GPUS as in us-central1-a/A100-40/4"));
  }
  return LinkEnd{.gpu = parts[1], .zone = parts[0], .gpus = gpus};
}

absl::StatusOr<ImportedProfile> ImportLink(const PublicNetwork& network, const LinkEnd& from, const LinkEnd& to) {
  const LinkCurve* curve = network.Between(from, to);
  if (curve == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("there is no link from ", NameOf(from), " to ", NameOf(to)));
  }
  const Clamped clamped = Clamp(*curve);
  const std::string name = absl::StrCat(NameOf(from), " to ", NameOf(to));
  const absl::StatusOr<LinkFit> fit = FitLink(clamped.samples);
  if (!fit.ok()) return absl::InvalidArgumentError(absl::StrCat(name, ": ", fit.status().message()));
  const std::string text = LinkText(*fit, clamped.samples);
  ir::Link link;  // what is written can be read
  SAIL_RETURN_IF_ERROR(AddLinkCurves(text, name, link));
  return ImportedProfile{text, NotesOf(*curve, clamped, *fit, from.gpus)};
}

}  // namespace sail::sim
