#include "simulator/link_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "compiler/base/json.h"
#include "compiler/base/status_macros.h"

namespace sail::sim {
namespace {

double Messages(LinkOp op) { return op == LinkOp::kSend ? 1 : 2; }

Json ToJson(const LinkSample& sample) {
  return {{"op", std::string(ToString(sample.op))}, {"bytes", sample.bytes}, {"seconds", sample.seconds}};
}

}  // namespace

absl::string_view ToString(LinkOp op) { return op == LinkOp::kSend ? "send" : "all_reduce"; }

std::string PrintLinkSample(const LinkSample& sample) { return ToJson(sample).dump() + "\n"; }

absl::StatusOr<LinkSample> ParseLinkSample(absl::string_view line) {
  SAIL_ASSIGN_OR_RETURN(const Json json, ParseJson(line, "sample"));
  ObjectReader reader(json, "sample");
  std::string op;
  LinkSample sample;
  reader.Get("op", &op);
  reader.Get("bytes", &sample.bytes);
  reader.Get("seconds", &sample.seconds);
  SAIL_RETURN_IF_ERROR(reader.Finish());
  if (op != "send" && op != "all_reduce") {
    return absl::InvalidArgumentError(absl::StrCat("sample.op: unknown operation \"", op, "\""));
  }
  const auto is_positive = [](double x) { return x > 0 && x < std::numeric_limits<double>::infinity(); };
  if (!is_positive(sample.bytes) || !is_positive(sample.seconds)) {
    return absl::InvalidArgumentError("sample: bytes and seconds must be positive and finite");
  }
  sample.op = op == "send" ? LinkOp::kSend : LinkOp::kAllReduce;
  return sample;
}

// Least squares on  m·α/t + bytes·γ/t = 1  with m messages and γ = 1/β: two normal equations.
absl::StatusOr<LinkFit> FitLink(const std::vector<LinkSample>& samples) {
  double mm = 0, mb = 0, bb = 0, m1 = 0, b1 = 0;
  for (const LinkSample& sample : samples) {
    const double m = Messages(sample.op) / sample.seconds;
    const double b = sample.bytes / sample.seconds;
    mm += m * m;
    mb += m * b;
    bb += b * b;
    m1 += m;
    b1 += b;
  }
  const double determinant = mm * bb - mb * mb;
  if (samples.size() < 2 || determinant <= 1e-12 * mm * bb) {
    return absl::FailedPreconditionError("a link needs transfers of different sizes to be fitted");
  }
  double latency = (m1 * bb - b1 * mb) / determinant;
  double per_byte = (b1 * mm - m1 * mb) / determinant;
  if (latency < 0) {
    latency = 0;
    per_byte = b1 / bb;
  }
  if (per_byte <= 0) return absl::FailedPreconditionError("larger transfers did not take longer");
  LinkFit fit{.latency = latency, .bandwidth = 1 / per_byte};
  for (const LinkSample& sample : samples) {
    const double fitted = Messages(sample.op) * latency + sample.bytes * per_byte;
    fit.worst_error = std::max(fit.worst_error, std::abs(fitted / sample.seconds - 1));
  }
  return fit;
}

std::string LinkText(const LinkFit& fit, const std::vector<LinkSample>& samples) {
  Json list = Json::array();
  for (const LinkSample& sample : samples) list.push_back(ToJson(sample));
  return DumpJson({{"format", "1.0"},
                   {"kind", "saillink"},
                   {"latency_s", fit.latency},
                   {"bandwidth_bytes_per_s", fit.bandwidth},
                   {"samples", std::move(list)}});
}

}  // namespace sail::sim
