#include "simulator/published_groups.h"

#include <algorithm>

namespace sail::sim {

bool IsSameShape(const ir::Pipeline& a, const ir::Pipeline& b) {
  return a.micro_batch == b.micro_batch &&
         std::equal(a.stages.begin(), a.stages.end(), b.stages.begin(), b.stages.end(),
                    [](const ir::Stage& x, const ir::Stage& y) { return x.last_layer == y.last_layer; });
}

std::vector<PublishedReduction> PublishedReductions(const ir::Plan& plan, int layers) {
  std::vector<PublishedReduction> reductions;
  std::vector<const ir::Stage*> largest(layers, nullptr);
  for (const ir::Pipeline& pipeline : plan.pipelines) {
    for (const ir::Stage& stage : pipeline.stages) {
      for (int layer = stage.first_layer; layer <= stage.last_layer; ++layer) {
        if (largest[layer] == nullptr || stage.layer_count() > largest[layer]->layer_count()) largest[layer] = &stage;
      }
    }
  }
  for (int layer = 0; layer < layers; ++layer) {
    if (layer == 0 || largest[layer] != largest[layer - 1]) reductions.push_back({.first_layer = layer});
    reductions.back().last_layer = layer;
  }
  for (PublishedReduction& reduced : reductions) {
    for (const ir::Pipeline& pipeline : plan.pipelines) {
      std::vector<const ir::Stage*>& owners = reduced.owners.emplace_back();
      for (const ir::Stage& stage : pipeline.stages) {
        if (stage.first_layer <= reduced.last_layer && stage.last_layer >= reduced.first_layer)
          owners.push_back(&stage);
      }
    }
  }
  return reductions;
}

}  // namespace sail::sim
