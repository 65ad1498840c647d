// A plan before its GPUs have names: teams of equal pipelines. What the search over large plans moves through, judged
// in microseconds by simulator/outline.h.
#pragma once

#include <cstdint>
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

struct Draft {
  Layout layout = Layout::kByPipeline;
  std::vector<Team> teams;
  friend bool operator==(const Draft&, const Draft&) = default;
};

// As Judged.
struct Score {
  double seconds = 0;  // of an iteration; not compared
  double violation = 0;
  absl::InlinedVector<double, 3> objective;  // smaller is better, lexicographic
  friend bool operator<(const Score& a, const Score& b) {
    return a.violation != b.violation ? a.violation < b.violation : a.objective < b.objective;
  }
};

class DraftJudge {
 public:
  // `drafts` is the budget.
  DraftJudge(const StageTable& table, const sim::CostModel& costs, const SearchScope& scope, int64_t drafts);

  // nullopt if the draft's groups do not fit into the quotas, if it cannot share the batch, was judged before, or the
  // budget is used up. Nodes are counted as if each stage of a team had nodes of its own; Place may do with fewer.
  std::optional<Score> Judge(const Draft& draft);

  bool is_exhausted() const { return left_ <= 0; }
  int64_t candidates() const { return candidates_; }
  const StageTable& table() const { return table_; }
  const SearchScope& scope() const { return scope_; }

  // Groups that still fit beside the draft, [pool][log2 of their degree], if all of them were of that degree: an empty
  // node of 6 GPUs has room for 6, 3 or 1. Degrees are powers of two, so groups can be placed, the largest first
  // (place.h), exactly if none of these is negative.
  using Room = std::vector<int64_t>;
  Room RoomLeft(const Draft& draft) const;
  // How often the team's pipeline fits into `room`.
  int MostThatFit(const Team& team, const Room& room) const;

  // The plan without nodes; samples are shared.
  std::optional<ir::Plan> ToPlan(const Draft& draft) const;

 private:
  std::optional<Shares> ShareOf(const Draft& draft) const;
  void LayOut(const Team& team, Layout layout, sim::PipelineClass& pipelines) const;
  double Violation(const sim::Estimate& estimate) const;
  double Spread(const Draft& draft) const;
  void AddGroups(const Team& team, int64_t times, Room& room) const;

  const StageTable& table_;
  const SearchScope& scope_;
  const std::unique_ptr<sim::OutlineEstimator> estimator_;
  int degrees_ = 1;  // powers of two up to the largest of any slot
  int64_t left_;
  int64_t candidates_ = 0;
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
