// A measured profile (docs/profile_format.md) of one gpu and model from the public measurements.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/model.h"
#include "simulator/public_data.h"

namespace sail::sim {

struct ImportedProfile {
  std::string text;                // the profile file
  std::vector<std::string> notes;  // what was dropped or assumed, one sentence each
};

// One entry for the embedding, a block and the head at each degree and micro-batch that was measured. Degrees that are
// no power of two are dropped. The update of an entry is that of the two-block model that was profiled: each layer gets
// its share by parameters.
// InvalidArgument when the gpu has no measurements, naming those that have, and for a model that is no gpt (ShapeOf).
absl::StatusOr<ImportedProfile> ImportProfile(const PublicModel& model, absl::string_view gpu);

// The gpt whose layers have these sizes: a block of 12h² parameters and some vectors, feed-forward 4h, learned
// positions, head not tied. The vocabulary is the padded one, 1 when the head has no product: then the embedding's
// table counts as positions. Heads are what makes the kept floats a whole number of hidden-wide rows and one row of
// scores per head, at the smallest usual head width. Needs the sizes at degree 1 and 2. InvalidArgument otherwise.
absl::StatusOr<ir::Model> ShapeOf(const PublicModel& model);

// Whether the head multiplies by the vocabulary; in some models only its norm was profiled.
bool HasVocabularyProduct(const PublicModel& model, const ir::Model& shape);

}  // namespace sail::sim
