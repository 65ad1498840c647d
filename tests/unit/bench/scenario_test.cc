#include "tests/bench/planner/scenario.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sail::bench {
namespace {

using ::testing::HasSubstr;

Json ScenarioNamed(const std::string& name, const std::string& objective) {
  return {{"scenario", name},
          {"model", "OPT-350"},
          {"global_batch", 1024},
          {"objective", objective},
          {"gpus", {{"A100-40_us-central1-a", 80}, {"A100-40_us-central1-b", 80}, {"V100-16_us-central1-a", 96}}},
          {"published_planner",
           {{"search_s", 0.5},
            {"throughput_iters_per_s", 0.25},
            {"cost_usd_per_iter", 0.3},
            {"micro_batch", 8},
            {"stages", {{{"layers", {0, 25}}, {"replicas", {{{"gpu", "A100-40"}, {"tensor", 4}, {"count", 20}}}}}}}}}};
}

absl::StatusOr<std::vector<Scenario>> Read(const Json& scenario) {
  return ReadScenarios({{"scenarios", Json::array({scenario})}});
}

TEST(Scenarios, ReadsGpusByPlaceAndThePublishedPlan) {
  const auto scenarios = Read(ScenarioNamed("heterogeneous", "max throughput"));
  ASSERT_TRUE(scenarios.ok()) << scenarios.status();
  const Scenario& scenario = scenarios->front();
  EXPECT_EQ(scenario.gpus.at({"V100-16", "us-central1-a"}), 96);
  EXPECT_EQ(scenario.total_gpus(), 256);
  EXPECT_EQ(scenario.Gpus(), "2 x 80 A100-40 + 96 V100-16");
  EXPECT_EQ(scenario.published.plan.replicas(), 20);
  EXPECT_FALSE(scenario.minimizes_cost());
  EXPECT_FALSE(scenario.limit.has_value());
}

TEST(Scenarios, TakesTheLimitFromTheName) {
  const auto money = Read(ScenarioNamed("max throughput, cost <= 1.2 USD/iter", "max throughput"));
  ASSERT_TRUE(money.ok()) << money.status();
  EXPECT_EQ(money->front().limit->metric, ir::Metric::kCostPerIter);
  EXPECT_TRUE(money->front().limit->at_most);
  EXPECT_DOUBLE_EQ(money->front().limit->limit, 1.2);
  const auto speed = Read(ScenarioNamed("min cost, throughput >= 0.2 iters/s", "min cost"));
  ASSERT_TRUE(speed.ok()) << speed.status();
  EXPECT_TRUE(speed->front().minimizes_cost());
  EXPECT_EQ(speed->front().limit->metric, ir::Metric::kThroughput);
  EXPECT_FALSE(speed->front().limit->at_most);
  EXPECT_DOUBLE_EQ(speed->front().limit->limit, 0.2);
}

TEST(Scenarios, NamesWhatIsWrong) {
  EXPECT_THAT(std::string(Read(ScenarioNamed("min cost, speed >= 1 m/s", "min cost")).status().message()),
              HasSubstr("unknown limit"));
  EXPECT_THAT(std::string(Read(ScenarioNamed("homogeneous", "least effort")).status().message()),
              HasSubstr("unknown objective \"least effort\""));
  Json scenario = ScenarioNamed("homogeneous", "max throughput");
  scenario["gpus"] = {{"A100-40", 32}};
  EXPECT_THAT(std::string(Read(scenario).status().message()), HasSubstr("scenarios[0].gpus.A100-40"));
  EXPECT_FALSE(ReadScenarios(Json::array()).ok());
}

TEST(Scenarios, KnowsWhatWasReached) {
  Scenario scenario{.name = "heterogeneous", .model = "OPT-350"};
  scenario.gpus = {{{"A100-40", "z"}, 32}, {{"V100-16", "z"}, 96}};
  EXPECT_DOUBLE_EQ(KnownReachable(scenario).value(), 0.2035);
  scenario.name = "five zones";
  EXPECT_FALSE(KnownReachable(scenario).has_value());
}

}  // namespace
}  // namespace sail::bench
