// Layer times, layer sizes and bandwidths of the public data (simulator/public_data.h, public_network.h).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "simulator/public_data.h"
#include "simulator/public_network.h"

namespace sail::bench {

struct SailorData {
  std::map<std::string, sim::PublicModel> models;
  sim::PublicNetwork network;
};

// `directory`: the folder sailor/. A model that cannot be read is left out and named in `messages`.
absl::Status ReadSailorData(const std::string& directory, SailorData& data, std::vector<std::string>& messages);

}  // namespace sail::bench
