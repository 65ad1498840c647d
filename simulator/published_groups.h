// How the published simulator (published_model.h) sees the pipelines of a plan: which are alike, and which layers are
// reduced together.
#pragma once

#include <vector>

#include "compiler/ir/plan.h"

namespace sail::sim {

// Whether both cut the layers at the same places and have the same micro-batch.
bool IsSameShape(const ir::Pipeline& a, const ir::Pipeline& b);

// Layers that are reduced together, as the largest stage that holds them; what each pipeline has of them.
struct PublishedReduction {
  int first_layer = 0;
  int last_layer = 0;
  std::vector<std::vector<const ir::Stage*>> owners;  // by pipeline
};

// Each layer goes with the largest stage that holds it, the first such stage of the first such pipeline. The stages
// belong to `plan`.
std::vector<PublishedReduction> PublishedReductions(const ir::Plan& plan, int layers);

}  // namespace sail::sim
