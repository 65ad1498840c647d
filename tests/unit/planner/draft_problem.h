// What judges drafts of a problem with hand-picked costs.
#pragma once

#include <utility>
#include <vector>

#include "planner/draft.h"
#include "tests/unit/planner/fake_cost_model.h"

namespace sail::planner {

inline constexpr int64_t kMuchWork = 1'000'000;

// The objective is the time of an iteration. `scope` may be changed before the first draft is judged.
struct DraftProblem {
  DraftProblem(ir::Problem of, std::vector<double> seconds, double crossing, std::vector<int64_t> limits,
               MemoryRule memory = MemoryRule::kEnforced, int64_t work = kMuchWork)
      : problem(std::move(of)),
        costs(problem, std::move(seconds), std::move(limits), crossing),
        scope(ScopeOf(problem)),
        table(problem, costs, scope.quotas, memory),
        judge(table, costs, scope, work) {
    scope.objective = {{.metric = ir::Metric::kIterTime, .maximize = false}};
  }

  ir::Problem problem;
  test::FakeCostModel costs;
  SearchScope scope;
  StageTable table;
  DraftJudge judge;
};

// 8 layers, batch 8. Pool a: 2 nodes of 2 GPUs, 1 s a layer; pool b: 2 nodes of 1 GPU, 3 s a layer. Between nodes
// 0.5 s. A GPU is a slot: 0 of a, 1 of b.
inline ir::Problem FastAndSlow() {
  return test::FakeProblem(8, {{.nodes = 2, .gpus_per_node = 2}, {.nodes = 2, .gpus_per_node = 1}}, 8);
}

}  // namespace sail::planner
