#include "planner/pool_kinds.h"

#include <set>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sail::planner {
namespace {

using ::testing::ElementsAre;

// Zones a0, a1 in region a and b0 in region b, each with a pool of fast and a pool of slow nodes of 8 GPUs: pools
// 0 fast/a0, 1 slow/a0, 2 fast/a1, 3 slow/a1, 4 fast/b0, 5 slow/b0.
ir::Cluster TwoRegions() {
  ir::Cluster cluster;
  cluster.gpus = {{.name = "fast"}, {.name = "slow"}};
  cluster.machines = {{.name = "fast8", .gpu = ir::GpuId(0), .gpus_per_node = 8},
                      {.name = "slow8", .gpu = ir::GpuId(1), .gpus_per_node = 8}};
  cluster.regions = {"a", "b"};
  cluster.zones = {{.name = "a0", .region = ir::RegionId(0)},
                   {.name = "a1", .region = ir::RegionId(0)},
                   {.name = "b0", .region = ir::RegionId(1)}};
  for (int zone = 0; zone < 3; ++zone) {
    for (int machine = 0; machine < 2; ++machine) {
      cluster.pools.push_back({.name = "p",
                               .zone = ir::ZoneId(zone),
                               .machine = ir::MachineId(machine),
                               .quota = 4,
                               .price = UsdPerSecond(1)});
    }
  }
  const ir::Link near{.bandwidth = BytesPerSecond(100)}, region{.bandwidth = BytesPerSecond(10)},
      far{.bandwidth = BytesPerSecond(1)};
  cluster.links = {{near, region, far}, {region, near, far}, {far, far, near}};
  return cluster;
}

const std::vector<int> kAll = {4, 4, 4, 4, 4, 4};

TEST(PoolKinds, PoolsThatDifferInZoneAloneAreOfOneKind) {
  const ir::Cluster cluster = TwoRegions();
  const PoolKinds kinds(cluster, kAll);
  EXPECT_EQ(kinds.count(), 2);
  EXPECT_TRUE(kinds.has_merged());
  EXPECT_EQ(kinds.kind(0), kinds.kind(4));
  EXPECT_NE(kinds.kind(0), kinds.kind(1));
}

TEST(PoolKinds, PriceMarketLifetimeAndLinksMakeKinds) {
  const auto count = [](auto change) {
    ir::Cluster cluster = TwoRegions();
    change(cluster);
    return PoolKinds(cluster, kAll).count();
  };
  EXPECT_EQ(count([](ir::Cluster& c) { c.pools[2].price = UsdPerSecond(2); }), 3);
  EXPECT_EQ(count([](ir::Cluster& c) { c.pools[2].market = ir::Market::kSpot; }), 3);
  EXPECT_EQ(count([](ir::Cluster& c) { c.pools[2].mean_lifetime = Seconds(3600); }), 3);
  EXPECT_EQ(count([](ir::Cluster& c) { c.links[2][2].bandwidth = BytesPerSecond(40); }), 4);
  EXPECT_EQ(count([](ir::Cluster& c) { c.links[2][2].bandwidth = BytesPerSecond(60); }), 2);
}

TEST(PoolKinds, EveryPoolIsAKindOfASmallProblem) {
  const ir::Cluster cluster = TwoRegions();
  const PoolKinds kinds(cluster, {1, 0, 1, 0, 0, 0});  // 16 GPUs
  EXPECT_TRUE(kinds.is_small());
  EXPECT_FALSE(kinds.has_merged());
  EXPECT_EQ(kinds.count(), 2);
  EXPECT_EQ(kinds.kind(1), -1);
  EXPECT_TRUE(kinds.Leads(2));
  EXPECT_TRUE(kinds.Leads(2, 0));
}

TEST(PoolKinds, TheLargestThenFirstPoolLeads) {
  const ir::Cluster cluster = TwoRegions();
  EXPECT_TRUE(PoolKinds(cluster, kAll).Leads(0));
  EXPECT_FALSE(PoolKinds(cluster, kAll).Leads(2));
  const PoolKinds larger(cluster, {4, 4, 5, 4, 4, 4});
  EXPECT_TRUE(larger.Leads(2));
  EXPECT_FALSE(larger.Leads(0));
}

TEST(PoolKinds, AmongPairsTheNearestLead) {
  const ir::Cluster cluster = TwoRegions();
  const PoolKinds kinds(cluster, kAll);
  EXPECT_TRUE(kinds.Leads(0, 1));   // in one zone
  EXPECT_FALSE(kinds.Leads(2, 3));  // as good, not the first
  EXPECT_FALSE(kinds.Leads(0, 3));  // the zone's own slow pool is nearer
  EXPECT_TRUE(kinds.Leads(0, 2));   // two fast pools are never in one zone; one region is best
  EXPECT_FALSE(kinds.Leads(0, 4));
  // A near pool that is smaller does not stand for a far one.
  EXPECT_TRUE(PoolKinds(cluster, {4, 1, 4, 1, 4, 4}).Leads(4, 5));
  EXPECT_TRUE(PoolKinds(cluster, {4, 1, 0, 0, 0, 4}).Leads(0, 5));
}

TEST(PoolKinds, ImagesAreNoFartherApart) {
  const ir::Cluster cluster = TwoRegions();
  const PoolKinds kinds(cluster, kAll);
  EXPECT_THAT(kinds.Images({2}), ElementsAre(ElementsAre(2), ElementsAre(0), ElementsAre(4)));
  EXPECT_THAT(kinds.Images({2, 3}), ElementsAre(ElementsAre(2, 3), ElementsAre(0, 1), ElementsAre(4, 5)));
  // The first pool's own zone first, then its region.
  EXPECT_THAT(kinds.Images({0, 3}), ElementsAre(ElementsAre(0, 3), ElementsAre(0, 1), ElementsAre(2, 1),
                                                ElementsAre(2, 3), ElementsAre(4, 5)));
  EXPECT_THAT(kinds.Images({0, 2}), ElementsAre(ElementsAre(0, 2), ElementsAre(2, 0)));
}

// Of two hundred equal pools the first stands for all, and it with the second for all pairs; of the images of four,
// billions, some are looked at.
TEST(PoolKinds, ManyEqualPools) {
  ir::Cluster cluster = TwoRegions();
  cluster.pools.assign(200, cluster.pools[0]);
  const PoolKinds kinds(cluster, std::vector<int>(200, 1));
  EXPECT_EQ(kinds.count(), 1);
  for (int p = 0; p < 200; ++p) {
    EXPECT_EQ(kinds.Leads(p), p == 0);
    for (int q = 0; q < 200; ++q) {
      if (p == q) continue;
      EXPECT_EQ(kinds.Leads(p, q), p == 0 && q == 1) << p << " " << q;
    }
  }
  const std::vector<std::vector<int>> images = kinds.Images({7, 3, 5, 2});
  EXPECT_EQ(images.size(), kMostImages);
  EXPECT_THAT(images.front(), ElementsAre(7, 3, 5, 2));
  EXPECT_EQ(std::set<std::vector<int>>(images.begin(), images.end()).size(), kMostImages);
}

}  // namespace
}  // namespace sail::planner
