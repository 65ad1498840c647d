// A plan before its GPUs have names: teams of equal pipelines. What the search over large plans moves through, judged
// in microseconds by simulator/outline.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <unordered_set>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "planner/judge.h"
#include "planner/pipeline_shapes.h"
#include "planner/place.h"
#include "planner/share.h"
#include "planner/stage_table.h"
#include "simulator/outline.h"

namespace sail::planner {

struct Team {
  int micro = 0;            // index into job.micro_batches
  std::vector<int> slots;   // of the stage table, by stage
  std::vector<int> counts;  // layers, by stage
  int pipelines = 1;
  double pace = 1;  // samples are shared as if the team took so many times as long
  friend bool operator==(const Team&, const Team&) = default;
};

// A folded draft says how many pipelines a team has on its pools and their images (pool_kinds.h) together: as many as
// fit on its own, then on those images that are nearest.
struct Draft {
  Layout layout = Layout::kByPipeline;
  std::vector<Team> teams;
  bool is_folded = false;
  friend bool operator==(const Draft&, const Draft&) = default;
};

// As Judged.
struct Score {
  double seconds = 0;    // of an iteration; not compared
  double pipelines = 0;  // seconds of the slowest pipeline, as rates say; not compared
  double violation = 0;
  absl::InlinedVector<double, 3> objective;  // smaller is better, lexicographic
  friend bool operator<(const Score& a, const Score& b) {
    return a.violation != b.violation ? a.violation < b.violation : a.objective < b.objective;
  }
};

// What a draft is compared with: one that certainly or very likely takes longer need not be judged.
struct Rival {
  double seconds = std::numeric_limits<double>::infinity();  // of an iteration
  double synchronisation = 0;                                // the seconds that are not those of pipelines
};

class DraftJudge {
 public:
  // `work` is the budget: judging a draft costs the number of its teams.
  DraftJudge(const StageTable& table, const sim::CostModel& costs, const SearchScope& scope, int64_t work);

  // nullopt if the draft's groups do not fit into the quotas, if it cannot share the batch, was judged before, the
  // budget is used up, or it takes longer than `rival`, as the estimate says or its pipelines' rates make likely. Nodes
  // are counted as if each stage of a team had nodes of its own; Place may do with fewer.
  std::optional<Score> Judge(const Draft& draft, const Rival& rival = {});

  // From now on no more than `work` is done, of what is left of the budget.
  void Allow(int64_t work) { floor_ = std::max<int64_t>(0, left_ - work); }
  int64_t work_left() const { return left_; }
  bool is_exhausted() const { return left_ <= floor_; }
  int64_t candidates() const { return candidates_; }
  const StageTable& table() const { return table_; }
  const SearchScope& scope() const { return scope_; }
  sim::OutlineEstimator& estimator() { return *estimator_; }

  // Groups that still fit beside the draft, [pool][log2 of their degree], if all of them were of that degree: an empty
  // node of 6 GPUs has room for 6, 3 or 1. Degrees are powers of two, so groups can be placed, the largest first
  // (place.h), exactly if none of these is negative.
  using Room = absl::InlinedVector<int64_t, 24>;
  Room RoomLeft(const Draft& draft);
  // How often the team's pipeline fits into `room`; of a folded draft, also on other pools.
  int MostThatFit(const Team& team, const Room& room, bool is_folded);
  // The same of one that stays on its own pools.
  int MostThatFit(const std::vector<int>& slots, const Room& room) const;
  // The same for the team's own pools, those and the nearest image, …
  std::vector<int> FitByPools(const Team& team, Room room, bool is_folded);

  // The draft with a team for each set of pools; teams that do not fit keep the rest on their own pools.
  Draft Unfold(const Draft& draft);
  // The plan without nodes; samples are shared.
  std::optional<ir::Plan> ToPlan(const Draft& draft);

 private:
  std::optional<Score> JudgeUnfolded(const Draft& draft, const Rival& rival);
  // `seconds`: of the pipelines, as their rates say.
  std::optional<Shares> ShareOf(const Draft& draft, double& seconds) const;
  void LayOut(const Team& team, Layout layout, sim::PipelineClass& pipelines) const;
  double Spread(const Draft& draft) const;
  void AddGroups(const std::vector<int>& slots, int64_t times, Room& room) const;
  bool HasRoom(const std::vector<int>& pools, const Room& room) const;  // for one GPU in each
  const std::vector<std::vector<int>>& ImagesOf(const std::vector<int>& pools);

  const StageTable& table_;
  const SearchScope& scope_;
  const std::unique_ptr<sim::OutlineEstimator> estimator_;
  int degrees_ = 1;  // powers of two up to the largest of any slot
  int64_t left_;
  int64_t floor_ = 0;  // of left_
  int64_t candidates_ = 0;
  std::map<std::vector<int>, std::vector<std::vector<int>>> images_;  // by pools of a chain
  std::unordered_set<uint64_t> seen_;  // hashes of drafts; only ever asked, never iterated
  sim::PlanOutline outline_;           // scratch
};

// Where the run of neighbours ends that begins with stage `begin` and lies on one node.
size_t EndOfNode(const StageTable& table, const std::vector<int>& slots, Layout layout, size_t begin);

// The rate of a pipeline of the team as the table sees it.
PipelineRate RateOf(const StageTable& table, const Team& team, Layout layout);

// The cut of the team's slots with the least bottleneck (CutChain), neighbours on different nodes; false if none fits.
bool Recut(const StageTable& table, Team& team);

}  // namespace sail::planner
