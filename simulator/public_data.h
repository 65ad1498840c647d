// The public measurements of the Sailor artifact (eth-easl/sailor, MIT): seconds and sizes of single layers of a few
// models, and bandwidths between machines. `sailc import`, the `published` cost model and the accuracy
// benchmark read them.
//
// layer_times.json   model → gpu → micro-batch → tensor degree → layer → [forward s, backward s, update s], fp32
//                    of one tensor group, collectives included. The update is that of the whole two-block model that
//                    was profiled, the same for every layer. What is absent ran out of memory or was not tried.
// layer_memory.json  model → tensor degree → layer → {params_floats, act_output_floats, act_mem_floats, …}, per GPU and
//                    sample, floats of 4 bytes.
// Layer 0 is the embedding, then the blocks, then the head (in some models as two layers: norm, product).
// Keys are strings in any order. Gpus and zones are compared by PublicName.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/base/json.h"
#include "compiler/base/units.h"

namespace sail::sim {

// "A100-40" → "A100_40": the language has no hyphens in names.
std::string PublicName(absl::string_view name);

struct PublicLayerTime {
  double forward = 0;  // seconds
  double backward = 0;
  double update = 0;
};
struct PublicLayerSize {
  int64_t parameters = 0;  // on one GPU
  int64_t output = 0;      // floats of one sample that leave the layer
  int64_t kept = 0;        // floats of one sample that stay until its backward
};

struct PublicModel {
  struct Key {
    std::string gpu;
    int tensor = 1;
    int micro_batch = 1;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  std::string name;
  int layers = 0;
  std::map<Key, std::vector<PublicLayerTime>> times;  // by layer
  std::map<int, std::vector<PublicLayerSize>> sizes;  // by tensor degree, then layer
  int blocks = 0;                                     // layers 1..blocks; what follows is the head

  // Of one block: the second, because the first was measured by itself and the rest are copies of the second.
  int block_layer() const { return blocks > 1 ? 2 : 1; }
  // Null where nothing was measured.
  const std::vector<PublicLayerTime>* Times(absl::string_view gpu, int tensor, int micro_batch) const;
  const std::vector<PublicLayerSize>* Sizes(int tensor) const;
  // Of layers first..last, not divided: at degree 1, which must be there.
  double Parameters(int first_layer, int last_layer) const;
  // Layers blocks + 1 … added up.
  PublicLayerTime Head(const std::vector<PublicLayerTime>& layers_of_entry) const;
  PublicLayerSize Head(const std::vector<PublicLayerSize>& layers_of_degree) const;
};

// `times` and `memory`: the parsed files. InvalidArgument for a model that one of them lacks, naming those there are,
// and, naming the place, for anything malformed: a layer that is missing, a negative number.
absl::StatusOr<PublicModel> ReadPublicModel(const Json& times, const Json& memory, absl::string_view model);

}  // namespace sail::sim
