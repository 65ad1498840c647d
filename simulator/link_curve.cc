#include "simulator/link_curve.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "compiler/base/check.h"
#include "compiler/base/json.h"
#include "compiler/base/status_macros.h"

namespace sail::sim {
namespace {

constexpr double kLargest = 1e18;  // bytes: of what a plan file may hold
constexpr double kLongest = 1e6;   // seconds

absl::Status AddSample(const Json& json, const std::string& path, ir::Link& link) {
  ObjectReader reader(json, path);
  std::string op;
  double bytes = 0;
  double seconds = 0;
  reader.Get("op", &op);
  reader.Get("bytes", &bytes);
  reader.Get("seconds", &seconds);
  SAIL_RETURN_IF_ERROR(reader.Finish());
  if (op != "send" && op != "all_reduce") {
    return absl::InvalidArgumentError(absl::StrCat(path, ".op: unknown operation \"", op, "\""));
  }
  if (!(bytes >= 1 && bytes <= kLargest) || !(seconds > 0 && seconds <= kLongest)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": bytes must be at least 1, seconds positive and at most ", kLongest));
  }
  (op == "send" ? link.sends : link.all_reduces).push_back({.bytes = bytes, .seconds = Seconds(seconds)});
  return absl::OkStatus();
}

absl::Status Straighten(absl::string_view where, absl::string_view op, ir::LinkCurve& curve) {
  std::sort(curve.begin(), curve.end(),
            [](const ir::LinkPoint& a, const ir::LinkPoint& b) { return a.bytes < b.bytes; });
  for (size_t i = 1; i < curve.size(); ++i) {
    if (curve[i].bytes == curve[i - 1].bytes) {
      return absl::InvalidArgumentError(absl::StrCat(where, ": a second ", op, " of ", curve[i].bytes, " bytes"));
    }
    curve[i].seconds = std::max(curve[i].seconds, curve[i - 1].seconds);
  }
  return absl::OkStatus();
}

}  // namespace

double CurveSeconds(const ir::LinkCurve& curve, double bytes) {
  SAIL_CHECK(!curve.empty()) << "a link that was not measured";
  const auto above = std::upper_bound(curve.begin(), curve.end(), bytes,
                                      [](double size, const ir::LinkPoint& point) { return size < point.bytes; });
  if (above == curve.begin()) return above->seconds.value();
  const ir::LinkPoint& below = *(above - 1);
  if (above == curve.end()) return below.seconds.value() * bytes / below.bytes;
  const double share = (bytes - below.bytes) / (above->bytes - below.bytes);
  return below.seconds.value() + share * (above->seconds - below.seconds).value();
}

absl::Status AddLinkCurves(absl::string_view text, absl::string_view name, ir::Link& link) {
  const std::string where = absl::StrCat("profile '", name, "'");
  SAIL_ASSIGN_OR_RETURN(const Json json, ParseJson(text, where));
  ObjectReader reader(json, where);
  std::string format;
  std::string kind;
  reader.Get("format", &format);
  reader.Get("kind", &kind);
  const Json& samples = reader.Raw("samples");
  // The line fitted to the samples, for people.
  reader.Ignore("latency_s");
  reader.Ignore("bandwidth_bytes_per_s");
  SAIL_RETURN_IF_ERROR(reader.Finish());
  if (format != "1.0" || kind != "saillink") {
    return absl::InvalidArgumentError(
        absl::StrCat(where, " is \"", kind, "\" of format \"", format, R"(", expected "saillink" of format "1.0")"));
  }
  if (!samples.is_array() || samples.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(where, ": samples: expected a list with samples"));
  }
  ir::Link measured = link;  // replaces it only when the whole file is good
  measured.sends.clear();
  measured.all_reduces.clear();
  for (size_t i = 0; i < samples.size(); ++i) {
    SAIL_RETURN_IF_ERROR(AddSample(samples[i], absl::StrCat(where, ": samples[", i, "]"), measured));
  }
  SAIL_RETURN_IF_ERROR(Straighten(where, "send", measured.sends));
  SAIL_RETURN_IF_ERROR(Straighten(where, "all_reduce", measured.all_reduces));
  link = std::move(measured);
  return absl::OkStatus();
}

}  // namespace sail::sim
