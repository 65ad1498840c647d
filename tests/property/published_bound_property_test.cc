// Certificates of the published cost model on tiny problems with measurements drawn at random. Failures print the seed.
#include "simulator/published_model.h"
#include "tests/property/bound_checks.h"
#include "tests/support/random_problem.h"

namespace sail::planner {
namespace {

constexpr int kInstances = 1100;
constexpr int kLeastInstances = 770;  // of them have a plan
constexpr int64_t kMostPlans = 120;
constexpr double kLeastEqual = 0.95;

sim::PublicModel RandomModel(const ir::Problem& problem, Rng& rng) {
  sim::PublicModel model;
  model.name = problem.model.name;
  model.layers = problem.model.layer_count();
  model.blocks = problem.model.blocks;
  const auto draw = [&](double least, double most) { return least + (most - least) * rng.Below(1000) / 1000.0; };
  for (const ir::Gpu& gpu : problem.cluster.gpus) {
    for (const int tensor : problem.job.tensor_degrees) {
      for (const int micro_batch : problem.job.micro_batches) {
        const double update = draw(0.001, 0.02);
        const sim::PublicLayerTime block{.forward = draw(0.01, 0.05), .backward = draw(0.02, 0.1), .update = update};
        std::vector<sim::PublicLayerTime> layers(model.layers, block);
        layers.front() = {.forward = draw(0.001, 0.01), .backward = 0, .update = update};
        layers[1].forward *= draw(1, 1.1);
        layers.back() = {.forward = draw(0.001, 0.05), .backward = draw(0.001, 0.05), .update = update};
        model.times[{.gpu = gpu.name, .tensor = tensor, .micro_batch = micro_batch}] = layers;
      }
    }
  }
  for (const int tensor : {1, 2, 4}) {
    const sim::PublicLayerSize block{.parameters = 1'000'000 / tensor, .output = 100'000, .kept = 10'000'000 / tensor};
    std::vector<sim::PublicLayerSize> layers(model.layers, block);
    layers.front().parameters = static_cast<int64_t>(draw(1e5, 3e6)) / tensor;
    layers.back().parameters = static_cast<int64_t>(draw(1e4, 1e6)) / tensor;
    model.sizes[tensor] = layers;
  }
  return model;
}

sim::PublicNetwork RandomNetwork(const ir::Problem& problem, Rng& rng) {
  sim::PublicNetwork network;
  for (const ir::Pool& a : problem.cluster.pools) {
    for (const ir::Pool& b : problem.cluster.pools) {
      for (const int from : {1, 2, 4}) {
        for (const int to : {1, 2, 4}) {
          const auto end = [&](const ir::Pool& pool, int gpus) {
            const ir::Machine& machine = problem.cluster.machines[pool.machine.index()];
            return sim::LinkEnd{.gpu = problem.cluster.gpus[machine.gpu.index()].name,
                                .zone = problem.cluster.zones[pool.zone.index()].name,
                                .gpus = gpus};
          };
          network.SetBetween(end(a, from), end(b, to),
                             {.c1 = 1e-3, .c0 = 0.02 * (1 + static_cast<double>(rng.Below(5)))});
        }
      }
    }
  }
  return network;
}

// Around what a stage of half the model needs.
void SetMemory(ir::Problem& problem, Rng& rng) {
  problem.job.memory_limit = 1;
  for (ir::Gpu& gpu : problem.cluster.gpus) {
    const double framework = test::PickOne<double>({2e9, 3e9}, rng);
    gpu.memory = Bytes(static_cast<int64_t>(framework + 100e6 * static_cast<double>(1 + rng.Below(12))));
  }
}

// Limits near what a random plan reaches.
void SetLimits(ir::Problem& problem, const sim::CostModel& costs, Rng& rng) {
  problem.job.constraints.clear();
  const std::optional<ir::Plan> plan = DrawPlan(problem, rng);
  if (!plan || rng.Below(2) == 0) return;
  const absl::StatusOr<ir::Report> report = costs.Evaluate(*plan);
  if (!report.ok()) return;
  const ir::Metric metric = test::PickOne<ir::Metric>(
      {ir::Metric::kCostRate, ir::Metric::kIterTime, ir::Metric::kCostPerIter, ir::Metric::kGpus}, rng);
  problem.job.constraints = {{.name = "limit",
                              .metric = metric,
                              .at_most = true,
                              .limit = ir::Value(*report, metric) * test::PickOne<double>({0.8, 1, 1.2}, rng)}};
}

TEST(PublishedBoundProperty, HoldsOfTheOptimum) {
  BoundChecks checks;
  for (int seed = 0; seed < kInstances; ++seed) {
    SCOPED_TRACE(seed);
    ir::Problem problem = test::RandomProblem(40'000 + seed, kMostPlans, test::Variety::kThreeTypes);
    Rng rng(seed);
    problem.job.optimizer_shardings = {ir::OptimizerSharding::kNone};
    const sim::PublicModel model = RandomModel(problem, rng);
    const sim::PublicNetwork network = RandomNetwork(problem, rng);
    SetMemory(problem, rng);
    const auto costs = sim::MakePublishedCostModel(problem, model, network);
    ASSERT_TRUE(costs.ok()) << costs.status();
    SetLimits(problem, **costs, rng);
    checks.Check(problem, **costs);
    if (HasFatalFailure()) return;
  }
  checks.Finish("published model", kLeastEqual, kLeastInstances);
}

}  // namespace
}  // namespace sail::planner
