#include "planner/search.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "compiler/base/status_macros.h"
#include "planner/draft.h"
#include "planner/draft_climber.h"
#include "planner/pipeline_shapes.h"
#include "planner/place.h"
#include "planner/refine.h"
#include "planner/seeds.h"
#include "planner/stage_table.h"

namespace sail::planner {
namespace {

constexpr size_t kRefinedSeeds = 80;  // of small problems
constexpr size_t kClimbs = 16;        // from the best seeds, unlike ones first
constexpr size_t kUnfolded = 4;       // of their optima
constexpr size_t kFinalists = 4;      // of large problems

int64_t GpusOf(const ir::Cluster& cluster, const std::vector<int>& quotas) {
  int64_t gpus = 0;
  for (size_t p = 0; p < quotas.size(); ++p) {
    gpus += int64_t{std::max(quotas[p], 0)} * cluster.machine(ir::PoolId(static_cast<int>(p))).gpus_per_node;
  }
  return gpus;
}

// Drafts worth a climb: the best of each layout and set of slots in use, best first, then the next best of each, …
std::vector<ScoredDraft> Diverse(std::vector<ScoredDraft> drafts, size_t most) {
  std::stable_sort(drafts.begin(), drafts.end(),
                   [](const ScoredDraft& a, const ScoredDraft& b) { return a.score < b.score; });
  std::map<std::pair<Layout, std::vector<int>>, size_t> met;  // drafts so far
  std::vector<std::pair<size_t, size_t>> order;
  for (size_t i = 0; i < drafts.size(); ++i) {
    std::set<int> slots;
    for (const Team& team : drafts[i].draft.teams) slots.insert(team.slots.begin(), team.slots.end());
    order.push_back({met[{drafts[i].draft.layout, std::vector<int>(slots.begin(), slots.end())}]++, i});
  }
  std::sort(order.begin(), order.end());
  std::vector<ScoredDraft> chosen;
  for (size_t i = 0; i < std::min(most, order.size()); ++i) chosen.push_back(std::move(drafts[order[i].second]));
  return chosen;
}

// One search with one table.
class TableSearch {
 public:
  TableSearch(const StageTable& table, const sim::CostModel& costs, const SearchScope& scope, int64_t work)
      : problem_(table.problem()),
        table_(table),
        shapes_(GenerateShapes(table_, scope.quotas)),
        drafts_(table_, costs, scope, work),
        judge_(problem_, costs, scope, work),
        gpus_(GpusOf(problem_.cluster, scope.quotas)) {}

  absl::StatusOr<SearchResult> Run() {
    std::vector<ScoredDraft> seeds;
    for (Draft& seed : MakeSeeds(drafts_, shapes_)) AddSeed(std::move(seed), seeds);
    const std::vector<ScoredDraft> finalists = table_.kinds().is_small() ? std::move(seeds) : Climb(std::move(seeds));
    SearchResult result;
    Refiner refiner(table_, shapes_, drafts_.estimator(), judge_);
    for (Judged& plan : Place(finalists)) {
      Judged refined = refiner.Improve(std::move(plan));
      if (!result.best || IsBetter(refined, *result.best)) result.best = std::move(refined);
    }
    if (!judge_.status().ok()) return judge_.status();
    result.candidates = drafts_.candidates() + judge_.candidates();
    result.good = judge_.best_plans();
    return result;
  }

 private:
  // Also by stage where that is better: what nodes share decides how much synchronisation takes, and so which plans are
  // good at all. (Of small problems plans are placed in every layout.)
  void AddSeed(Draft seed, std::vector<ScoredDraft>& seeds) {
    const std::optional<Score> score = drafts_.Judge(seed);
    Draft by_stage = seed;
    if (score) seeds.push_back({.draft = std::move(seed), .score = *score});
    if (table_.kinds().is_small()) return;
    by_stage.layout = Layout::kByStage;
    const std::optional<Score> other = drafts_.Judge(by_stage);
    if (other && (!score || *other < *score)) seeds.push_back({.draft = std::move(by_stage), .score = *other});
  }

  // Local optima, best first.
  std::vector<ScoredDraft> Climb(std::vector<ScoredDraft> seeds) {
    std::vector<ScoredDraft> optima = ClimbFrom(Diverse(std::move(seeds), kClimbs));
    if (!table_.kinds().has_merged()) return optima;
    // Teams on alike pools, each by itself.
    std::vector<ScoredDraft> unfolded;
    for (size_t i = 0; i < std::min(kUnfolded, optima.size()); ++i) {
      ScoredDraft start{.draft = drafts_.Unfold(optima[i].draft), .score = optima[i].score};
      unfolded.push_back(std::move(start));
    }
    for (ScoredDraft& optimum : ClimbFrom(std::move(unfolded))) optima.push_back(std::move(optimum));
    std::stable_sort(optima.begin(), optima.end(), IsBetterDraft);
    return optima;
  }

  static bool IsBetterDraft(const ScoredDraft& a, const ScoredDraft& b) { return a.score < b.score; }

  // Local optima, best first. Each climb may take its share of the budget that the ones before left.
  std::vector<ScoredDraft> ClimbFrom(std::vector<ScoredDraft> starts) {
    DraftClimber climber(shapes_, drafts_);
    std::vector<ScoredDraft> optima;
    auto left = static_cast<int64_t>(starts.size()) + (starts.size() > kUnfolded ? 1 : 0);
    for (ScoredDraft& start : starts) {
      drafts_.Allow(drafts_.work_left() / left--);
      optima.push_back(climber.Climb(std::move(start)));
    }
    std::stable_sort(optima.begin(), optima.end(), IsBetterDraft);
    return optima;
  }

  // The best of the finalists as plans, best first.
  std::vector<Judged> Place(const std::vector<ScoredDraft>& finalists) {
    const size_t most = table_.kinds().is_small() ? kRefinedSeeds : kFinalists;
    std::vector<Judged> judged;
    for (const ScoredDraft& finalist : finalists) {
      if (!table_.kinds().is_small() && judged.size() >= most) break;
      for (const Layout layout : kLayouts) {
        if (!table_.kinds().is_small() && layout != finalist.draft.layout) continue;
        Draft draft = finalist.draft;
        draft.layout = layout;
        std::optional<ir::Plan> placed = drafts_.ToPlan(draft);
        if (!placed || !planner::Place(problem_, judge_.scope().quotas, layout, *placed)) continue;
        std::optional<Judged> candidate = judge_.Evaluate(*std::move(placed));
        if (!candidate) continue;
        judged.insert(std::upper_bound(judged.begin(), judged.end(), *candidate, IsBetter), *std::move(candidate));
        if (judged.size() > most) judged.pop_back();
      }
    }
    return judged;
  }

  const ir::Problem& problem_;
  const StageTable& table_;
  const std::vector<PipelineShape> shapes_;
  DraftJudge drafts_;
  Judge judge_;
  const int64_t gpus_;  // of all quotas
};

// The tables to search with. Under ZeRO-1 memory depends on the number of pipelines: of the numbers of shards tried,
// those are kept with which more stages fit than with fewer shards. A plan of n pipelines is formed by the tables of at
// most n shards without going beyond its memory; the judge knows its true memory.
std::vector<StageTable> MakeTables(const ir::Problem& problem, const sim::CostModel& costs, const SearchScope& scope) {
  std::vector<StageTable> tables;
  const int64_t most =
      std::min(GpusOf(problem.cluster, scope.quotas), problem.job.global_batch / problem.job.micro_batches.front());
  for (const ir::OptimizerSharding sharding : problem.job.optimizer_shardings) {
    tables.emplace_back(problem, costs, scope.quotas, scope.memory, OptimizerState{.sharding = sharding});
    if (sharding == ir::OptimizerSharding::kNone) continue;
    for (const int shards : {2, 3, 4, 6, 8, 16, 64}) {
      if (shards > most) break;
      StageTable table(problem, costs, scope.quotas, scope.memory, {.sharding = sharding, .shards = shards});
      if (!table.FitsLike(tables.back())) tables.push_back(std::move(table));
    }
  }
  return tables;
}

bool IsGoalReached(const SearchScope& scope, const SearchResult& best) {
  return scope.goal == Goal::kFeasible && best.best && best.best->violation == 0;
}

void Merge(SearchResult result, SearchResult& best) {
  best.candidates += result.candidates;
  best.good.Merge(result.good);
  if (result.best && (!best.best || IsBetter(*result.best, *best.best))) best.best = std::move(result.best);
}

// Pools of one backend: a plan never mixes them.
absl::StatusOr<SearchResult> SearchBackend(const ir::Problem& problem, const sim::CostModel& costs,
                                           const SearchScope& scope, int64_t work) {
  SearchResult best;
  const std::vector<StageTable> tables = MakeTables(problem, costs, scope);
  for (const StageTable& table : tables) {
    SAIL_ASSIGN_OR_RETURN(SearchResult result,
                          TableSearch(table, costs, scope, work / static_cast<int64_t>(tables.size())).Run());
    Merge(std::move(result), best);
    if (IsGoalReached(scope, best)) break;
  }
  return best;
}

// What to search: all pools together and, when the job keeps its communicators within a region or a zone, the pools of
// each of those alone, where every plan keeps to a region or a zone; the judge refuses what leaves a node.
std::vector<std::vector<int>> QuotaSets(const ir::Problem& problem, const ir::Keep& keep,
                                        const std::vector<int>& quotas) {
  std::vector<std::vector<int>> sets = {quotas};
  const ir::Reach narrowest = std::min(keep.pipeline, keep.data);
  if (narrowest == ir::Reach::kAny) return sets;
  std::map<int, std::vector<int>> by_place;
  for (size_t p = 0; p < quotas.size(); ++p) {
    const ir::ZoneId zone = problem.cluster.pools[p].zone;
    const int place =
        narrowest == ir::Reach::kRegion ? problem.cluster.zones[zone.index()].region.index() : zone.index();
    by_place.try_emplace(place, quotas.size(), 0).first->second[p] = quotas[p];
  }
  for (auto& [place, subset] : by_place) {
    const bool empty = std::all_of(subset.begin(), subset.end(), [](int quota) { return quota <= 0; });
    if (!empty && subset != quotas) sets.push_back(std::move(subset));
  }
  return sets;
}

}  // namespace

absl::StatusOr<SearchResult> Search(const ir::Problem& problem, const sim::CostModel& costs, const SearchScope& scope,
                                    int64_t work) {
  SearchResult best;
  for (const ir::Backend backend : {ir::Backend::kCuda, ir::Backend::kCpu}) {
    SearchScope part = scope;
    for (size_t p = 0; p < part.quotas.size(); ++p) {
      if (problem.cluster.gpu(ir::PoolId(static_cast<int>(p))).backend != backend) part.quotas[p] = 0;
    }
    if (std::all_of(part.quotas.begin(), part.quotas.end(), [](int quota) { return quota <= 0; })) continue;
    for (const std::vector<int>& quotas : QuotaSets(problem, part.keep, part.quotas)) {
      part.quotas = quotas;
      absl::StatusOr<SearchResult> result = SearchBackend(problem, costs, part, work);
      if (!result.ok()) return result.status();
      Merge(*std::move(result), best);
      if (IsGoalReached(scope, best)) return best;
    }
  }
  return best;
}

}  // namespace sail::planner
