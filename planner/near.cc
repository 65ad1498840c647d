#include "planner/near.h"

#include <algorithm>
#include <set>
#include <utility>

namespace sail::planner {

Team TeamOf(const StageTable& table, const ir::Pipeline& pipeline) {
  const std::vector<int>& sizes = table.problem().job.micro_batches;
  const auto size = std::find(sizes.begin(), sizes.end(), pipeline.micro_batch);
  Team team{.micro = static_cast<int>(size - sizes.begin()), .slots = {}, .counts = {}};
  for (const ir::Stage& stage : pipeline.stages) {
    team.slots.push_back(table.SlotOf(stage));
    team.counts.push_back(stage.layer_count());
  }
  return team;
}

Draft DraftOf(const StageTable& table, const ir::Plan& plan) {
  Draft draft;
  for (const ir::Pipeline& pipeline : plan.pipelines) {
    Team team = TeamOf(table, pipeline);
    const auto known = std::find_if(draft.teams.begin(), draft.teams.end(), [&](const Team& other) {
      return other.micro == team.micro && other.slots == team.slots && other.counts == team.counts;
    });
    if (known == draft.teams.end()) {
      draft.teams.push_back(std::move(team));
    } else {
      ++known->pipelines;
    }
  }
  return draft;
}

std::vector<PipelineShape> NearShapes(const StageTable& table, const ir::Plan& plan) {
  std::set<int> slots;
  int deepest = 0;
  for (const ir::Pipeline& pipeline : plan.pipelines) {
    deepest = std::max(deepest, static_cast<int>(pipeline.stages.size()));
    for (const ir::Stage& stage : pipeline.stages) slots.insert(table.SlotOf(stage));
  }
  slots.erase(-1);  // of a pool that has no nodes now
  const ir::Job& job = table.problem().job;
  std::vector<PipelineShape> shapes;
  for (const int slot : slots) {
    for (const int depth : job.pipeline_depths) {
      if (depth > std::min(deepest + 1, table.max_depth())) break;
      for (int micro = 0; micro < static_cast<int>(job.micro_batches.size()); ++micro) {
        Team team{.micro = micro, .slots = std::vector<int>(depth, slot), .counts = {}};
        if (!Recut(table, team)) continue;
        PipelineShape& shape = shapes.emplace_back();
        shape.micro = micro;
        shape.rate = RateOf(table, team, Layout::kApart);
        shape.gpus.assign(table.problem().cluster.pools.size(), 0);
        shape.gpus[table.slots()[slot].pool.index()] = depth * table.slots()[slot].tensor;
        shape.layers_per_gpu =
            static_cast<double>(*std::max_element(team.counts.begin(), team.counts.end())) / table.slots()[slot].tensor;
        shape.largest_stage = *std::max_element(team.counts.begin(), team.counts.end());
        shape.least_degree = table.slots()[slot].tensor;
        shape.slots = std::move(team.slots);
        shape.counts = std::move(team.counts);
      }
    }
  }
  return shapes;
}

}  // namespace sail::planner
