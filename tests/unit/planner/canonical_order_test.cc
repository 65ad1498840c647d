#include "planner/canonical_order.h"

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/planner/fake_cost_model.h"

namespace sail::planner {
namespace {

using ::testing::ElementsAre;

struct PoolSpec {
  const char* name;
  int zone;
  double seconds;  // of a layer
  int quota = 2;
};

struct Case {
  ir::Problem problem;
  std::vector<double> seconds;
  std::unique_ptr<sim::CostModel> costs() const {
    return std::make_unique<test::FakeCostModel>(problem, seconds, std::vector<int64_t>(seconds.size(), 1000), 0);
  }
};

// Nodes of one GPU. `links` has the bandwidths from zone to zone; zone z is alone in region z and called a, b, …
Case CaseOf(const std::vector<PoolSpec>& pools, const std::vector<std::vector<double>>& links) {
  Case c;
  c.problem.job.micro_batches = {1};
  c.problem.job.tensor_degrees = {1};
  c.problem.model = {.name = "model", .blocks = 4, .hidden = 8, .heads = 1};
  ir::Cluster& cluster = c.problem.cluster;
  cluster.gpus = {{.name = "gpu"}};
  cluster.machines = {{.name = "machine", .gpu = ir::GpuId(0), .gpus_per_node = 1}};
  for (size_t z = 0; z < links.size(); ++z) {
    cluster.regions.push_back("r" + std::string(1, static_cast<char>('a' + z)));
    cluster.zones.push_back(
        {.name = std::string(1, static_cast<char>('a' + z)), .region = ir::RegionId(static_cast<int>(z))});
    std::vector<ir::Link>& row = cluster.links.emplace_back();
    for (const double bandwidth : links[z]) row.push_back({.bandwidth = BytesPerSecond(bandwidth)});
  }
  for (const PoolSpec& pool : pools) {
    cluster.pools.push_back(
        {.name = pool.name, .zone = ir::ZoneId(pool.zone), .machine = ir::MachineId(0), .quota = pool.quota});
    c.seconds.push_back(pool.seconds);
  }
  return c;
}

std::vector<std::string> PoolsInOrder(const Case& c, const std::vector<int>& least_nodes = {}) {
  const auto costs = c.costs();
  const CanonicalOrder order(c.problem, *costs, least_nodes);
  std::vector<std::string> names;
  for (const ir::Pool& pool : order.problem().cluster.pools) names.push_back(pool.name);
  return names;
}

std::vector<std::string> ZonesInOrder(const Case& c) {
  const auto costs = c.costs();
  const CanonicalOrder order(c.problem, *costs, {});
  std::vector<std::string> names;
  for (const ir::Zone& zone : order.problem().cluster.zones) names.push_back(zone.name);
  return names;
}

TEST(CanonicalOrder, PoolsAreOrderedByWhatABlockTakes) {
  EXPECT_THAT(PoolsInOrder(CaseOf({{"a", 0, 3}, {"b", 0, 1}, {"c", 0, 2}}, {{1}})), ElementsAre("b", "c", "a"));
  EXPECT_THAT(PoolsInOrder(CaseOf({{"c", 0, 2}, {"a", 0, 3}, {"b", 0, 1}}, {{1}})), ElementsAre("b", "c", "a"));
}

TEST(CanonicalOrder, ThenByAllElse) {
  EXPECT_THAT(PoolsInOrder(CaseOf({{"a", 0, 1, 3}, {"b", 0, 1, 2}}, {{1}})), ElementsAre("b", "a"));
  Case priced = CaseOf({{"a", 0, 1}, {"b", 0, 1}}, {{1}});
  priced.problem.cluster.pools[0].price = UsdPerSecond(1);
  EXPECT_THAT(PoolsInOrder(priced), ElementsAre("b", "a"));
  EXPECT_THAT(PoolsInOrder(CaseOf({{"a", 0, 1}, {"b", 0, 1}}, {{1}}), {1, 0}), ElementsAre("b", "a"));
}

TEST(CanonicalOrder, NamesDecideBetweenPoolsThatAreAlike) {
  EXPECT_THAT(PoolsInOrder(CaseOf({{"b", 0, 1}, {"a", 0, 1}}, {{1}})), ElementsAre("a", "b"));
}

TEST(CanonicalOrder, AProblemInItsOrderIsKept) {
  const Case c = CaseOf({{"a", 0, 1}, {"b", 0, 2}}, {{1}});
  const auto costs = c.costs();
  const CanonicalOrder order(c.problem, *costs, {});
  EXPECT_TRUE(order.is_given());
  EXPECT_EQ(&order.problem(), &c.problem);
  EXPECT_EQ(&order.costs(), costs.get());
}

TEST(CanonicalOrder, LinksTellZonesApart) {
  const std::vector<PoolSpec> pools = {{"p", 0, 1}, {"q", 1, 1}, {"r", 2, 1}};
  // The slowest links first: b has 2 and 3, c has 2 and 5, a has 3 and 5.
  EXPECT_THAT(ZonesInOrder(CaseOf(pools, {{9, 3, 5}, {3, 9, 2}, {5, 2, 9}})), ElementsAre("b", "c", "a"));
  // The same where a and c have changed places.
  EXPECT_THAT(ZonesInOrder(CaseOf(pools, {{9, 2, 5}, {2, 9, 3}, {5, 3, 9}})), ElementsAre("b", "a", "c"));
}

TEST(CanonicalOrder, PoolsOfAZoneStayTogetherAndRegionsFollow) {
  const Case c = CaseOf({{"p", 0, 2}, {"q", 1, 1}, {"r", 0, 3}}, {{9, 5}, {5, 9}});
  const auto costs = c.costs();
  const CanonicalOrder order(c.problem, *costs, {});
  const ir::Cluster& cluster = order.problem().cluster;
  EXPECT_THAT(PoolsInOrder(c), ElementsAre("q", "p", "r"));
  EXPECT_EQ(cluster.zones[0].name, "b");
  EXPECT_EQ(cluster.regions[cluster.zones[0].region.index()], "rb");
  EXPECT_EQ(cluster.pools[0].zone, ir::ZoneId(0));
  EXPECT_EQ(cluster.pools[2].zone, ir::ZoneId(1));
}

TEST(CanonicalOrder, LinksMoveWithTheirZones) {
  // The slower pool's zone comes second, and what leads out of it with it.
  const Case c = CaseOf({{"p", 0, 2}, {"q", 1, 1}}, {{9, 3}, {5, 8}});
  const auto costs = c.costs();
  const CanonicalOrder order(c.problem, *costs, {});
  const auto& links = order.problem().cluster.links;
  ASSERT_FALSE(order.is_given());
  EXPECT_EQ(links[0][0].bandwidth, BytesPerSecond(8));
  EXPECT_EQ(links[0][1].bandwidth, BytesPerSecond(5));
  EXPECT_EQ(links[1][0].bandwidth, BytesPerSecond(3));
  EXPECT_EQ(links[1][1].bandwidth, BytesPerSecond(9));
}

TEST(CanonicalOrder, TheOrderOfManyZonesIsKept) {
  const std::vector<std::vector<double>> links(4, std::vector<double>(4, 1));
  const Case c = CaseOf({{"p", 0, 4}, {"q", 1, 3}, {"r", 2, 2}, {"s", 3, 1}}, links);
  EXPECT_THAT(ZonesInOrder(c), ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(PoolsInOrder(c), ElementsAre("p", "q", "r", "s"));
}

TEST(CanonicalOrder, CostsAndLeastNodesFollowThePools) {
  const Case c = CaseOf({{"a", 0, 3}, {"b", 0, 1}, {"c", 0, 2}}, {{1}});
  const auto costs = c.costs();
  const CanonicalOrder order(c.problem, *costs, {0, 1, 2});
  EXPECT_THAT(order.least_nodes(), ElementsAre(1, 2, 0));
  for (int p = 0; p < 3; ++p) {
    const sim::StageShape shape{.pool = ir::PoolId(p), .tensor = 1, .micro_batch = 1};
    EXPECT_EQ(order.costs().StageTime(shape), Seconds(p + 1));
  }
}

TEST(CanonicalOrder, APlanIsMappedBack) {
  const Case c = CaseOf({{"a", 0, 3}, {"b", 0, 1}, {"c", 0, 2}}, {{1}});
  const auto costs = c.costs();
  const CanonicalOrder order(c.problem, *costs, {});
  const auto pipeline = [](int pool) {
    return ir::Pipeline{.stages = {{.group = {.pool = ir::PoolId(pool), .node = 0, .gpus = {0}}}}};
  };
  // On b and on a, which are the first and the last there.
  const ir::Plan plan = order.Restore({.pipelines = {pipeline(0), pipeline(2)}});
  ASSERT_EQ(plan.pipelines.size(), 2U);
  EXPECT_EQ(plan.pipelines[0], pipeline(0));  // sorted again: a comes first
  EXPECT_EQ(plan.pipelines[1], pipeline(1));
}

}  // namespace
}  // namespace sail::planner
