// Estimates of outlines are what Evaluate says of the plans they describe. Seeds are the test's parameter.
#include <algorithm>
#include <cmath>

#include "compiler/ir/verify_plan.h"
#include "gtest/gtest.h"
#include "simulator/import_profile.h"
#include "simulator/plan_costs.h"
#include "simulator/published_model.h"
#include "simulator/sail_cost_model.h"
#include "tests/support/builders.h"
#include "tests/support/public_files.h"
#include "tests/support/random_outline.h"
#include "tests/support/random_plan.h"

namespace sail::sim {
namespace {

constexpr int kRounds = 600;
constexpr double kRounding = 1e-9;

void ExpectNear(double actual, double expected, const char* what) {
  EXPECT_NEAR(actual, expected, kRounding * std::abs(expected)) << what;
}

void ExpectIsTheReport(const ir::Problem& problem, const Estimate& estimate, const ir::Report& report) {
  ExpectNear(estimate.iteration, report.iteration.value(), "iteration");
  for (const ir::Metric metric :
       {ir::Metric::kThroughput, ir::Metric::kIterTime, ir::Metric::kSampleRate, ir::Metric::kTokenRate,
        ir::Metric::kCostPerIter, ir::Metric::kCostRate, ir::Metric::kEgressPerIter, ir::Metric::kPeakMemory,
        ir::Metric::kNodes, ir::Metric::kGpus, ir::Metric::kTotalCost, ir::Metric::kJobTime, ir::Metric::kTokensPerUsd,
        ir::Metric::kGoodput}) {
    // Bytes between zones are rounded to whole ones.
    const double slack = metric == ir::Metric::kEgressPerIter ? 1 : kRounding * std::abs(ir::Value(report, metric));
    EXPECT_NEAR(Value(estimate, problem, metric), ir::Value(report, metric), slack) << ir::ToString(metric);
  }
  ASSERT_EQ(estimate.pools.size(), report.pools.size());
  for (size_t i = 0; i < report.pools.size(); ++i) {
    EXPECT_EQ(estimate.pools[i], (PoolNodes{.pool = report.pools[i].pool, .nodes = report.pools[i].nodes}));
  }
  double excess = 0;
  for (const ir::StageReport& stage : report.stages) {
    const double share =
        static_cast<double>(stage.memory_total.value()) / static_cast<double>(stage.memory_limit.value());
    excess += std::max(0.0, share - 1);
  }
  ExpectNear(estimate.memory_excess, excess, "memory");
}

// Four pools of two machines in three zones; links and cards as they come.
ir::Problem RandomCluster(Rng& rng) {
  ir::Problem problem = test::TinyProblem();
  ir::Cluster& cluster = problem.cluster;
  const auto coin = [&] { return rng.Below(2) == 0; };
  const int zones = 1 + static_cast<int>(rng.Below(3));
  cluster.zones.clear();
  for (int z = 0; z < zones; ++z) cluster.zones.push_back({.name = std::string(1, 'a' + z), .region = ir::RegionId(0)});
  cluster.pools.push_back(cluster.pools[0]);
  cluster.pools.push_back(cluster.pools[1]);
  for (size_t p = 0; p < cluster.pools.size(); ++p) {
    cluster.pools[p].name = std::string(1, 'p' + p);
    cluster.pools[p].zone = ir::ZoneId(static_cast<int>(rng.Below(zones)));
    cluster.pools[p].price = UsdPerHour(1 + static_cast<double>(rng.Below(5)));
    if (rng.Below(3) == 0) {
      cluster.pools[p].market = ir::Market::kSpot;
      cluster.pools[p].mean_lifetime = Seconds(1e4 * static_cast<double>(1 + rng.Below(9)));
    }
  }
  for (ir::Machine& machine : cluster.machines) {
    if (coin()) machine.nic = BytesPerSecond(1e6 * (1 + static_cast<double>(rng.Below(4))));
  }
  cluster.links.assign(zones, std::vector<ir::Link>(zones));
  for (auto& row : cluster.links) {
    for (ir::Link& link : row) {
      link = {.bandwidth = BytesPerSecond(1e6 * (1 + static_cast<double>(rng.Below(5)))),
              .latency = Seconds(1e-5 * static_cast<double>(rng.Below(100))),
              .egress = UsdPerByte(coin() ? 0 : 1e-9),
              .share = coin() ? ir::LinkShare::kPerFlow : ir::LinkShare::kPerNode};
    }
  }
  return problem;
}

// Any trainer on CPUs or GPUs; models with layers of about a bucket's size and smaller ones; memory that binds or not.
void ShuffleChoices(ir::Problem& problem, Rng& rng) {
  const auto coin = [&] { return rng.Below(2) == 0; };
  problem.model.tied_head = coin();
  problem.model.blocks = coin() ? 4 : 9;
  problem.model.hidden = problem.model.embedding_width = coin() ? 32 : 1024;
  problem.model.feed_forward = rng.Below(2) * 96 + 2 * problem.model.hidden;
  problem.job.recomputes = {ir::Recompute::kNone, ir::Recompute::kSelective, ir::Recompute::kFull};
  problem.job.optimizer_shardings = {ir::OptimizerSharding::kNone, ir::OptimizerSharding::kZero1};
  problem.job.precision = coin() ? ir::Precision::kFp32 : ir::Precision::kFp16;
  problem.job.trainer = {.attention = coin() ? ir::AttentionKernel::kFused : ir::AttentionKernel::kUnfused,
                         .dropout = coin(),
                         .sequence_parallel = coin(),
                         .overlap_gradients = coin(),
                         .flat_gradients = coin(),
                         .whole_boundaries = coin(),
                         .paired_sends = coin()};
  problem.job.tensor_degrees = rng.Below(3) == 0 ? std::vector<int>{2, 4} : std::vector<int>{1, 2, 4};
  const ir::Backend backend = coin() ? ir::Backend::kCuda : ir::Backend::kCpu;
  for (ir::Gpu& gpu : problem.cluster.gpus) {
    gpu.backend = backend;
    gpu.peak_fp16 = gpu.peak_fp32;
    gpu.memory = Bytes(int64_t{coin() ? 1 : 8} << 28);
  }
  if (problem.job.tensor_degrees.front() == 2) problem.cluster.machines[1].gpus_per_node = 4;
}

class OutlineProperty : public ::testing::TestWithParam<int> {
 protected:
  // Calls check(problem, outline, its plan).
  template <class Check>
  void ForRandomOutlines(Check check) {
    Rng rng(GetParam());
    for (int round = 0; round < kRounds; ++round) {
      SCOPED_TRACE(::testing::Message() << "seed " << GetParam() << ", round " << round);
      ir::Problem problem = RandomCluster(rng);
      ShuffleChoices(problem, rng);
      const PlanOutline outline = test::RandomOutline(problem, /*most_replicas=*/9, rng);
      problem.profile = {};
      const absl::Status status = CompleteProfile(problem);
      ASSERT_TRUE(status.ok()) << status;
      const absl::StatusOr<ir::Plan> plan = Expand(outline, problem);
      ASSERT_TRUE(plan.ok()) << plan.status();
      ASSERT_TRUE(ir::VerifyPlanStructure(problem, *plan).ok()) << ir::VerifyPlanStructure(problem, *plan);
      check(problem, outline, *plan);
      if (HasFailure()) return;
    }
  }
};

TEST_P(OutlineProperty, EstimateIsTheReport) {
  ForRandomOutlines([](const ir::Problem& problem, const PlanOutline& outline, const ir::Plan& plan) {
    const auto costs = MakeSailCostModel(problem);
    ExpectIsTheReport(problem, costs->MakeEstimator()->Judge(outline), *costs->Evaluate(plan));
  });
}

TEST_P(OutlineProperty, EstimateDoesNotDependOnWhatWasAskedBefore) {
  Rng rng(GetParam() + 900);
  ir::Problem problem = RandomCluster(rng);
  ShuffleChoices(problem, rng);
  std::vector<PlanOutline> outlines;
  for (int i = 0; i < 50; ++i) outlines.push_back(test::RandomOutline(problem, /*most_replicas=*/5, rng));
  problem.profile = {};
  ASSERT_TRUE(CompleteProfile(problem).ok());
  const auto costs = MakeSailCostModel(problem);
  const auto estimator = costs->MakeEstimator();
  for (const PlanOutline& outline : outlines) {
    const Estimate again = estimator->Judge(outline);
    const Estimate fresh = costs->MakeEstimator()->Judge(outline);
    EXPECT_EQ(again.iteration, fresh.iteration);
    EXPECT_EQ(again.cost_per_iteration, fresh.cost_per_iteration);
    EXPECT_EQ(again.peak_memory, fresh.peak_memory);
  }
}

// Asked whether an outline takes more than some seconds, an estimator says no less than when asked how many.
void ExpectSameWithin(OutlineEstimator& estimator, const PlanOutline& outline) {
  const Estimate estimate = estimator.Judge(outline);
  for (const double share : {0.3, 0.9, 0.999, 1.0, 1.001, 2.0}) {
    const Estimate within = estimator.JudgeWithin(outline, share * estimate.iteration);
    if (share < 1) {
      EXPECT_EQ(within.iteration, std::numeric_limits<double>::infinity());
    } else {
      EXPECT_EQ(within.iteration, estimate.iteration);
      EXPECT_EQ(within.memory_excess, estimate.memory_excess);
      EXPECT_EQ(within.cost_per_iteration, estimate.cost_per_iteration);
    }
  }
}

TEST_P(OutlineProperty, ALimitChangesNothingBelowIt) {
  ForRandomOutlines([](const ir::Problem& problem, const PlanOutline& outline, const ir::Plan&) {
    const auto costs = MakeSailCostModel(problem);
    ExpectSameWithin(*costs->MakeEstimator(), outline);
  });
}

// Of each class of several pipelines some have a micro-batch less.
TEST_P(OutlineProperty, EmptierPipelinesChangeNothing) {
  int changed = 0;
  ForRandomOutlines([&](ir::Problem problem, const PlanOutline& outline, const ir::Plan&) {
    for (ir::Pool& pool : problem.cluster.pools) pool.quota += 1000;
    PlanOutline split{.sharding = outline.sharding, .classes = {}};
    for (const PipelineClass& of : outline.classes) {
      split.classes.push_back(of);
      if (of.count < 2 || of.micro_batches < 2) continue;
      split.classes.back().count = of.count / 2;
      split.classes.push_back(of);
      split.classes.back().count = of.count - of.count / 2;
      --split.classes.back().micro_batches;
      ++changed;
    }
    const absl::StatusOr<ir::Plan> plan = Expand(split, problem);
    ASSERT_TRUE(plan.ok()) << plan.status();
    problem.job.global_batch = 0;
    for (const ir::Pipeline& pipeline : plan->pipelines) problem.job.global_batch += pipeline.samples();
    const auto costs = MakeSailCostModel(problem);
    ExpectIsTheReport(problem, costs->MakeEstimator()->Judge(split), *costs->Evaluate(*plan));
    ExpectSameWithin(*costs->MakeEstimator(), split);
  });
  EXPECT_GT(changed, 10);
}

// Returns how much of what a plan's ranks wait for gradients the bound accounts for, at most.
double CheckSyncBound(const ir::Problem& problem, const ir::Plan& plan) {
  const auto model = MakeSailCostModel(problem);
  const auto estimator = model->MakeEstimator();
  const ir::Report report = *model->Evaluate(plan);
  const StageCosts stage_costs(problem);
  const PlanCosts costs(stage_costs, plan);
  const int pipelines = static_cast<int>(plan.pipelines.size());
  const bool is_sharded = plan.optimizer_sharding == ir::OptimizerSharding::kZero1;
  double most = 0;
  for (size_t p = 0; p < plan.pipelines.size(); ++p) {
    const ir::Pipeline& pipeline = plan.pipelines[p];
    std::vector<StageSeconds> seconds;
    for (size_t s = 0; s < pipeline.stages.size(); ++s) {
      seconds.push_back({.forward = costs.stages[p][s].forward, .backward = costs.stages[p][s].backward});
      if (s + 1 == pipeline.stages.size()) break;
      seconds.back().send_activation = costs.boundaries[p][s].activation.SecondsAlone();
      seconds.back().send_gradient = costs.boundaries[p][s].gradient.SecondsAlone();
    }
    const PipelineTime time = ComputePipelineTime(seconds, pipeline.micro_batches, problem.job.trainer.paired_sends);
    for (size_t s = 0; s < pipeline.stages.size(); ++s) {
      const ir::Stage& stage = pipeline.stages[s];
      const double bound = estimator->SyncAtLeast({.first_layer = stage.first_layer,
                                                   .last_layer = stage.last_layer,
                                                   .pool = stage.group.pool,
                                                   .tensor = stage.group.degree(),
                                                   .micro_batch = pipeline.micro_batch,
                                                   .recompute = stage.recompute,
                                                   .optimizer_shards = is_sharded ? pipelines : 1},
                                                  pipelines);
      const double left = report.iteration.value() - time.backward_end[s] - costs.stages[p][s].optimizer;
      EXPECT_LE(bound, left + kRounding * report.iteration.value()) << "pipeline " << p << " stage " << s;
      if (left > 0) most = std::max(most, bound / left);
    }
  }
  return most;
}

TEST_P(OutlineProperty, SyncBoundHoldsAndIsWorthItsName) {
  double most = 0;
  ForRandomOutlines([&](const ir::Problem& problem, const PlanOutline&, const ir::Plan& plan) {
    most = std::max(most, CheckSyncBound(problem, plan));
  });
  EXPECT_GT(most, 0.9);
}

TEST_P(OutlineProperty, SyncBoundHoldsForIrregularPlans) {
  Rng rng(GetParam() + 300);
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE(::testing::Message() << "seed " << GetParam() << ", round " << round);
    ir::Problem problem = RandomCluster(rng);
    ShuffleChoices(problem, rng);
    problem.job.tensor_degrees = {1, 2, 4};  // the last resort of random plans is 1
    problem.profile = {};
    ASSERT_TRUE(CompleteProfile(problem).ok());
    CheckSyncBound(problem, test::RandomPlan(problem, rng));
    if (HasFailure()) return;
  }
}

// The published model on the tiny problem's machines, with links that are slower for small messages.
class PublishedOutlineProperty : public OutlineProperty {
 protected:
  PublishedOutlineProperty()
      : model_(*ReadPublicModel(*ParseJson(test::kPublicTimes, "t"), *ParseJson(test::kPublicSizes, "s"), "tiny")) {}

  // Calls check(problem, costs, outline, its plan).
  template <class Check>
  void ForRandomOutlines(Check check) {
    Rng rng(GetParam());
    for (int round = 0; round < kRounds; ++round) {
      SCOPED_TRACE(::testing::Message() << "seed " << GetParam() << ", round " << round);
      ir::Problem problem = RandomCluster(rng);
      problem.model = *ShapeOf(model_);
      for (ir::Gpu& gpu : problem.cluster.gpus) {
        gpu.name = "fast_8";
        gpu.memory = Bytes(int64_t{5} << (28 + rng.Below(3)));
      }
      problem.job.tensor_degrees = {1, 2};
      problem.job.micro_batches = {2};
      PublicNetwork network;
      for (const ir::Zone& a : problem.cluster.zones) {
        for (const ir::Zone& b : problem.cluster.zones) {
          for (int i = 0; i < 4; ++i) {
            network.SetBetween({"fast-8", a.name, 1 + i / 2}, {"fast-8", b.name, 1 + i % 2},
                               {.c1 = 1e-5, .c0 = 1e-4 * (1 + static_cast<double>(rng.Below(5)))});
          }
        }
      }
      const PlanOutline outline = test::RandomOutline(problem, /*most_replicas=*/5, rng);
      const absl::StatusOr<ir::Plan> plan = Expand(outline, problem);
      ASSERT_TRUE(plan.ok()) << plan.status();
      const auto costs = MakePublishedCostModel(problem, model_, network);
      ASSERT_TRUE(costs.ok()) << costs.status();
      check(problem, **costs, outline, *plan);
      if (HasFailure()) return;
    }
  }

  const PublicModel model_;
};

TEST_P(PublishedOutlineProperty, EstimateIsTheReport) {
  ForRandomOutlines(
      [](const ir::Problem& problem, const CostModel& costs, const PlanOutline& outline, const ir::Plan& plan) {
        const absl::StatusOr<ir::Report> report = costs.Evaluate(plan);
        ASSERT_TRUE(report.ok()) << report.status();
        ExpectIsTheReport(problem, costs.MakeEstimator()->Judge(outline), *report);
        ExpectSameWithin(*costs.MakeEstimator(), outline);
      });
}

TEST_P(PublishedOutlineProperty, SyncBoundHoldsAndIsWorthItsName) {
  double most = 0;
  ForRandomOutlines([&](const ir::Problem&, const CostModel& costs, const PlanOutline& outline, const ir::Plan& plan) {
    const double sync = costs.Evaluate(plan)->parts.gradient_sync.value();
    const auto estimator = costs.MakeEstimator();
    for (const PipelineClass& of : outline.classes) {
      for (const StageOutline& stage : of.stages) {
        const double bound = estimator->SyncAtLeast({.first_layer = stage.first_layer,
                                                     .last_layer = stage.last_layer,
                                                     .pool = stage.pool,
                                                     .tensor = stage.tensor,
                                                     .micro_batch = of.micro_batch},
                                                    static_cast<int>(plan.pipelines.size()));
        EXPECT_LE(bound, sync * (1 + kRounding));
        if (sync > 0) most = std::max(most, bound / sync);
      }
    }
  });
  EXPECT_GT(most, 0.5);
}

INSTANTIATE_TEST_SUITE_P(Seeds, OutlineProperty, ::testing::Range(0, 3));
INSTANTIATE_TEST_SUITE_P(Seeds, PublishedOutlineProperty, ::testing::Range(0, 3));

}  // namespace
}  // namespace sail::sim
