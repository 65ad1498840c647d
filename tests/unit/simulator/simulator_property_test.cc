// What holds for every sound plan. Seeds are the test's parameter; a failure prints seed and round.
#include <algorithm>
#include <cmath>

#include "compiler/base/tolerance.h"
#include "compiler/ir/verify_plan.h"
#include "gtest/gtest.h"
#include "simulator/gradient_sync.h"
#include "simulator/plan_costs.h"
#include "simulator/sail_cost_model.h"
#include "simulator/schedule.h"
#include "simulator/simulate.h"
#include "tests/support/builders.h"
#include "tests/support/random_plan.h"
#include "tests/support/round_problem.h"

namespace sail::sim {
namespace {

constexpr int kRounds = 100;

// The tiny problem with slow links, so that communication matters, and cards that are slower than one of the links.
ir::Problem ContendedProblem() {
  ir::Problem problem = test::TinyProblem();
  problem.cluster.links[0][0].bandwidth = BytesPerSecond(3e6);
  problem.cluster.links[0][1].bandwidth = BytesPerSecond(1e6);
  problem.cluster.machines[1].nic = BytesPerSecond(2e6);
  return problem;
}

// Gives every link a random way of sharing and every machine a random card or none.
void ShuffleSharing(ir::Problem& problem, Rng& rng) {
  for (auto& row : problem.cluster.links) {
    for (ir::Link& link : row) link.share = rng.Below(2) == 0 ? ir::LinkShare::kPerFlow : ir::LinkShare::kPerNode;
  }
  for (ir::Machine& machine : problem.cluster.machines) {
    machine.nic = std::nullopt;
    if (rng.Below(2) == 0) machine.nic = BytesPerSecond(1e6 * (1 + static_cast<double>(rng.Below(4))));
  }
}

// Every flow has its own bandwidth and there are no cards: nothing is shared.
ir::Problem UncontendedProblem() {
  ir::Problem problem = ContendedProblem();
  problem.cluster.machines[1].nic = std::nullopt;
  for (auto& row : problem.cluster.links) {
    for (ir::Link& link : row) link.share = ir::LinkShare::kPerFlow;
  }
  return problem;
}

// Measures some links: 1 kB in 1 to 8 ms, 100 kB in 8 to 64 ms more.
void MeasureLinks(ir::Problem& problem, Rng& rng) {
  const auto curve = [&]() -> ir::LinkCurve {
    if (rng.Below(2) == 0) return {};
    const Seconds least(1e-3 * (1 + static_cast<double>(rng.Below(8))));
    const Seconds more(8e-3 * (1 + static_cast<double>(rng.Below(8))));
    return {{.bytes = 1e3, .seconds = least}, {.bytes = 1e5, .seconds = least + more}};
  };
  for (auto& row : problem.cluster.links) {
    for (ir::Link& link : row) {
      link.sends = curve();
      link.all_reduces = curve();
    }
  }
}

// Any trainer, on CPUs or GPUs, and stages that recompute.
void ShuffleChoices(ir::Problem& problem, ir::Plan& plan, Rng& rng) {
  MeasureLinks(problem, rng);
  const auto coin = [&] { return rng.Below(2) == 0; };
  problem.job.trainer = {.attention = coin() ? ir::AttentionKernel::kFused : ir::AttentionKernel::kUnfused,
                         .dropout = coin(),
                         .sequence_parallel = coin(),
                         .overlap_gradients = coin(),
                         .flat_gradients = coin(),
                         .whole_boundaries = coin(),
                         .paired_sends = coin()};
  const ir::Backend backend = coin() ? ir::Backend::kCuda : ir::Backend::kCpu;
  for (ir::Gpu& gpu : problem.cluster.gpus) gpu.backend = backend;
  problem.profile = {};
  const absl::Status status = CompleteProfile(problem);
  ASSERT_TRUE(status.ok()) << status;
  plan.optimizer_sharding = coin() ? ir::OptimizerSharding::kZero1 : ir::OptimizerSharding::kNone;
  for (ir::Pipeline& pipeline : plan.pipelines) {
    for (ir::Stage& stage : pipeline.stages) stage.recompute = static_cast<ir::Recompute>(rng.Below(3));
  }
}

class SimulatorProperty : public ::testing::TestWithParam<int> {
 protected:
  // Calls check(problem, plan) on random plans over random variants of the problem.
  template <class Check>
  void ForRandomPlans(ir::Problem problem, Check check) {
    Rng rng(GetParam());
    for (int round = 0; round < kRounds; ++round) {
      SCOPED_TRACE(::testing::Message() << "seed " << GetParam() << ", round " << round);
      problem.model.tied_head = rng.Below(2) == 0;
      // The larger width has layers of about a bucket's size, so that owner sets get several buckets.
      problem.model.hidden = problem.model.embedding_width = rng.Below(2) == 0 ? 32 : 1024;
      problem.model.feed_forward = rng.Below(2) * 96 + 2 * problem.model.hidden;
      ir::Plan plan = test::RandomPlan(problem, rng);
      problem.job.recomputes = {ir::Recompute::kNone, ir::Recompute::kSelective, ir::Recompute::kFull};
      problem.job.optimizer_shardings = {ir::OptimizerSharding::kNone, ir::OptimizerSharding::kZero1};
      ShuffleChoices(problem, plan, rng);
      ASSERT_TRUE(ir::VerifyPlanStructure(problem, plan).ok()) << ir::VerifyPlanStructure(problem, plan);
      check(problem, plan);
      if (HasFatalFailure()) return;
    }
  }
};

TEST_P(SimulatorProperty, TimelineIsNeverFasterThanTheCostModel) {
  int slower = 0;
  Rng rng(GetParam() + 500);
  ForRandomPlans(ContendedProblem(), [&](ir::Problem problem, const ir::Plan& plan) {
    ShuffleSharing(problem, rng);
    const double bound = MakeSailCostModel(problem)->Evaluate(plan)->iteration.value();
    const double timeline = Simulate(problem, plan)->iteration.value();
    EXPECT_GE(timeline, bound * (1 - kPredictionRelativeTolerance));
    if (timeline > bound * (1 + kPredictionRelativeTolerance)) ++slower;
  });
  EXPECT_GT(slower, 0) << "no plan with contention: the property was not put to the test";
}

TEST_P(SimulatorProperty, TimelineEqualsTheCostModelWhereNothingIsShared) {
  ForRandomPlans(UncontendedProblem(), [](const ir::Problem& problem, const ir::Plan& plan) {
    const ir::Report model = *MakeSailCostModel(problem)->Evaluate(plan);
    const ir::Report timeline = *Simulate(problem, plan);
    const double rounding = kPredictionRelativeTolerance * model.iteration.value();
    EXPECT_NEAR(timeline.iteration.value(), model.iteration.value(), rounding);
    EXPECT_NEAR(timeline.parts.fill.value(), model.parts.fill.value(), rounding);
    EXPECT_NEAR(timeline.parts.steady.value(), model.parts.steady.value(), rounding);
    EXPECT_NEAR(timeline.parts.gradient_sync.value(), model.parts.gradient_sync.value(), rounding);
  });
}

TEST_P(SimulatorProperty, PartsAndStagesAddUpToTheIteration) {
  ForRandomPlans(ContendedProblem(), [](const ir::Problem& problem, const ir::Plan& plan) {
    for (const ir::Report& report : {*MakeSailCostModel(problem)->Evaluate(plan), *Simulate(problem, plan)}) {
      const double iteration = report.iteration.value();
      const ir::IterationParts& parts = report.parts;
      const double rounding = 1e-12 * iteration;
      EXPECT_NEAR((parts.fill + parts.steady + parts.drain + parts.gradient_sync + parts.optimizer).value(), iteration,
                  rounding);
      for (const Seconds part : {parts.fill, parts.steady, parts.drain, parts.gradient_sync, parts.optimizer}) {
        EXPECT_GE(part.value(), -rounding);
      }
      for (const ir::StageReport& stage : report.stages) {
        EXPECT_NEAR((stage.busy + stage.idle).value(), iteration, rounding);
        EXPECT_GE(stage.idle.value(), -rounding);
      }
    }
  });
}

TEST_P(SimulatorProperty, BothLevelsAgreeOnAllButTime) {
  ForRandomPlans(ContendedProblem(), [](const ir::Problem& problem, const ir::Plan& plan) {
    const ir::Report model = *MakeSailCostModel(problem)->Evaluate(plan);
    const ir::Report timeline = *Simulate(problem, plan);
    EXPECT_EQ(model.traffic, timeline.traffic);
    EXPECT_EQ(model.peak_memory, timeline.peak_memory);
    EXPECT_EQ(model.nodes, timeline.nodes);
    for (size_t s = 0; s < model.stages.size(); ++s) EXPECT_EQ(model.stages[s].memory, timeline.stages[s].memory);
  });
}

// The search's shortcut over runs of layers gives the buckets that the runtime reduces.
TEST_P(SimulatorProperty, FastBucketsAreTheScheduledOnes) {
  ForRandomPlans(ContendedProblem(), [](const ir::Problem& problem, const ir::Plan& plan) {
    const ir::Placement placement(plan);
    const Network network(problem.cluster, placement);
    const GradientSync fast = ComputeGradientSync(problem, plan, placement, network);
    std::vector<Bucket> buckets =
        GradientBuckets(problem.model, ReducedBytesPerElement(problem.job, plan.optimizer_sharding),
                        ir::GradientGroups(problem.model, plan, placement));
    if (problem.job.trainer.overlap_gradients) std::reverse(buckets.begin(), buckets.end());
    ASSERT_EQ(fast.buckets.size(), buckets.size());
    for (size_t b = 0; b < buckets.size(); ++b) {
      EXPECT_EQ(fast.sets[fast.buckets[b].set].owners, buckets[b].owners);
      EXPECT_EQ(fast.buckets[b].bytes, static_cast<double>(buckets[b].bytes.value()));
      EXPECT_EQ(fast.buckets[b].layer, buckets[b].layer);
    }
  });
}

TEST_P(SimulatorProperty, MemoryHoldsItsTermsAndIsBoundedByTheSearchsForecast) {
  ForRandomPlans(ContendedProblem(), [](const ir::Problem& problem, const ir::Plan& plan) {
    const auto costs = MakeSailCostModel(problem);
    const ir::Report whole = *costs->Evaluate(plan);
    for (const ir::StageReport& report : whole.stages) {
      const ir::Pipeline& pipeline = plan.pipelines[report.pipeline];
      const ir::Stage& stage = pipeline.stages[report.stage];
      Bytes sum = Bytes::Zero();
      Bytes parameters = Bytes::Zero();
      for (const ir::MemoryTerm& term : report.memory) {
        EXPECT_GT(term.bytes.value(), 0) << term.what;
        sum += term.bytes;
        if (term.what == "parameters") parameters = term.bytes;
      }
      EXPECT_EQ(sum, report.memory_total);
      EXPECT_GT(parameters.value(), 0);
      const bool is_sharded = plan.optimizer_sharding == ir::OptimizerSharding::kZero1;
      EXPECT_GE(report.memory_total, parameters * (is_sharded ? 2 : 4));  // fp32: parameter, gradient, two moments
      const int in_flight = std::min(pipeline.micro_batches, static_cast<int>(pipeline.stages.size()) - report.stage);
      EXPECT_GE(costs->StageMemory({.first_layer = stage.first_layer,
                                    .last_layer = stage.last_layer,
                                    .pool = stage.group.pool,
                                    .tensor = stage.group.degree(),
                                    .micro_batch = pipeline.micro_batch,
                                    .recompute = stage.recompute,
                                    .optimizer_shards = is_sharded ? static_cast<int>(plan.pipelines.size()) : 1},
                                   in_flight),
                report.memory_total);
      EXPECT_EQ(report.memory_limit, costs->MemoryLimit(stage.group.pool));
    }
  });
}

TEST_P(SimulatorProperty, MoreBandwidthIsNeverSlower) {
  ForRandomPlans(ContendedProblem(), [](const ir::Problem& problem, const ir::Plan& plan) {
    ir::Problem faster = problem;
    for (auto& row : faster.cluster.links) {
      for (ir::Link& link : row) link.bandwidth = link.bandwidth * 2;
    }
    EXPECT_LE(
        MakeSailCostModel(faster)->Evaluate(plan)->iteration,
        MakeSailCostModel(problem)->Evaluate(plan)->iteration * (1 + 1e-12));  // measured times stay, but for rounding
  });
}

// The elementary costs that the search adds up bound what Evaluate says of the pipelines. Paired sends charge a
// boundary to both of its stages, which the classic form does not.
TEST_P(SimulatorProperty, ClassicFormFromElementaryCostsIsNeverBelow) {
  ForRandomPlans(ContendedProblem(), [](ir::Problem problem, const ir::Plan& plan) {
    problem.job.trainer.paired_sends = false;
    const auto costs = MakeSailCostModel(problem);
    const ir::Report report = *costs->Evaluate(plan);
    double slowest = 0;
    for (const ir::Pipeline& pipeline : plan.pipelines) {
      double sum = 0;
      double bottleneck = 0;
      for (size_t s = 0; s < pipeline.stages.size(); ++s) {
        const ir::Stage& stage = pipeline.stages[s];
        double period = costs
                            ->StageTime({.first_layer = stage.first_layer,
                                         .last_layer = stage.last_layer,
                                         .pool = stage.group.pool,
                                         .tensor = stage.group.degree(),
                                         .micro_batch = pipeline.micro_batch,
                                         .recompute = stage.recompute})
                            .value();
        if (s + 1 < pipeline.stages.size()) {
          const ir::TensorGroup& next = pipeline.stages[s + 1].group;
          const bool same_node = next.pool == stage.group.pool && next.node == stage.group.node;
          period += costs
                        ->BoundaryTime(stage.group.pool, next.pool, stage.group.degree(), next.degree(),
                                       pipeline.micro_batch, same_node)
                        .value();
        }
        sum += period;
        bottleneck = std::max(bottleneck, period);
      }
      slowest = std::max(slowest, sum + (pipeline.micro_batches - 1) * bottleneck);
    }
    const double pipelines = (report.parts.fill + report.parts.steady + report.parts.drain).value();
    EXPECT_LE(pipelines, slowest * (1 + 1e-12));
  });
}

INSTANTIATE_TEST_SUITE_P(Seeds, SimulatorProperty, ::testing::Range(1, 7));

}  // namespace
}  // namespace sail::sim
