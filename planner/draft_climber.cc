#include "planner/draft_climber.h"

#include <algorithm>
#include <utility>

namespace sail::planner {
namespace {

constexpr size_t kPromisingShapes = 12;
constexpr int kFarBoundaries = 8;  // up to this depth layers move between any two stages

int GpusOf(const StageTable& table, const Team& team) {
  int gpus = 0;
  for (const int slot : team.slots) gpus += table.slots()[slot].tensor;
  return gpus;
}

// Maximal run of equal slots that begins at stage s.
size_t EndOfRun(const Team& team, size_t s) {
  size_t end = s + 1;
  while (end < team.slots.size() && team.slots[end] == team.slots[s]) ++end;
  return end;
}

// Where the greatest values are, in descending order; of equal ones the first.
std::vector<int> Best(const std::vector<double>& values, size_t most) {
  std::vector<int> best;
  const auto is_greater = [&](int a, int b) { return values[a] > values[b]; };
  for (int i = 0; i < static_cast<int>(values.size()); ++i) {
    if (best.size() == most && !is_greater(i, best.back())) continue;
    if (best.size() == most) best.pop_back();
    best.insert(std::upper_bound(best.begin(), best.end(), i, is_greater), i);
  }
  return best;
}

}  // namespace

DraftClimber::DraftClimber(const std::vector<PipelineShape>& shapes, DraftJudge& judge)
    : table_(judge.table()), shapes_(shapes), judge_(judge) {
  const ir::Cluster& cluster = table_.problem().cluster;
  for (const PipelineShape& shape : shapes) {
    double price = 1e-12, gpus = 0;
    for (size_t p = 0; p < shape.gpus.size(); ++p) {
      const auto pool = ir::PoolId(static_cast<int>(p));
      gpus += shape.gpus[p];
      price += shape.gpus[p] * cluster.pool(pool).price.value() / cluster.machine(pool).gpus_per_node;
    }
    gpus_.push_back(gpus);
    prices_.push_back(price);
  }
}

ScoredDraft DraftClimber::Climb(ScoredDraft start) {
  static constexpr Move kMoves[] = {&DraftClimber::MoveCounts,       &DraftClimber::MoveBoundaries,
                                    &DraftClimber::MoveMicroBatches, &DraftClimber::MoveStages,
                                    &DraftClimber::MoveTeams,        &DraftClimber::MoveShares};
  current_ = std::move(start);
  room_without_ = -1;
  promising_.clear();
  for (bool is_improved = true; is_improved && !judge_.is_exhausted();) {
    is_improved = false;
    for (const Move move : kMoves) {
      while ((this->*move)()) is_improved = true;
    }
  }
  return std::move(current_);
}

bool DraftClimber::Take(const Draft& draft) {
  const std::optional<Score> score = judge_.Judge(draft, Current());
  if (!score || !(*score < current_.score)) return false;
  current_ = {.draft = draft, .score = *score};
  room_without_ = -1;
  return true;
}

// A slower draft is no better where time alone counts.
Rival DraftClimber::Current() const {
  if (current_.score.violation > 0 || !IsTimeFirst(judge_.scope().objective)) return {};
  const Score& score = current_.score;
  return {.seconds = score.seconds, .synchronisation = std::max(0.0, score.seconds - score.pipelines)};
}

bool DraftClimber::MoveCounts() {
  const Draft base = current_.draft;
  const DraftJudge::Room room = judge_.RoomLeft(base);
  for (size_t t = 0; t < base.teams.size(); ++t) {
    const int pipelines = base.teams[t].pipelines;
    Draft draft = base;
    const int fit = judge_.MostThatFit(base.teams[t], room, base.is_folded);
    for (int more = fit; more > 0; more /= 2) {
      draft.teams[t].pipelines = pipelines + more;
      if (Take(draft)) return true;
    }
    if (base.teams.size() > 1) {
      Draft without = base;
      without.teams.erase(without.teams.begin() + static_cast<std::ptrdiff_t>(t));
      if (Take(without)) return true;
    }
    for (int fewer = 1; fewer < pipelines; fewer *= 2) {
      draft.teams[t].pipelines = pipelines - fewer;
      if (Take(draft)) return true;
      // Their GPUs for another team.
      const DraftJudge::Room freed = judge_.RoomLeft(draft);
      for (size_t other = 0; other < base.teams.size(); ++other) {
        if (other == t) continue;
        const int more = judge_.MostThatFit(base.teams[other], freed, base.is_folded);
        if (more == 0) continue;
        Draft exchanged = draft;
        exchanged.teams[other].pipelines += more;
        if (Take(exchanged)) return true;
      }
    }
  }
  return false;
}

std::vector<std::vector<size_t>> DraftClimber::Subjects() const {
  const std::vector<Team>& teams = current_.draft.teams;
  const auto is_alike = [&](const Team& a, const Team& b) {
    return a.micro == b.micro && a.counts == b.counts &&
           std::equal(a.slots.begin(), a.slots.end(), b.slots.begin(), b.slots.end(),
                      [&](int x, int y) { return table_.slots()[x].tensor == table_.slots()[y].tensor; });
  };
  std::vector<std::vector<size_t>> sets;
  for (size_t t = 0; t < teams.size(); ++t) {
    const auto it = std::find_if(sets.begin(), sets.end(), [&](const std::vector<size_t>& set) {
      return is_alike(teams[set.front()], teams[t]);
    });
    if (it == sets.end()) {
      sets.push_back({t});
    } else {
      it->push_back(t);
    }
  }
  std::erase_if(sets, [](const std::vector<size_t>& set) { return set.size() == 1; });
  for (size_t t = 0; t < teams.size(); ++t) sets.push_back({t});
  return sets;
}

bool DraftClimber::MoveBoundaries() {
  const Draft base = current_.draft;
  for (const std::vector<size_t>& subject : Subjects()) {
    const int depth = static_cast<int>(base.teams[subject.front()].counts.size());
    Draft draft = base;
    const auto shift = [&](int from, int to) {
      for (const size_t t : subject) {
        --draft.teams[t].counts[from];
        ++draft.teams[t].counts[to];
      }
    };
    for (int from = 0; from < depth; ++from) {
      if (base.teams[subject.front()].counts[from] < 2) continue;
      for (int to = 0; to < depth; ++to) {
        if (from == to || (depth > kFarBoundaries && std::abs(from - to) > 1)) continue;
        shift(from, to);
        if (Take(draft)) return true;
        shift(to, from);
      }
    }
  }
  return false;
}

bool DraftClimber::MoveMicroBatches() {
  const Draft base = current_.draft;
  const int sizes = static_cast<int>(table_.problem().job.micro_batches.size());
  for (const std::vector<size_t>& subject : Subjects()) {
    for (int micro = 0; micro < sizes; ++micro) {
      if (micro == base.teams[subject.front()].micro) continue;
      Draft draft = base;
      for (const size_t t : subject) draft.teams[t].micro = micro;
      if (Take(draft)) return true;
      bool is_cut = true;
      for (const size_t t : subject) is_cut = is_cut && Recut(table_, draft.teams[t]);
      if (is_cut && Take(draft)) return true;
    }
  }
  return false;
}

const DraftJudge::Room& DraftClimber::RoomWithout(size_t t) {
  if (room_without_ != static_cast<int>(t)) {
    Draft without = current_.draft;
    without.teams[t].pipelines = 0;
    room_ = judge_.RoomLeft(without);
    room_without_ = static_cast<int>(t);
  }
  return room_;
}

bool DraftClimber::TakeReshaped(size_t t, Team reshaped) {
  const std::vector<int>& depths = table_.problem().job.pipeline_depths;
  const int depth = static_cast<int>(reshaped.slots.size());
  if (depth > table_.max_depth() || !std::binary_search(depths.begin(), depths.end(), depth)) return false;
  const int fit = judge_.MostThatFit(reshaped, RoomWithout(t), current_.draft.is_folded);
  if (fit == 0 || !Recut(table_, reshaped)) return false;
  Draft draft = current_.draft;
  const Team old = std::exchange(draft.teams[t], std::move(reshaped));
  const int as_large = old.pipelines * GpusOf(table_, old) / GpusOf(table_, draft.teams[t]);
  for (const int pipelines : {old.pipelines, as_large, fit}) {
    draft.teams[t].pipelines = std::clamp(pipelines, 1, fit);
    if (Take(draft)) return true;
  }
  return false;
}

bool DraftClimber::MoveStages() {
  for (size_t t = 0; t < current_.draft.teams.size(); ++t) {
    if (TakeRuns(t) || TakeChains(t) || TakeSwaps(t)) return true;
  }
  return false;
}

// Of the pools that lead their kind, alone or beside a pool of the team, and of those in its zones.
std::vector<int> DraftClimber::SlotsBeside(const Team& team) const {
  const ir::Cluster& cluster = table_.problem().cluster;
  const std::vector<int> pools = table_.PoolsOf(team.slots);
  std::vector<int> slots;
  for (int id = 0; id < static_cast<int>(table_.slots().size()); ++id) {
    const ir::PoolId pool = table_.slots()[id].pool;
    const bool is_beside = std::any_of(pools.begin(), pools.end(), [&](int used) {
      return cluster.pool(ir::PoolId(used)).zone == cluster.pool(pool).zone || table_.kinds().Leads(used, pool.index());
    });
    if (is_beside || table_.kinds().Leads(pool.index())) slots.push_back(id);
  }
  return slots;
}

// One stage inserted, changed or removed.
bool DraftClimber::TakeChains(size_t t) {
  const Team base = current_.draft.teams[t];
  const std::vector<int> slots = SlotsBeside(base);
  for (size_t s = 0; s <= base.slots.size(); ++s) {
    const auto at = static_cast<std::ptrdiff_t>(s);
    // Within a run of equal stages one place stands for all.
    const bool is_run_begin = s == 0 || s == base.slots.size() || base.slots[s] != base.slots[s - 1];
    if (!is_run_begin) continue;
    for (const int slot : slots) {
      Team team = base;
      team.slots.insert(team.slots.begin() + at, slot);
      if (TakeReshaped(t, std::move(team))) return true;
      if (s == base.slots.size() || slot == base.slots[s]) continue;
      for (const size_t changed : {s, EndOfRun(base, s) - 1}) {
        team = base;
        team.slots[changed] = slot;
        Draft draft = current_.draft;
        draft.teams[t] = team;
        if (Take(draft)) return true;
        if (TakeReshaped(t, std::move(team))) return true;
      }
    }
    if (s == base.slots.size() || base.slots.size() == 1) continue;
    Team team = base;
    team.slots.erase(team.slots.begin() + at);
    if (TakeReshaped(t, std::move(team))) return true;
  }
  return false;
}

// Two stages that begin runs in different zones change places.
bool DraftClimber::TakeSwaps(size_t t) {
  const Team base = current_.draft.teams[t];
  for (size_t s = 0; s < base.slots.size(); s = EndOfRun(base, s)) {
    for (size_t other = EndOfRun(base, s); other < base.slots.size(); other = EndOfRun(base, other)) {
      const ir::PoolId pool = table_.slots()[base.slots[s]].pool, other_pool = table_.slots()[base.slots[other]].pool;
      if (SpanOf(table_.problem().cluster, pool, other_pool) == ir::Reach::kZone) continue;
      Team team = base;
      std::swap(team.slots[s], team.slots[other]);
      if (TakeReshaped(t, std::move(team))) return true;
    }
  }
  return false;
}

// Runs of equal stages: on another slot, half as long, twice as long.
bool DraftClimber::TakeRuns(size_t t) {
  const Team base = current_.draft.teams[t];
  const std::vector<int> slots = SlotsBeside(base);
  for (size_t s = 0; s < base.slots.size(); s = EndOfRun(base, s)) {
    const size_t length = EndOfRun(base, s) - s;
    const auto begin = static_cast<std::ptrdiff_t>(s);
    const auto replace = [&](int slot, size_t with_length) {
      Team team = base;
      team.slots.erase(team.slots.begin() + begin, team.slots.begin() + begin + static_cast<std::ptrdiff_t>(length));
      team.slots.insert(team.slots.begin() + begin, with_length, slot);
      return TakeReshaped(t, std::move(team));
    };
    for (const int slot : slots) {
      if (slot != base.slots[s] && replace(slot, length)) return true;
      if (length > 1 && replace(slot, length / 2)) return true;
      if (replace(slot, 2 * length)) return true;
    }
  }
  return false;
}

// Shapes with the most samples per price of their GPUs within the current iteration, and with the most samples.
const std::vector<int>& DraftClimber::PromisingShapes() {
  if (!promising_.empty()) return promising_;
  std::vector<double> samples(shapes_.size()), per_gpu(shapes_.size()), per_usd(shapes_.size());
  for (size_t i = 0; i < shapes_.size(); ++i) {
    const PipelineRate& rate = shapes_[i].rate;
    samples[i] = static_cast<double>(rate.micro_batch) * rate.MicroBatchesWithin(current_.score.seconds);
    per_gpu[i] = samples[i] / gpus_[i];
    per_usd[i] = samples[i] / prices_[i];
  }
  for (const std::vector<double>* score : {&per_usd, &per_gpu, &samples}) {
    for (const int shape : Best(*score, kPromisingShapes / 3)) {
      const bool is_taken = std::find(promising_.begin(), promising_.end(), shape) != promising_.end();
      if (!is_taken) promising_.push_back(shape);
    }
  }
  return promising_;
}

bool DraftClimber::MoveTeams() {
  const Draft base = current_.draft;
  for (const int shape : PromisingShapes()) {
    Team added{.micro = shapes_[shape].micro, .slots = shapes_[shape].slots, .counts = shapes_[shape].counts};
    // Beside the others, then in place of one, half and all pipelines of a team.
    for (size_t t = 0; t <= base.teams.size(); ++t) {
      const int pipelines = t < base.teams.size() ? base.teams[t].pipelines : 1;
      for (int replaced : {1, pipelines / 2, pipelines}) {
        Draft draft = base;
        if (t < base.teams.size()) {
          if (replaced == 0) continue;
          draft.teams[t].pipelines -= replaced;
          if (draft.teams[t].pipelines == 0) draft.teams.erase(draft.teams.begin() + static_cast<std::ptrdiff_t>(t));
        }
        const int fit = judge_.MostThatFit(added, judge_.RoomLeft(draft), draft.is_folded);
        if (fit == 0) continue;
        draft.teams.push_back(added);
        for (const int count : {fit, 1}) {
          draft.teams.back().pipelines = count;
          if (Take(draft)) return true;
        }
        if (t == base.teams.size()) break;
      }
    }
  }
  return false;
}

bool DraftClimber::MoveShares() {
  Draft draft = current_.draft;
  draft.layout = draft.layout == Layout::kByPipeline ? Layout::kByStage : Layout::kByPipeline;
  if (Take(draft)) return true;
  draft = current_.draft;
  if (draft.teams.size() < 2) return false;
  for (Team& team : draft.teams) {
    const double pace = team.pace;
    for (const double factor : {0.95, 0.98, 1.02, 1.05}) {
      team.pace = pace * factor;
      if (Take(draft)) return true;
    }
    team.pace = pace;
  }
  return false;
}

}  // namespace sail::planner
