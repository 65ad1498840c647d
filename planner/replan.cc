#include "planner/replan.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "compiler/base/status_macros.h"
#include "compiler/ir/verify_plan.h"
#include "planner/assign_nodes.h"
#include "planner/draft_climber.h"
#include "planner/near.h"
#include "planner/place.h"
#include "planner/repair.h"
#include "planner/share_plan.h"

namespace sail::planner {

ir::Report Amortised(const ir::Report& report, const Movement& movement, Seconds horizon) {
  const double rate = ir::Value(report, ir::Metric::kCostRate);
  const double inflation = 1 + movement.seconds / horizon;
  const double idle = rate * movement.seconds.value() + movement.egress.value();
  ir::Report amortised = report;
  amortised.cost_per_iteration += Usd(idle * (report.iteration / horizon));
  amortised.iteration = report.iteration * inflation;
  amortised.samples_per_second /= inflation;
  amortised.tokens_per_second /= inflation;
  for (ir::PoolCost& pool : amortised.pools) pool.per_iteration = pool.per_iteration * inflation;  // the same rate
  return amortised;
}

namespace {

constexpr size_t kStarts = 3;  // repairs that are climbed from

struct Scored {
  NextPlan next;
  double violation = 0;
  std::vector<double> objective;  // amortised; smaller is better, lexicographic
};

bool IsBetter(const Scored& a, const Scored& b) {
  if (a.violation != b.violation) return a.violation < b.violation;
  if (a.objective != b.objective) return a.objective < b.objective;
  return a.next.plan < b.next.plan;
}

// The job's limits; nodes of other backends than the previous plan's, which cannot be mixed with it, left out.
SearchScope ScopeOfChange(const Change& change) {
  SearchScope scope = ScopeOf(change.problem);
  const ir::Cluster& cluster = change.problem.cluster;
  const ir::Backend backend = cluster.gpu(change.previous.pipelines[0].stages[0].group.pool).backend;
  for (size_t p = 0; p < scope.quotas.size(); ++p) {
    if (cluster.gpu(ir::PoolId(static_cast<int>(p))).backend != backend) scope.quotas[p] = 0;
  }
  return scope;
}

int64_t GpusOf(const ir::Plan& plan) {
  int64_t gpus = 0;
  for (const ir::Pipeline& pipeline : plan.pipelines) {
    for (const ir::Stage& stage : pipeline.stages) gpus += stage.group.degree();
  }
  return gpus;
}

class Replanner {
 public:
  Replanner(const Change& change, const sim::CostModel& costs, const ReplanOptions& options)
      : change_(change),
        costs_(costs),
        options_(options),
        movement_(change),
        scope_(ScopeOfChange(change)),
        judge_(change.problem, costs, scope_, options.plan_budget * GpusOf(change.previous)) {}

  absl::StatusOr<ReplanOutcome> Run() {
    if (!change_.is_any) {
      ConsiderInPlace(change_.previous);
    } else if (std::any_of(scope_.quotas.begin(), scope_.quotas.end(), [](int quota) { return quota > 0; })) {
      RepairAndClimb();
    }
    if (!judge_.status().ok()) return judge_.status();
    int64_t candidates = judge_.candidates() + drafts_;
    SAIL_ASSIGN_OR_RETURN(std::optional<Scored> best, Best());
    std::optional<NextPlan> from_scratch;
    if (!best || (options_.search && change_.is_any)) {
      SAIL_ASSIGN_OR_RETURN(PlanOutcome outcome,
                            FindPlan(change_.problem, costs_, options_.search.value_or(PlannerOptions())));
      if (auto* found = std::get_if<Feasible>(&outcome)) {
        candidates += found->candidates;
        SAIL_ASSIGN_OR_RETURN(Scored scored, ScoreNear(*std::move(found)));
        from_scratch = scored.next;
        if (!best || IsBetter(scored, *best)) best = std::move(scored);
      } else if (!best) {
        Infeasible& infeasible = std::get<Infeasible>(outcome);
        infeasible.candidates += candidates;
        return ReplanOutcome(std::move(infeasible));
      }
    }
    return ReplanOutcome(
        Replanned{.next = std::move(best->next), .from_scratch = std::move(from_scratch), .candidates = candidates});
  }

 private:
  // The best plan that keeps the limits with its nodes named as they are.
  absl::StatusOr<std::optional<Scored>> Best() {
    for (Scored& scored : scored_) {
      if (scored.violation > 0) break;
      SAIL_ASSIGN_OR_RETURN(const bool is_sound, Settle(scored.next));
      if (is_sound) return std::make_optional(std::move(scored));
    }
    return std::optional<Scored>();
  }

  // A plan of the search with its nodes chosen near their state, or as they are if that broke a limit.
  absl::StatusOr<Scored> ScoreNear(Feasible found) const {
    NextPlan next{.plan = PlaceNear(found.plan), .report = {}, .movement = {}};
    SAIL_ASSIGN_OR_RETURN(const bool is_sound, Settle(next));
    if (!is_sound) next = {.plan = std::move(found.plan), .report = std::move(found.report), .movement = {}};
    next.movement = movement_.Of(next.plan);
    return Score(std::move(next), 0);
  }

  // The report of the plan as its nodes are named, which may differ from that of another naming in what is expected of
  // checkpoints; whether it keeps the limits.
  absl::StatusOr<bool> Settle(NextPlan& next) const {
    SAIL_ASSIGN_OR_RETURN(next.report, costs_.Evaluate(next.plan));
    return ir::VerifyPlan(change_.problem, next.plan, next.report).ok();
  }

  void RepairAndClimb() {
    const ir::Plan& previous = change_.previous;
    const bool is_sharded = previous.optimizer_sharding == ir::OptimizerSharding::kZero1;
    const size_t shards = is_sharded ? std::max<size_t>(1, previous.pipelines.size() / 2) : 1;
    const StageTable table(change_.problem, costs_, scope_.quotas, MemoryRule::kEnforced,
                           {.sharding = previous.optimizer_sharding, .shards = static_cast<int>(shards)});
    const std::vector<PipelineShape> shapes = NearShapes(table, previous);
    const Repair repair(movement_, table, shapes);
    std::vector<ir::Plan> bases = {repair.Dropped()};
    if (std::optional<ir::Plan> rebuilt = repair.Rebuilt()) bases.push_back(*std::move(rebuilt));
    for (const ir::Plan& base : bases) {
      ConsiderShared(table, base);
      for (const ir::Plan& filled : repair.Filled(base)) ConsiderShared(table, filled);
    }
    Climb(table, shapes);
  }

  void ConsiderShared(const StageTable& table, ir::Plan plan) {
    if (!plan.pipelines.empty() && Share(table, plan)) ConsiderInPlace(std::move(plan));
  }

  // Local optima near the best repairs, judged as drafts without movement, then as plans with it.
  void Climb(const StageTable& table, const std::vector<PipelineShape>& shapes) {
    DraftJudge drafts(table, costs_, scope_, options_.draft_budget);
    std::vector<ir::Plan> starts;
    for (size_t i = 0; i < std::min(kStarts, scored_.size()); ++i) starts.push_back(scored_[i].next.plan);
    for (const ir::Plan& start : starts) {
      std::optional<ScoredDraft> best;
      for (const Layout layout : kLayouts) {
        Draft draft = DraftOf(table, start);
        draft.layout = layout;
        const std::optional<planner::Score> score = drafts.Judge(draft);
        if (score && (!best || *score < best->score)) best = {.draft = std::move(draft), .score = *score};
      }
      if (!best) continue;
      const ScoredDraft optimum = DraftClimber(shapes, drafts).Climb(*std::move(best));
      std::optional<ir::Plan> plan = drafts.ToPlan(optimum.draft);
      if (plan && Place(change_.problem, scope_.quotas, optimum.draft.layout, *plan)) {
        ir::Plan placed = PlaceNear(*std::move(plan));
        Movement movement = movement_.Of(placed);
        Consider(std::move(placed), std::move(movement));
      }
    }
    drafts_ = drafts.candidates();
  }

  ir::Plan PlaceNear(ir::Plan plan) const {
    AssignNodes(movement_, plan);
    AssignGpus(change_, plan);
    ir::Canonicalize(plan);
    return plan;
  }

  // A plan that names its nodes and GPUs, also with its nodes chosen anew if that saves bytes.
  void ConsiderInPlace(ir::Plan plan) {
    ir::Canonicalize(plan);
    Movement movement = movement_.Of(plan);
    if (Bytes(movement) > 0) {
      ir::Plan renamed = PlaceNear(plan);
      Movement other = movement_.Of(renamed);
      if (Bytes(other) < Bytes(movement)) {
        plan = std::move(renamed);
        movement = std::move(other);
      }
    }
    Consider(std::move(plan), std::move(movement));
  }

  static double Bytes(const Movement& movement) { return movement.bytes + movement.checkpoint_bytes; }

  void Consider(ir::Plan plan, Movement movement) {
    std::optional<Judged> judged = judge_.Evaluate(plan);
    if (!judged) return;
    Offer(Score({.plan = std::move(plan), .report = std::move(judged->report), .movement = std::move(movement)},
                judged->violation));
  }

  Scored Score(NextPlan next, double violation) const {
    next.horizon = next.report.spot ? next.report.spot->mean_time_between_failures : options_.horizon;
    const ir::Report amortised = Amortised(next.report, next.movement, next.horizon);
    next.iteration = amortised.iteration;
    Scored scored{.next = std::move(next), .violation = violation, .objective = {}};
    for (const ir::ObjectiveTerm& term : scope_.objective) {
      const double value = ir::Value(amortised, term.metric);
      scored.objective.push_back(term.maximize ? -value : value);
    }
    return scored;
  }

  void Offer(Scored scored) {
    scored_.insert(std::upper_bound(scored_.begin(), scored_.end(), scored, IsBetter), std::move(scored));
  }

  const Change& change_;
  const sim::CostModel& costs_;
  const ReplanOptions& options_;
  const MovementCost movement_;
  const SearchScope scope_;
  Judge judge_;
  int64_t drafts_ = 0;
  std::vector<Scored> scored_;  // best first
};

}  // namespace

absl::StatusOr<ReplanOutcome> Replan(const Change& change, const sim::CostModel& costs, const ReplanOptions& options) {
  return Replanner(change, costs, options).Run();
}

}  // namespace sail::planner
