// Answers of infeasible problems, taken at their word: what is proposed leads to a plan, so does every limit of the
// conflict left out, and no other limit does. Times and memory are those of FakeCostModel.
#include "planner/infeasible.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "planner/planner.h"
#include "tests/unit/planner/fake_cost_model.h"
#include "tests/unit/planner/find_outcome.h"

namespace sail::planner {
namespace {

using ir::Metric;
using test::FakeCostModel;
using test::FakeProblem;
using test::FindOutcome;
using test::kPlenty;
using test::kUsdPerSecond;
using ::testing::UnorderedElementsAre;

// A problem and what its cost model is made of.
struct Case {
  ir::Problem problem;
  std::vector<double> seconds;
  std::vector<int64_t> limits;  // bytes

  PlanOutcome Answer() const { return FindOutcome(problem, FakeCostModel(problem, seconds, limits, 0)); }
  bool IsFeasible() const { return std::holds_alternative<Feasible>(Answer()); }
};

std::vector<std::string> NamesOf(const Infeasible& infeasible) {
  std::vector<std::string> names;
  for (const ConflictingLimit& limit : infeasible.limits) names.push_back(limit.name);
  return names;
}

bool IsIn(const Infeasible& infeasible, const std::string& name) {
  const std::vector<std::string> names = NamesOf(infeasible);
  return std::find(names.begin(), names.end(), name) != names.end();
}

Case Without(Case c, const std::string& name) {
  if (name == "memory") c.limits.assign(c.limits.size(), kPlenty);
  if (name == "keep") c.problem.job.keep = {};
  if (name == "quota") {
    for (ir::Pool& pool : c.problem.cluster.pools) pool.quota *= 64;
  }
  auto& constraints = c.problem.job.constraints;
  constraints.erase(
      std::remove_if(constraints.begin(), constraints.end(), [&](const auto& limit) { return limit.name == name; }),
      constraints.end());
  return c;
}

// What the answer proposes instead of `limit`; the missing bytes are those of the first pool.
Case Relaxed(Case c, const ConflictingLimit& limit) {
  if (limit.name == "memory") c.limits[0] += static_cast<int64_t>(limit.best);
  if (limit.name == "keep") c.problem.job.keep = {};
  if (limit.name == "quota") {
    for (ir::Pool& pool : c.problem.cluster.pools) pool.quota *= static_cast<int>(limit.best);
  }
  for (ir::Constraint& constraint : c.problem.job.constraints) {
    if (constraint.name == limit.name) constraint.limit = limit.relaxed;
  }
  return c;
}

Infeasible ExpectTrueAnswer(const Case& c) {
  const PlanOutcome outcome = c.Answer();
  SAIL_CHECK(std::holds_alternative<Infeasible>(outcome));
  const Infeasible& infeasible = std::get<Infeasible>(outcome);
  for (const ConflictingLimit& limit : infeasible.limits) {
    EXPECT_TRUE(Without(c, limit.name).IsFeasible()) << "without " << limit.name;
    EXPECT_TRUE(Relaxed(c, limit).IsFeasible()) << limit.name << " relaxed to " << limit.relaxed;
    if (!limit.is_constraint) continue;
    ConflictingLimit less = limit;  // a hundredth of the way back
    less.relaxed += (limit.limit - limit.relaxed) / 100;
    EXPECT_FALSE(Relaxed(c, less).IsFeasible()) << limit.name << " relaxed to " << less.relaxed;
  }
  for (const char* other : {"memory", "keep", "quota", "floor", "cap", "few", "roomy"}) {
    if (IsIn(infeasible, other)) continue;
    EXPECT_FALSE(Without(c, other).IsFeasible()) << "without " << other;
  }
  return infeasible;
}

// Six layers in at most two stages on GPUs of 5 bytes: 3 + 3 layers with a micro-batch in flight in each take 6.
TEST(InfeasibleAnswer, Memory) {
  Case c{.problem = FakeProblem(6, {{.nodes = 2}}, 1), .seconds = {1}, .limits = {5}};
  c.problem.job.pipeline_depths = {1, 2};
  c.problem.job.constraints = {{.name = "roomy", .metric = Metric::kNodes, .at_most = true, .limit = 2}};
  const Infeasible infeasible = ExpectTrueAnswer(c);
  EXPECT_THAT(NamesOf(infeasible), UnorderedElementsAre("memory"));
  EXPECT_EQ(infeasible.limits[0].best, 1);
}

// Four samples. Fast nodes take 6 s a sample at 8 USD/s, slow ones 12 s at 1 USD/s. Within 12 s: two fast nodes
// (16 USD/s), one and two slow ones (10 USD/s), or four slow ones (4 USD/s); the cap of 9 USD/s leaves the last, the
// limit of three nodes the others. With both, a fast and a slow node take 18 s, three slow ones 24 s.
TEST(InfeasibleAnswer, TimeMoneyAndNodes) {
  Case c{.problem = FakeProblem(6, {{.nodes = 4, .price = 8 * kUsdPerSecond}, {.nodes = 8, .price = kUsdPerSecond}}, 4),
         .seconds = {1, 2},
         .limits = {kPlenty, kPlenty}};
  c.problem.job.pipeline_depths = {1};
  c.problem.job.constraints = {{.name = "roomy", .metric = Metric::kGpus, .at_most = true, .limit = 100},
                               {.name = "floor", .metric = Metric::kIterTime, .at_most = true, .limit = 12},
                               {.name = "cap", .metric = Metric::kCostRate, .at_most = true, .limit = 9},
                               {.name = "few", .metric = Metric::kNodes, .at_most = true, .limit = 3}};
  const Infeasible infeasible = ExpectTrueAnswer(c);
  EXPECT_THAT(NamesOf(infeasible), UnorderedElementsAre("floor", "cap", "few"));
  for (const ConflictingLimit& limit : infeasible.limits) {
    const double expected = limit.name == "floor" ? 18 : limit.name == "cap" ? 10 : 4;
    EXPECT_DOUBLE_EQ(limit.relaxed, expected) << limit.name;
    EXPECT_DOUBLE_EQ(limit.best, expected) << limit.name;
  }
}

// Four samples of 6 s, two nodes in each of two regions. Within 7 s they must be four nodes, and replicas may not leave
// a region.
TEST(InfeasibleAnswer, QuotaAndKeep) {
  Case c{.problem = FakeProblem(6, {{.nodes = 2}, {.nodes = 2}}, 4), .seconds = {1, 1}, .limits = {kPlenty, kPlenty}};
  ir::Cluster& cluster = c.problem.cluster;
  cluster.regions = {"r", "s"};
  cluster.zones = {{.name = "y", .region = ir::RegionId(0)}, {.name = "z", .region = ir::RegionId(1)}};
  cluster.pools[1].zone = ir::ZoneId(1);
  cluster.links.assign(2, {{.bandwidth = BytesPerSecond(1e9)}, {.bandwidth = BytesPerSecond(1e9)}});
  c.problem.job.pipeline_depths = {1};
  c.problem.job.keep.data = ir::Reach::kRegion;
  c.problem.job.constraints = {{.name = "floor", .metric = Metric::kIterTime, .at_most = true, .limit = 7},
                               {.name = "roomy", .metric = Metric::kGpus, .at_most = true, .limit = 4}};
  const Infeasible infeasible = ExpectTrueAnswer(c);
  EXPECT_THAT(NamesOf(infeasible), UnorderedElementsAre("quota", "keep", "floor"));
  EXPECT_DOUBLE_EQ(infeasible.limits.back().relaxed, 12);
}

}  // namespace
}  // namespace sail::planner
