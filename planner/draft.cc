#include "planner/draft.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "compiler/base/rng.h"

namespace sail::planner {
namespace {

// A pipeline whose transfers hide behind computation seldom takes less of the time that its rate says.
constexpr double kHiddenTransfers = 0.95;
// Nor does a change that makes pipelines slower save more than the rest of the time spent on synchronisation.
constexpr double kSynchronisationLeft = 0.5;

uint64_t HashOf(const Draft& draft) {
  uint64_t hash = static_cast<uint64_t>(draft.layout) * 2 + (draft.is_folded ? 1 : 0);
  const auto add = [&](uint64_t value) { hash = Mix64(hash ^ value); };
  for (const Team& team : draft.teams) {
    add(static_cast<uint64_t>(team.micro));
    add(static_cast<uint64_t>(team.pipelines));
    add(std::bit_cast<uint64_t>(team.pace));
    for (size_t s = 0; s < team.slots.size(); ++s) {
      add(static_cast<uint64_t>(team.slots[s]) << 32 | static_cast<uint64_t>(team.counts[s]));
    }
    add(~uint64_t{0});
  }
  return hash;
}

// A pipeline of the team, its runs of neighbours on nodes of their own.
ir::Pipeline MakePlaced(const StageTable& table, const Team& team, Layout layout) {
  ir::Pipeline pipeline = MakePipeline(table, team.micro, team.slots, team.counts);
  size_t node_end = 0;
  int node = -1;
  for (size_t s = 0; s < team.slots.size(); ++s) {
    if (s == node_end) {
      node_end = EndOfNode(table, team.slots, layout, s);
      ++node;
    }
    pipeline.stages[s].group.node = node;
  }
  return pipeline;
}

std::vector<double> CrossingsOf(const StageTable& table, const Team& team) {
  std::vector<double> crossing(team.slots.size(), 0.0);
  for (size_t s = 0; s + 1 < team.slots.size(); ++s) {
    crossing[s] = table.Boundary(team.slots[s], team.slots[s + 1], team.micro, /*same_node=*/false);
  }
  return crossing;
}

}  // namespace

size_t EndOfNode(const StageTable& table, const std::vector<int>& slots, Layout layout, size_t begin) {
  const Slot& first = table.slots()[slots[begin]];
  int free = table.problem().cluster.machine(first.pool).gpus_per_node - first.tensor;
  size_t end = begin + 1;
  while (layout == Layout::kByPipeline && end < slots.size()) {
    const Slot& next = table.slots()[slots[end]];
    if (next.pool != first.pool || next.tensor > free) break;
    free -= next.tensor;
    ++end;
  }
  return end;
}

PipelineRate RateOf(const StageTable& table, const Team& team, Layout layout) {
  size_t node_end = 0;
  return RateOf(table, team.micro, team.slots, team.counts, [&](size_t s) {
    if (s == node_end) node_end = EndOfNode(table, team.slots, layout, s);
    return s + 1 < node_end;
  });
}

bool Recut(const StageTable& table, Team& team) {
  std::optional<std::vector<int>> counts =
      CutChain(table, team.micro, team.slots, CrossingsOf(table, team), static_cast<int>(team.slots.size()));
  if (!counts) return false;
  team.counts = *std::move(counts);
  return true;
}

DraftJudge::DraftJudge(const StageTable& table, const sim::CostModel& costs, const SearchScope& scope, int64_t work)
    : table_(table), scope_(scope), estimator_(costs.MakeEstimator()), left_(work) {
  for (const Slot& slot : table.slots()) {
    degrees_ = std::max(degrees_, static_cast<int>(std::bit_width(static_cast<unsigned>(slot.tensor))));
  }
}

std::optional<Score> DraftJudge::Judge(const Draft& draft, const Rival& rival) {
  if (is_exhausted() || draft.teams.empty()) return std::nullopt;
  if (!seen_.insert(HashOf(draft)).second) return std::nullopt;
  return draft.is_folded ? JudgeUnfolded(Unfold(draft), rival) : JudgeUnfolded(draft, rival);
}

std::optional<Score> DraftJudge::JudgeUnfolded(const Draft& draft, const Rival& rival) {
  const Room room = RoomLeft(draft);
  if (std::any_of(room.begin(), room.end(), [](int64_t groups) { return groups < 0; })) return std::nullopt;
  double seconds = 0;
  const std::optional<Shares> shares = ShareOf(draft, seconds);
  if (!shares) return std::nullopt;
  if (seconds * kHiddenTransfers + kSynchronisationLeft * rival.synchronisation > rival.seconds) return std::nullopt;
  left_ -= static_cast<int64_t>(draft.teams.size());
  ++candidates_;
  outline_.sharding = table_.optimizer_sharding();
  outline_.classes.clear();
  for (const TeamShare& share : *shares) {
    const Team& team = draft.teams[share.team];
    sim::PipelineClass& added = outline_.classes.emplace_back();
    added.count = share.pipelines;
    added.micro_batch = table_.problem().job.micro_batches[team.micro];
    added.micro_batches = share.micro_batches;
    int first = 0;
    for (size_t s = 0; s < team.slots.size(); ++s) {
      const Slot& slot = table_.slots()[team.slots[s]];
      added.stages.push_back({.first_layer = first,
                              .last_layer = first + team.counts[s] - 1,
                              .pool = slot.pool,
                              .tensor = slot.tensor,
                              .recompute = slot.recompute});
      first += team.counts[s];
    }
    LayOut(team, draft.layout, added);
  }
  const sim::Estimate estimate = estimator_->JudgeWithin(outline_, rival.seconds);
  if (!std::isfinite(estimate.iteration)) return std::nullopt;
  const auto value_of = [&](ir::Metric metric) { return sim::Value(estimate, table_.problem(), metric); };
  Score score{.seconds = estimate.iteration,
              .pipelines = seconds,
              .violation = ViolationOf(scope_, estimate.memory_excess, estimate.pools, value_of) + Spread(draft),
              .objective = {}};
  for (const ir::ObjectiveTerm& term : scope_.objective) {
    const double value = value_of(term.metric);
    score.objective.push_back(term.maximize ? -value : value);
  }
  return score;
}

std::optional<Shares> DraftJudge::ShareOf(const Draft& draft, double& seconds) const {
  absl::InlinedVector<RatedTeam, 6> rated;
  for (const Team& team : draft.teams) {
    PipelineRate rate = RateOf(table_, team, draft.layout);
    rate.latency *= team.pace;
    rate.bottleneck *= team.pace;
    rated.push_back({.rate = rate, .pipelines = team.pipelines});
  }
  std::optional<Shares> shares = ShareBatch(rated, table_.problem().job.global_batch);
  seconds = 0;
  for (size_t i = 0; shares && i < shares->size(); ++i) {
    const TeamShare& share = (*shares)[i];
    const PipelineRate& rate = rated[share.team].rate;
    const double end = rate.latency + (share.micro_batches - 1) * rate.bottleneck;
    seconds = std::max(seconds, end / draft.teams[share.team].pace);
  }
  return shares;
}

// Whole runs of neighbours share nodes with equal ones.
void DraftJudge::LayOut(const Team& team, Layout layout, sim::PipelineClass& pipelines) const {
  for (size_t begin = 0; begin < team.slots.size();) {
    const size_t end = EndOfNode(table_, team.slots, layout, begin);
    int gpus = 0;
    for (size_t s = begin; s < end; ++s) gpus += table_.slots()[team.slots[s]].tensor;
    const ir::PoolId pool = table_.slots()[team.slots[begin]].pool;
    for (size_t s = begin; s < end; ++s) {
      pipelines.stages[s].next_on_node = s + 1 < end;
      pipelines.stages[s].replicas_per_node = table_.problem().cluster.machine(pool).gpus_per_node / gpus;
    }
    begin = end;
  }
}

double DraftJudge::Spread(const Draft& draft) const {
  ir::Keep keep = scope_.keep;
  if (keep.pipeline == ir::Reach::kAny && keep.data == ir::Reach::kAny) return 0;
  // Replicas on several nodes are for the judge of plans to refuse.
  keep.data = std::max(keep.data, ir::Reach::kZone);
  const ir::Pipeline first = MakePlaced(table_, draft.teams.front(), draft.layout);
  int excesses = 0;
  for (const Team& team : draft.teams) {
    const ir::Pipeline pipeline = MakePlaced(table_, team, draft.layout);
    excesses += team.pipelines * ExcessesOver(keep, table_.problem().cluster, pipeline, first);
  }
  return excesses;
}

// A group of degree e takes the room of e / d groups of each degree d <= e.
void DraftJudge::AddGroups(const std::vector<int>& slots, int64_t times, Room& room) const {
  for (const int id : slots) {
    const Slot& slot = table_.slots()[id];
    int64_t* of_pool = &room[static_cast<size_t>(slot.pool.index()) * degrees_];
    for (int level = 0; slot.tensor >> level > 0; ++level) of_pool[level] += times * (slot.tensor >> level);
  }
}

DraftJudge::Room DraftJudge::RoomLeft(const Draft& draft) {
  if (draft.is_folded) return RoomLeft(Unfold(draft));
  const ir::Cluster& cluster = table_.problem().cluster;
  Room room;
  for (size_t p = 0; p < scope_.quotas.size(); ++p) {
    const int gpus = cluster.machine(ir::PoolId(static_cast<int>(p))).gpus_per_node;
    for (int level = 0; level < degrees_; ++level) room.push_back(int64_t{scope_.quotas[p]} * (gpus >> level));
  }
  for (const Team& team : draft.teams) AddGroups(team.slots, -team.pipelines, room);
  return room;
}

const std::vector<std::vector<int>>& DraftJudge::ImagesOf(const std::vector<int>& pools) {
  const auto [it, is_new] = images_.try_emplace(pools);
  if (is_new) it->second = table_.kinds().Images(pools);
  return it->second;
}

bool DraftJudge::HasRoom(const std::vector<int>& pools, const Room& room) const {
  return std::all_of(pools.begin(), pools.end(),
                     [&](int pool) { return room[static_cast<size_t>(pool) * degrees_] > 0; });
}

std::vector<int> DraftJudge::FitByPools(const Team& team, Room room, bool is_folded) {
  if (!is_folded) return {MostThatFit(team.slots, room)};
  std::vector<int> fit;
  int64_t sum = 0;
  const std::vector<int> pools = table_.PoolsOf(team.slots);
  for (const std::vector<int>& image : ImagesOf(pools)) {
    if (HasRoom(image, room)) {
      const std::vector<int> slots = table_.OnPools(team.slots, pools, image);
      const int more = MostThatFit(slots, room);
      AddGroups(slots, -more, room);
      sum += more;
    }
    fit.push_back(static_cast<int>(std::min<int64_t>(sum, 1 << 30)));
  }
  return fit;
}

int DraftJudge::MostThatFit(const Team& team, const Room& room, bool is_folded) {
  return is_folded ? FitByPools(team, room, is_folded).back() : MostThatFit(team.slots, room);
}

Draft DraftJudge::Unfold(const Draft& draft) {
  if (!draft.is_folded) return draft;
  Draft unfolded{.layout = draft.layout, .teams = {}};
  Room room = RoomLeft(Draft());
  for (const Team& team : draft.teams) {
    const std::vector<int> pools = table_.PoolsOf(team.slots);
    int left = team.pipelines;
    for (const std::vector<int>& image : ImagesOf(pools)) {
      if (!HasRoom(image, room)) continue;
      Team other = team;
      other.slots = table_.OnPools(team.slots, pools, image);
      other.pipelines = std::min(left, MostThatFit(other.slots, room));
      if (other.pipelines == 0) continue;
      AddGroups(other.slots, -other.pipelines, room);
      left -= other.pipelines;
      unfolded.teams.push_back(std::move(other));
      if (left == 0) break;
    }
    if (left == 0) continue;
    Team rest = team;
    rest.pipelines = left;
    AddGroups(rest.slots, -left, room);
    unfolded.teams.push_back(std::move(rest));
  }
  return unfolded;
}

int DraftJudge::MostThatFit(const std::vector<int>& slots, const Room& room) const {
  Room used(room.size(), 0);
  AddGroups(slots, 1, used);
  int64_t most = 1 << 30;
  for (const int id : slots) {
    const size_t first = static_cast<size_t>(table_.slots()[id].pool.index()) * degrees_;
    for (size_t i = first; i < first + degrees_; ++i) {
      if (used[i] > 0) most = std::min(most, std::max<int64_t>(0, room[i]) / used[i]);
    }
  }
  return static_cast<int>(most);
}

std::optional<ir::Plan> DraftJudge::ToPlan(const Draft& folded) {
  const Draft draft = Unfold(folded);
  double seconds = 0;
  const std::optional<Shares> shares = ShareOf(draft, seconds);
  if (!shares) return std::nullopt;
  ir::Plan plan{.optimizer_sharding = table_.optimizer_sharding(), .pipelines = {}};
  for (const TeamShare& share : *shares) {
    const Team& team = draft.teams[share.team];
    ir::Pipeline pipeline = MakePipeline(table_, team.micro, team.slots, team.counts);
    pipeline.micro_batches = share.micro_batches;
    plan.pipelines.insert(plan.pipelines.end(), share.pipelines, pipeline);
  }
  return plan;
}

}  // namespace sail::planner
