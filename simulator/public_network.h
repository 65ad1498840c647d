// Bandwidths between machines of the Sailor artifact: zone → gpu → GPUs of the machine → zone → gpu → GPUs →
// [[c2, c1, c0], bytes/s]; and inside machines: gpu → GPUs → the same pair. The rate is that of the whole machine's
// GPUs together; the fit is GB/s = c2·x² + c1·x + c0 with x = log2(bytes / 1e6), the scalar the largest rate that was
// seen.
#pragma once

#include <compare>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "compiler/base/json.h"
#include "compiler/base/units.h"

namespace sail::sim {

struct LinkCurve {
  double c2 = 0;
  double c1 = 0;
  double c0 = 0;
  BytesPerSecond largest = BytesPerSecond(0);

  // The fit as it is, which is negative for some small messages: what the published simulator computes with.
  double FittedSeconds(double bytes) const;
  friend bool operator==(const LinkCurve&, const LinkCurve&) = default;
};

// `gpus` GPUs of one machine.
struct LinkEnd {
  std::string gpu;
  std::string zone;
  int gpus = 1;
  friend auto operator<=>(const LinkEnd&, const LinkEnd&) = default;
};

class PublicNetwork {
 public:
  // Null where nothing was measured. Names are compared by PublicName.
  const LinkCurve* Between(const LinkEnd& from, const LinkEnd& to) const;
  const LinkCurve* Inside(absl::string_view gpu, int gpus) const;

  void SetBetween(const LinkEnd& from, const LinkEnd& to, const LinkCurve& curve);
  void SetInside(absl::string_view gpu, int gpus, const LinkCurve& curve);

 private:
  std::map<std::pair<LinkEnd, LinkEnd>, LinkCurve> between_;
  std::map<std::pair<std::string, int>, LinkCurve> inside_;
};

// `between`, `inside`: multizone_bandwidths_het.json and intra_node_bandwidths.json. InvalidArgument names the place.
absl::StatusOr<PublicNetwork> ReadPublicNetwork(const Json& between, const Json& inside);

}  // namespace sail::sim
