#include "planner/bound.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planner/planner.h"
#include "tests/unit/planner/fake_cost_model.h"

namespace sail::planner {
namespace {

using ir::Metric;
using test::FakeCostModel;
using test::FakeProblem;

constexpr int64_t kPlenty = 1'000'000;
constexpr double kUsdPerSecond = 3600;  // as USD/h
constexpr double kPrecision =
    0.0125;  // of what is proven (bound.cc: 0.01 a step and as good as 1 %), of the value found

// As if a plan of `seconds` (and `usd`) had been found.
std::optional<Certificate> Certify(const ir::Problem& problem, const sim::CostModel& costs, double seconds,
                                   double usd = 1) {
  ir::Report found;
  found.iteration = Seconds(seconds);
  found.cost_per_iteration = Usd(usd);
  found.samples_per_second = static_cast<double>(problem.job.global_batch) / seconds;
  return Bound(problem, costs, ScopeOf(problem), found, PlannerOptions().bound_work);
}

void ExpectLeastTime(ir::Problem problem, const sim::CostModel& costs, double found, double expected) {
  problem.job.objective = {{.metric = Metric::kIterTime, .maximize = false}};
  const std::optional<Certificate> certificate = Certify(problem, costs, found);
  ASSERT_TRUE(certificate.has_value());
  EXPECT_LE(certificate->bound, expected * (1 + 1e-9));
  EXPECT_GE(certificate->bound, expected - kPrecision * found);
  EXPECT_NEAR(certificate->gap, 1 - certificate->bound / found, 1e-12);
}

// One GPU, 4 layers of 1 s: 10 samples take 40 s, whatever the plan.
TEST(Bound, IsTheTimeOfTheOnlyGpu) {
  ir::Problem problem = FakeProblem(4, {{}}, 10);
  problem.job.pipeline_depths = {1};
  const FakeCostModel costs(problem, {1}, {kPlenty}, 0);
  ExpectLeastTime(problem, costs, 40, 40);
  ExpectLeastTime(problem, costs, 80, 40);
}

// Pool a processes a sample in 4 s, pool b in 8 s: 12 samples take 8·4 = 4·8 = 32 s when whole numbers fit.
TEST(Bound, CombinesPools) {
  ir::Problem problem = FakeProblem(4, {{}, {}}, 12);
  problem.job.pipeline_depths = {1};
  const FakeCostModel costs(problem, {1, 2}, {kPlenty, kPlenty}, 0);
  ExpectLeastTime(problem, costs, 40, 32);
}

// A stage of n layers with k in flight needs n·(1 + k) bytes. 5 bytes hold 2 layers with one in flight and 1 with up to
// 4: two stages run a single micro-batch, four stages 8 of them in (8 + 3)·1 s. 7 bytes hold 3 layers with one in
// flight and 2 with two: two pipelines of 4 micro-batches take 2·(4 + 1) s.
TEST(Bound, SeesThatMemoryForcesDepth) {
  ir::Problem problem = FakeProblem(4, {{.nodes = 4}}, 8);
  problem.job.pipeline_depths = {1, 2, 4};
  const FakeCostModel deep(problem, {1}, {5}, 0);
  ExpectLeastTime(problem, deep, 12, 11);
  const FakeCostModel shallow(problem, {1}, {7}, 0);
  ExpectLeastTime(problem, shallow, 12, 10);
}

// Every pipeline beyond the first costs a second per layer.
class SyncedCostModel : public FakeCostModel {
 public:
  explicit SyncedCostModel(const ir::Problem& problem) : FakeCostModel(problem, {1}, {kPlenty}, 0), problem_(problem) {}
  std::unique_ptr<sim::OutlineEstimator> MakeEstimator() const override {
    return std::make_unique<Estimator>(problem_, *this);
  }

 private:
  class Estimator : public test::ExpandingEstimator {
   public:
    using ExpandingEstimator::ExpandingEstimator;
    double SyncAtLeast(const sim::StageShape& stage, int replicas) override {
      return (replicas - 1) * (stage.last_layer - stage.first_layer + 1.0);
    }
  };
  const ir::Problem& problem_;
};

// Half of a stage's time is forward; events as in our model.
class EventCostModel : public FakeCostModel {
 public:
  using FakeCostModel::FakeCostModel;
  sim::PipelineForm form() const override { return sim::PipelineForm::kEvents; }
  Seconds ForwardTime(const sim::StageShape& stage) const override { return Seconds(StageTime(stage).value() / 2); }
};

// Four stages of 1 s with 1 s from node to node: a turn of 4 micro-batches takes 4 + 3 s. The last of 10 starts two
// turns and one stage after the first, so it ends after 3·7 + 1 s; the stages alone would take 7 + 9 s. Nodes of two
// GPUs save two of the three boundaries: 3·5 + 1 s.
TEST(Bound, CountsTurnsRoundThePipeline) {
  ir::Problem problem = FakeProblem(4, {{.nodes = 4}}, 10);
  problem.job.pipeline_depths = {4};
  ExpectLeastTime(problem, EventCostModel(problem, {1}, {kPlenty}, 1), 25, 22);
  ir::Problem pairs = FakeProblem(4, {{.nodes = 2, .gpus_per_node = 2}}, 10);
  pairs.job.pipeline_depths = {4};
  ExpectLeastTime(pairs, EventCostModel(pairs, {1}, {kPlenty}, 1), 20, 16);
}

// 8 samples of 4 s on four GPUs that hold the whole model: 1, 2, 4 pipelines take 32, 16 + 4, 8 + 12 s; three take
// 12 + 8 or, with numbers that are not whole, 32/3 + 8 s.
TEST(Bound, TiesSynchronisationToTheNumberOfPipelines) {
  ir::Problem problem = FakeProblem(4, {{.nodes = 4}}, 8);
  problem.job.pipeline_depths = {1};
  ExpectLeastTime(problem, SyncedCostModel(problem), 20, 32.0 / 3 + 8);
}

// Rates: half the time is twice the rate.
TEST(Bound, OfRatesIsAbove) {
  ir::Problem problem = FakeProblem(4, {{}}, 10);
  problem.job.pipeline_depths = {1};
  const FakeCostModel costs(problem, {1}, {kPlenty}, 0);
  for (const Metric metric : {Metric::kSampleRate, Metric::kThroughput, Metric::kGoodput}) {
    problem.job.objective = {{.metric = metric, .maximize = true}};
    const std::optional<Certificate> certificate = Certify(problem, costs, 80);
    ASSERT_TRUE(certificate.has_value());
    EXPECT_NEAR(certificate->bound, metric == Metric::kSampleRate ? 0.25 : 0.025, 0.25 * 2 * kPrecision);
    EXPECT_NEAR(certificate->gap, 0.5, kPrecision);
  }
}

// Pool a processes a sample in 4 s at 1 USD/s, pool b in 8 s at 0.25 USD/s: 12 samples cost 24 USD on b alone, in 96 s.
TEST(Bound, OfMoneyUsesTheCheapPool) {
  ir::Problem problem = FakeProblem(4, {{.price = kUsdPerSecond}, {.price = kUsdPerSecond / 4}}, 12);
  problem.job.pipeline_depths = {1};
  problem.job.objective = {{.metric = Metric::kCostPerIter, .maximize = false}};
  const FakeCostModel costs(problem, {1, 2}, {kPlenty, kPlenty}, 0);
  const std::optional<Certificate> certificate = Certify(problem, costs, 96, 24);
  ASSERT_TRUE(certificate.has_value());
  EXPECT_LE(certificate->bound, 24);
  EXPECT_GE(certificate->bound, 24 * 0.95);
}

// The same pools: both together take 32 s; with one GPU, pool a alone 48 s; with 24 USD an iteration only b is left,
// because T s on b and part of a cost 48 − T/4 USD.
TEST(Bound, KeepsLinearLimits) {
  ir::Problem problem = FakeProblem(4, {{.price = kUsdPerSecond}, {.price = kUsdPerSecond / 4}}, 12);
  problem.job.pipeline_depths = {1};
  const FakeCostModel costs(problem, {1, 2}, {kPlenty, kPlenty}, 0);
  problem.job.constraints = {{.name = "gpus", .metric = Metric::kGpus, .at_most = true, .limit = 1}};
  ExpectLeastTime(problem, costs, 48, 48);
  problem.job.constraints = {{.name = "cost", .metric = Metric::kCostPerIter, .at_most = true, .limit = 24}};
  problem.job.objective = {{.metric = Metric::kIterTime, .maximize = false}};
  EXPECT_GT(Certify(problem, costs, 96)->bound, 85);
}

TEST(Bound, DoesNotClaimWhatItCannotProve) {
  ir::Problem problem = FakeProblem(4, {{}}, 10);
  problem.job.pipeline_depths = {1};
  const FakeCostModel costs(problem, {1}, {kPlenty}, 0);
  ir::Report found;
  found.iteration = Seconds(40);
  found.nodes = 1;
  problem.job.objective = {{.metric = Metric::kNodes, .maximize = false}};
  EXPECT_EQ(Bound(problem, costs, ScopeOf(problem), found, 1'000'000), std::nullopt);
  problem.job.objective = {{.metric = Metric::kIterTime, .maximize = true}};
  EXPECT_EQ(Bound(problem, costs, ScopeOf(problem), found, 1'000'000), std::nullopt);
  // Nothing is below nothing.
  problem.job.objective = {{.metric = Metric::kEgressCost, .maximize = false}};
  EXPECT_EQ(Bound(problem, costs, ScopeOf(problem), found, 1'000'000), (Certificate{.bound = 0, .gap = 0}));
}

}  // namespace
}  // namespace sail::planner
