#include "planner/search.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "planner/draft.h"
#include "planner/draft_climber.h"
#include "planner/pipeline_shapes.h"
#include "planner/place.h"
#include "planner/refine.h"
#include "planner/seeds.h"
#include "planner/stage_table.h"

namespace sail::planner {
namespace {

constexpr int kSmallGpus = 16;         // up to here seeds are refined as plans, in both layouts
constexpr size_t kRefinedSeeds = 80;   // of small problems
constexpr size_t kClimbs = 16;         // from the best seeds, unlike ones first
constexpr size_t kFinalists = 4;       // of large problems

// Drafts worth a climb: the best of each set of slots in use, best first, then the next best of each, …
std::vector<ScoredDraft> Diverse(std::vector<ScoredDraft> drafts, size_t most) {
  std::stable_sort(drafts.begin(), drafts.end(),
                   [](const ScoredDraft& a, const ScoredDraft& b) { return a.score < b.score; });
  std::map<std::vector<int>, size_t> met;  // drafts so far, by slots in use
  std::vector<std::pair<size_t, size_t>> order;
  for (size_t i = 0; i < drafts.size(); ++i) {
    std::set<int> slots;
    for (const Team& team : drafts[i].draft.teams) slots.insert(team.slots.begin(), team.slots.end());
    order.push_back({met[std::vector<int>(slots.begin(), slots.end())]++, i});
  }
  std::sort(order.begin(), order.end());
  std::vector<ScoredDraft> chosen;
  for (size_t i = 0; i < std::min(most, order.size()); ++i) chosen.push_back(std::move(drafts[order[i].second]));
  return chosen;
}

// One search over the pools of one backend: a plan never mixes them.
class BackendSearch {
 public:
  BackendSearch(const ir::Problem& problem, const sim::CostModel& costs, const SearchScope& scope, int64_t work)
      : problem_(problem),
        table_(problem, costs, scope.quotas, scope.memory),
        shapes_(GenerateShapes(table_, scope.quotas)),
        drafts_(table_, costs, scope, work),
        judge_(problem, costs, scope, work) {
    for (size_t p = 0; p < scope.quotas.size(); ++p) {
      gpus_ += scope.quotas[p] * problem.cluster.machine(ir::PoolId(static_cast<int>(p))).gpus_per_node;
    }
  }

  absl::StatusOr<SearchResult> Run() {
    std::vector<ScoredDraft> seeds;
    for (Draft& seed : MakeSeeds(table_, shapes_, judge_.scope())) {
      const std::optional<Score> score = drafts_.Judge(seed);
      if (score) seeds.push_back({.draft = std::move(seed), .score = *score});
    }
    std::vector<ScoredDraft> finalists = gpus_ <= kSmallGpus ? seeds : std::vector<ScoredDraft>();
    DraftClimber climber(shapes_, drafts_);
    for (ScoredDraft& start : Diverse(std::move(seeds), kClimbs)) finalists.push_back(climber.Climb(std::move(start)));
    SearchResult result;
    Refiner refiner(table_, shapes_, judge_);
    for (Judged& plan : Place(std::move(finalists))) {
      Judged refined = refiner.Improve(std::move(plan));
      if (!result.best || IsBetter(refined, *result.best)) result.best = std::move(refined);
    }
    if (!judge_.status().ok()) return judge_.status();
    result.candidates = drafts_.candidates() + judge_.candidates();
    return result;
  }

 private:
  // The best of the finalists as plans, best first.
  std::vector<Judged> Place(std::vector<ScoredDraft> finalists) {
    const size_t most = gpus_ <= kSmallGpus ? kRefinedSeeds : kFinalists;
    std::stable_sort(finalists.begin(), finalists.end(),
                     [](const ScoredDraft& a, const ScoredDraft& b) { return a.score < b.score; });
    std::vector<Judged> judged;
    for (const ScoredDraft& finalist : finalists) {
      if (gpus_ > kSmallGpus && judged.size() >= most) break;
      for (const Layout layout : {Layout::kByPipeline, Layout::kByStage}) {
        if (gpus_ > kSmallGpus && layout != finalist.draft.layout) continue;
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
  const StageTable table_;
  const std::vector<PipelineShape> shapes_;
  DraftJudge drafts_;
  Judge judge_;
  int gpus_ = 0;  // of all quotas
};

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
      absl::StatusOr<SearchResult> result = BackendSearch(problem, costs, part, work).Run();
      if (!result.ok()) return result.status();
      best.candidates += result->candidates;
      if (result->best && (!best.best || IsBetter(*result->best, *best.best))) best.best = std::move(result->best);
    }
  }
  return best;
}

}  // namespace sail::planner
