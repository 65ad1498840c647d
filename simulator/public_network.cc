#include "simulator/public_network.h"

#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/status_macros.h"
#include "simulator/public_data.h"

namespace sail::sim {
namespace {

constexpr int kLargestMachine = 1 << 16;

LinkEnd Named(const LinkEnd& end) { return {PublicName(end.gpu), PublicName(end.zone), end.gpus}; }

bool IsFinite(const Json& json) { return json.is_number() && std::isfinite(json.get<double>()); }

absl::StatusOr<LinkCurve> ReadCurve(const Json& json, const std::string& where) {
  const bool is_pair = json.is_array() && json.size() == 2 && json[0].is_array() && json[0].size() == 3 &&
                       IsFinite(json[0][0]) && IsFinite(json[0][1]) && IsFinite(json[0][2]) && IsFinite(json[1]);
  if (!is_pair || json[1].get<double>() <= 0) {
    return absl::InvalidArgumentError(absl::StrCat(where, ": expected [[c2, c1, c0], bytes per second]"));
  }
  return LinkCurve{.c2 = json[0][0].get<double>(),
                   .c1 = json[0][1].get<double>(),
                   .c0 = json[0][2].get<double>(),
                   .largest = BytesPerSecond(json[1].get<double>())};
}

absl::StatusOr<int> ReadGpus(const std::string& key, const std::string& where) {
  int gpus = 0;
  if (absl::SimpleAtoi(key, &gpus) && gpus >= 1 && gpus <= kLargestMachine) return gpus;
  return absl::InvalidArgumentError(absl::StrCat(where, ": \"", key, "\" is no number of GPUs"));
}

// Calls visit(number of GPUs, value, place) for each member of gpu → GPUs → value.
template <class Visit>
absl::Status ForEachMachine(const Json& json, const std::string& where, const Visit& visit) {
  if (!json.is_object()) return absl::InvalidArgumentError(absl::StrCat(where, ": expected an object"));
  for (const auto& [gpu, of_gpu] : json.items()) {
    const std::string place = absl::StrCat(where, ".", gpu);
    if (!of_gpu.is_object()) return absl::InvalidArgumentError(absl::StrCat(place, ": expected an object"));
    for (const auto& [key, value] : of_gpu.items()) {
      SAIL_ASSIGN_OR_RETURN(const int gpus, ReadGpus(key, place));
      SAIL_RETURN_IF_ERROR(visit(LinkEnd{.gpu = gpu, .gpus = gpus}, value, absl::StrCat(place, ".", key)));
    }
  }
  return absl::OkStatus();
}

// The same one level further out: zone → gpu → GPUs → value.
template <class Visit>
absl::Status ForEachPlace(const Json& json, const std::string& where, const Visit& visit) {
  if (!json.is_object()) return absl::InvalidArgumentError(absl::StrCat(where, ": expected an object"));
  for (const auto& [zone, of_zone] : json.items()) {
    SAIL_RETURN_IF_ERROR(ForEachMachine(of_zone, absl::StrCat(where, ".", zone),
                                        [&, &zone = zone](LinkEnd end, const Json& value, const std::string& place) {
                                          end.zone = zone;
                                          return visit(end, value, place);
                                        }));
  }
  return absl::OkStatus();
}

}  // namespace

double LinkCurve::FittedSeconds(double bytes) const {
  const double x = std::log2(bytes / 1e6);
  return bytes / 1e9 / (c2 * x * x + c1 * x + c0);
}

const LinkCurve* PublicNetwork::Between(const LinkEnd& from, const LinkEnd& to) const {
  const auto it = between_.find({Named(from), Named(to)});
  return it == between_.end() ? nullptr : &it->second;
}

const LinkCurve* PublicNetwork::Inside(absl::string_view gpu, int gpus) const {
  const auto it = inside_.find({PublicName(gpu), gpus});
  return it == inside_.end() ? nullptr : &it->second;
}

void PublicNetwork::SetBetween(const LinkEnd& from, const LinkEnd& to, const LinkCurve& curve) {
  between_[{Named(from), Named(to)}] = curve;
}

void PublicNetwork::SetInside(absl::string_view gpu, int gpus, const LinkCurve& curve) {
  inside_[{PublicName(gpu), gpus}] = curve;
}

absl::StatusOr<PublicNetwork> ReadPublicNetwork(const Json& between, const Json& inside) {
  PublicNetwork network;
  SAIL_RETURN_IF_ERROR(
      ForEachPlace(between, "bandwidths", [&](const LinkEnd& from, const Json& targets, const std::string& from_place) {
        return ForEachPlace(targets, from_place, [&](const LinkEnd& to, const Json& pair, const std::string& place) {
          const absl::StatusOr<LinkCurve> curve = ReadCurve(pair, place);
          if (curve.ok()) network.SetBetween(from, to, *curve);
          return curve.status();
        });
      }));
  SAIL_RETURN_IF_ERROR(ForEachMachine(inside, "intra-node bandwidths",
                                      [&](const LinkEnd& end, const Json& pair, const std::string& place) {
                                        const absl::StatusOr<LinkCurve> curve = ReadCurve(pair, place);
                                        if (curve.ok()) network.SetInside(end.gpu, end.gpus, *curve);
                                        return curve.status();
                                      }));
  return network;
}

}  // namespace sail::sim
