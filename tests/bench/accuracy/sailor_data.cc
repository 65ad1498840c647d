#include "tests/bench/accuracy/sailor_data.h"

#include "absl/strings/str_cat.h"
#include "compiler/base/status_macros.h"
#include "tests/bench/accuracy/data_files.h"

namespace sail::bench {

absl::Status ReadSailorData(const std::string& directory, SailorData& data, std::vector<std::string>& messages) {
  SAIL_ASSIGN_OR_RETURN(const Json times, ReadDataJson(directory + "/layer_times.json"));
  SAIL_ASSIGN_OR_RETURN(const Json memory, ReadDataJson(directory + "/layer_memory.json"));
  SAIL_ASSIGN_OR_RETURN(const Json between, ReadDataJson(directory + "/network/multizone_bandwidths_het.json"));
  SAIL_ASSIGN_OR_RETURN(const Json inside, ReadDataJson(directory + "/network/intra_node_bandwidths.json"));
  SAIL_ASSIGN_OR_RETURN(data.network, sim::ReadPublicNetwork(between, inside));
  for (const auto& [name, value] : times.items()) {
    absl::StatusOr<sim::PublicModel> model = sim::ReadPublicModel(times, memory, name);
    if (model.ok()) {
      data.models.emplace(name, *std::move(model));
    } else {
      messages.push_back(absl::StrCat("model ", name, " left out: ", model.status().message()));
    }
  }
  return absl::OkStatus();
}

}  // namespace sail::bench
