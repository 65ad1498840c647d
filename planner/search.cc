#include "planner/search.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "planner/pipeline_shapes.h"
#include "planner/place.h"
#include "planner/refine.h"
#include "planner/seeds.h"
#include "planner/stage_table.h"

namespace sail::planner {
namespace {

constexpr size_t kRefinedSeeds = 80;
constexpr int kSmallGpus = 16;  // up to here every seed is judged in both layouts; refinement tries both anyway

// The best seeds, best first.
std::vector<Judged> JudgeSeeds(const ir::Problem& problem, const std::vector<ir::Plan>& seeds, Judge& judge) {
  std::vector<Judged> judged;
  for (const ir::Plan& seed : seeds) {
    int gpus = 0;
    for (const ir::Pipeline& pipeline : seed.pipelines) {
      for (const ir::Stage& stage : pipeline.stages) gpus += stage.group.degree();
    }
    for (const Layout layout : {Layout::kByPipeline, Layout::kByStage}) {
      if (layout == Layout::kByStage && gpus > kSmallGpus) break;
      ir::Plan plan = seed;
      if (!Place(problem, judge.scope().quotas, layout, plan)) continue;
      std::optional<Judged> candidate = judge.Evaluate(std::move(plan));
      if (!candidate) continue;
      judged.insert(std::upper_bound(judged.begin(), judged.end(), *candidate, IsBetter), *std::move(candidate));
      if (judged.size() > kRefinedSeeds) judged.pop_back();
    }
  }
  return judged;
}

// Pools of one backend: a plan never mixes them.
absl::StatusOr<SearchResult> SearchBackend(const ir::Problem& problem, const sim::CostModel& costs,
                                           const SearchScope& scope, int64_t work) {
  const StageTable table(problem, costs, scope.quotas, scope.memory);
  const std::vector<PipelineShape> shapes = GenerateShapes(table, scope.quotas);
  Judge judge(problem, costs, scope, work);
  SearchResult result;
  Refiner refiner(table, shapes, judge);
  for (Judged& seed : JudgeSeeds(problem, MakeSeeds(table, shapes, scope), judge)) {
    Judged refined = refiner.Improve(std::move(seed));
    if (!result.best || IsBetter(refined, *result.best)) result.best = std::move(refined);
  }
  if (!judge.status().ok()) return judge.status();
  result.candidates = judge.candidates();
  return result;
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
      best.candidates += result->candidates;
      if (result->best && (!best.best || IsBetter(*result->best, *best.best))) best.best = std::move(result->best);
    }
  }
  return best;
}

}  // namespace sail::planner
