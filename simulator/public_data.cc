#include "simulator/public_data.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "compiler/base/status_macros.h"

namespace sail::sim {
namespace {

// No published profile has more layers, samples or GPUs in a group; keys become indices.
constexpr int kLargestKey = 1 << 16;

template <class... Parts>
absl::Status Fault(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

// The members of an object whose keys are whole numbers from `least`, by number.
absl::StatusOr<std::map<int, const Json*>> NumberedMembers(const Json& json, int least, const std::string& where) {
  if (!json.is_object()) return Fault(where, ": expected an object");
  std::map<int, const Json*> members;
  for (const auto& [key, value] : json.items()) {
    int number = 0;
    if (!absl::SimpleAtoi(key, &number) || number < least || number > kLargestKey ||
        !members.emplace(number, &value).second) {
      return Fault(where, ": \"", key, "\" is no number from ", least, " to ", kLargestKey, " or is there twice");
    }
  }
  return members;
}

// The members numbered 0, 1, … without a gap.
absl::StatusOr<std::vector<const Json*>> Layers(const Json& json, const std::string& where) {
  SAIL_ASSIGN_OR_RETURN(const auto members, NumberedMembers(json, 0, where));
  if (members.empty()) return Fault(where, " has no layer");
  std::vector<const Json*> layers;
  for (const auto& [layer, value] : members) {
    if (layer != static_cast<int>(layers.size())) return Fault(where, " has no layer ", layers.size());
    layers.push_back(value);
  }
  return layers;
}

bool IsAmount(const Json& json) {
  return json.is_number() && std::isfinite(json.get<double>()) && json.get<double>() >= 0;
}

absl::StatusOr<PublicLayerTime> ReadTime(const Json& json, const std::string& where) {
  if (!json.is_array() || json.size() != 3 || !std::all_of(json.begin(), json.end(), IsAmount)) {
    return Fault(where, ": expected [forward, backward, update] in seconds, none negative");
  }
  return PublicLayerTime{json[0].get<double>(), json[1].get<double>(), json[2].get<double>()};
}

absl::StatusOr<PublicLayerSize> ReadSize(const Json& json, const std::string& where) {
  PublicLayerSize size;
  const std::pair<const char*, int64_t*> fields[] = {
      {"params_floats", &size.parameters}, {"act_output_floats", &size.output}, {"act_mem_floats", &size.kept}};
  for (const auto& [name, out] : fields) {
    constexpr double kLargest = 1e13;  // no layer is that large; times 4 bytes and kLargestKey it fits in 64 bits
    const auto it = json.find(name);   // end() unless `json` is an object
    if (it == json.end() || !IsAmount(*it) || it->get<double>() > kLargest) {
      return Fault(where, ".", name, ": expected a number of floats");
    }
    *out = std::llround(it->get<double>());
  }
  return size;
}

absl::StatusOr<const Json*> FindModel(const Json& file, const std::string& what, absl::string_view model) {
  if (!file.is_object()) return Fault(what, ": expected an object");
  const auto it = file.find(std::string(model));
  if (it != file.end()) return &*it;
  std::vector<std::string> names;
  for (const auto& [name, value] : file.items()) names.push_back(name);
  return absl::InvalidArgumentError(
      absl::StrCat(what, " has no model '", model, "', it has ", absl::StrJoin(names, ", ")));
}

absl::Status ReadTimes(const Json& json, const std::string& where, PublicModel& model) {
  if (!json.is_object()) return Fault(where, ": expected an object");
  for (const auto& [gpu, of_gpu] : json.items()) {
    const std::string gpu_place = absl::StrCat(where, ".", gpu);
    SAIL_ASSIGN_OR_RETURN(const auto micro_batches, NumberedMembers(of_gpu, 1, gpu_place));
    for (const auto& [micro_batch, of_micro] : micro_batches) {
      const std::string micro_place = absl::StrCat(gpu_place, ".", micro_batch);
      SAIL_ASSIGN_OR_RETURN(const auto degrees, NumberedMembers(*of_micro, 1, micro_place));
      for (const auto& [tensor, of_degree] : degrees) {
        const std::string place = absl::StrCat(micro_place, ".", tensor);
        SAIL_ASSIGN_OR_RETURN(const auto layers, Layers(*of_degree, place));
        std::vector<PublicLayerTime> times;
        for (const Json* layer : layers) {
          SAIL_ASSIGN_OR_RETURN(const PublicLayerTime time, ReadTime(*layer, absl::StrCat(place, ".", times.size())));
          times.push_back(time);
        }
        model.times[{PublicName(gpu), tensor, micro_batch}] = std::move(times);
      }
    }
  }
  return absl::OkStatus();
}

absl::Status ReadSizes(const Json& json, const std::string& where, PublicModel& model) {
  SAIL_ASSIGN_OR_RETURN(const auto degrees, NumberedMembers(json, 1, where));
  for (const auto& [tensor, of_degree] : degrees) {
    const std::string place = absl::StrCat(where, ".", tensor);
    SAIL_ASSIGN_OR_RETURN(const auto layers, Layers(*of_degree, place));
    std::vector<PublicLayerSize>& sizes = model.sizes[tensor];
    for (const Json* layer : layers) {
      SAIL_ASSIGN_OR_RETURN(const PublicLayerSize size, ReadSize(*layer, absl::StrCat(place, ".", sizes.size())));
      sizes.push_back(size);
    }
  }
  return absl::OkStatus();
}

// How many layers there are, the same everywhere, and how many of them are blocks: those that hold as many parameters
// as layer 1.
absl::Status CountLayers(PublicModel& model) {
  if (model.sizes.empty()) return Fault("model ", model.name, " has no sizes");
  model.layers = static_cast<int>(model.sizes.begin()->second.size());
  for (const auto& [tensor, sizes] : model.sizes) {
    if (static_cast<int>(sizes.size()) != model.layers) {
      return Fault("model ", model.name, " has ", sizes.size(), " layers at degree ", tensor, ", elsewhere ",
                   model.layers);
    }
  }
  for (const auto& [key, times] : model.times) {
    if (static_cast<int>(times.size()) != model.layers) {
      return Fault("model ", model.name, " has times of ", times.size(), " layers on ", key.gpu, ", and sizes of ",
                   model.layers);
    }
  }
  const std::vector<PublicLayerSize>& sizes = model.sizes.begin()->second;
  while (model.blocks + 1 < model.layers && sizes[model.blocks + 1].parameters == sizes[1].parameters) ++model.blocks;
  if (model.blocks < 1 || model.blocks + 1 == model.layers) {
    return Fault("model ", model.name, " has no embedding, blocks and head among its ", model.layers, " layers");
  }
  return absl::OkStatus();
}

}  // namespace

std::string PublicName(absl::string_view name) { return absl::StrReplaceAll(name, {{"-", "_"}}); }

const std::vector<PublicLayerTime>* PublicModel::Times(absl::string_view gpu, int tensor, int micro_batch) const {
  const auto it = times.find({PublicName(gpu), tensor, micro_batch});
  return it == times.end() ? nullptr : &it->second;
}

const std::vector<PublicLayerSize>* PublicModel::Sizes(int tensor) const {
  const auto it = sizes.find(tensor);
  return it == sizes.end() ? nullptr : &it->second;
}

double PublicModel::Parameters(int first_layer, int last_layer) const {
  const std::vector<PublicLayerSize>& whole = sizes.at(1);
  double parameters = 0;
  for (int layer = first_layer; layer <= last_layer; ++layer)
    parameters += static_cast<double>(whole[layer].parameters);
  return parameters;
}

PublicLayerTime PublicModel::Head(const std::vector<PublicLayerTime>& layers_of_entry) const {
  PublicLayerTime head{.update = layers_of_entry.back().update};
  for (int layer = blocks + 1; layer < layers; ++layer) {
    head.forward += layers_of_entry[layer].forward;
    head.backward += layers_of_entry[layer].backward;
  }
  return head;
}

PublicLayerSize PublicModel::Head(const std::vector<PublicLayerSize>& layers_of_degree) const {
  PublicLayerSize head{.output = layers_of_degree.back().output};
  for (int layer = blocks + 1; layer < layers; ++layer) {
    head.parameters += layers_of_degree[layer].parameters;
    head.kept += layers_of_degree[layer].kept;
  }
  return head;
}

absl::StatusOr<PublicModel> ReadPublicModel(const Json& times, const Json& memory, absl::string_view model) {
  PublicModel result;
  result.name = std::string(model);
  SAIL_ASSIGN_OR_RETURN(const Json* of_times, FindModel(times, "layer_times.json", model));
  SAIL_ASSIGN_OR_RETURN(const Json* of_memory, FindModel(memory, "layer_memory.json", model));
  SAIL_RETURN_IF_ERROR(ReadTimes(*of_times, absl::StrCat("layer_times.json: ", model), result));
  SAIL_RETURN_IF_ERROR(ReadSizes(*of_memory, absl::StrCat("layer_memory.json: ", model), result));
  SAIL_RETURN_IF_ERROR(CountLayers(result));
  return result;
}

}  // namespace sail::sim
