// Local moves on a draft until none improves it. Kinds of moves, in order:
//   counts      some pipelines of a team more or fewer; a team dropped; pipelines of one team given up for another's
//   boundaries  a layer from one stage to another of the same team, the stages between shift
//   micro       another micro-batch size, with the old cut and a new one
//   stages      a stage inserted, removed, or on another slot; two stages of different zones change places; a run of
//               equal stages on another slot, or half or twice as long: cut anew, with as many pipelines as before, as
//               take as many GPUs as before, and as fit
//   teams       another shape beside or in place of pipelines of a team
//   shares      a team treated as if it were a little faster or slower; the other layout
// Boundaries and micro-batches of teams that differ in their pools only change together, then one by one: gradients of
// a layer are reduced over all teams, so that a lone change seldom pays.
// The first move of a kind that improves is taken and the kind starts again.
#pragma once

#include <vector>

#include "planner/draft.h"

namespace sail::planner {

struct ScoredDraft {
  Draft draft;
  Score score;
};

class DraftClimber {
 public:
  // The arguments must outlive this.
  DraftClimber(const std::vector<PipelineShape>& shapes, DraftJudge& judge);

  // A local optimum reached from `start`, or where the budget ended.
  ScoredDraft Climb(ScoredDraft start);

 private:
  using Move = bool (DraftClimber::*)();

  bool MoveCounts();
  bool MoveBoundaries();
  bool MoveMicroBatches();
  bool MoveStages();
  bool MoveTeams();
  bool MoveShares();

  // Judges the draft and makes it the current one if it is better.
  bool Take(const Draft& draft);
  Rival Current() const;
  // Teams that are changed together: each set of several that are alike but for pools, and each team alone.
  std::vector<std::vector<size_t>> Subjects() const;
  // Beside the current draft without team `t`.
  const DraftJudge::Room& RoomWithout(size_t t);
  // Another shape for team `t`, with the numbers of pipelines that make sense.
  bool TakeReshaped(size_t t, Team reshaped);
  std::vector<int> SlotsBeside(const Team& team) const;
  bool TakeChains(size_t t);
  bool TakeRuns(size_t t);
  bool TakeSwaps(size_t t);
  const std::vector<int>& PromisingShapes();

  const StageTable& table_;
  const std::vector<PipelineShape>& shapes_;
  DraftJudge& judge_;
  std::vector<double> gpus_;    // by shape
  std::vector<double> prices_;  // by shape, of its GPUs
  ScoredDraft current_;
  std::vector<int> promising_;  // of the current climb
  DraftJudge::Room room_;       // without team `room_without_` of the current draft; of none if that is -1
  int room_without_ = -1;
};

}  // namespace sail::planner
