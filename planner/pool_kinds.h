// Pools that differ in little but name, zone and quota: a chain of stages that is good on some of them is good on the
// others, so that the search need not look at each. What it finds is judged with each pool's own links.
//
// Two pools are of one kind if they have the same machines, market, price and lifetime, and links within their zones
// that differ by no more than a factor of two. Pools q take the place of pools p, one by one, if their kinds are equal
// and no two of q are farther apart (zone, region, beyond) than the same two of p: q is an image of p.
// On small problems, where single nodes matter, every pool is a kind of its own.
#pragma once

#include <vector>

#include "compiler/ir/cluster.h"
#include "compiler/ir/job.h"

namespace sail::planner {

// Of many pools of one kind there are too many images to look at each.
inline constexpr size_t kMostImages = 1'000;

// Up to so many GPUs a problem is small.
inline constexpr int kSmallGpus = 16;

// The narrowest place that holds groups on different nodes of two pools.
ir::Reach SpanOf(const ir::Cluster& cluster, ir::PoolId a, ir::PoolId b);

class PoolKinds {
 public:
  // Pools with a quota (nodes, by pool) above zero. O(pools² · min(pools of a kind², kMostImages)); pools that are
  // equal even in zone and quota count once.
  PoolKinds(const ir::Cluster& cluster, const std::vector<int>& quotas);

  bool is_small() const { return is_small_; }
  int count() const { return count_; }
  int kind(int pool) const { return kinds_[pool]; }
  bool has_merged() const { return has_merged_; }  // whether some kind has several pools

  // Whether the pool, or the pair of different pools, stands for its images: none of them has greater quotas, and it is
  // the first of equals.
  bool Leads(int pool) const { return leads_[pool]; }
  bool Leads(int pool, int next) const { return pair_leads_[static_cast<size_t>(pool) * kinds_.size() + next]; }

  // The images of different pools, themselves first, then those near the first of them. Beyond kMostImages the rest
  // are left out.
  std::vector<std::vector<int>> Images(const std::vector<int>& pools) const;

 private:
  bool IsImage(const std::vector<int>& image, const std::vector<int>& of) const;
  // Whether the images of `pools` include one that stands for it.
  bool IsLed(const std::vector<int>& pools) const;
  // Of one kind, zone and quota: nothing but names tells them apart.
  bool AreEqual(int pool, int other) const;
  void ExtendImages(const std::vector<int>& pools, std::vector<int>& image,
                    std::vector<std::vector<int>>& images) const;

  const ir::Cluster& cluster_;
  const std::vector<int> quotas_;
  bool is_small_ = false;
  bool has_merged_ = false;
  int count_ = 0;
  std::vector<int> kinds_;  // by pool; -1 without a quota
  std::vector<bool> leads_;
  std::vector<bool> pair_leads_;
};

}  // namespace sail::planner
